package alert

import (
	"os"
	"path/filepath"
	"runtime"
)

// Possible says whether notifications have a way to the user. On Linux that
// is a session bus; without one, the D-Bus library would start one and leave
// it running, so it is looked for first.
func Possible() bool {
	if runtime.GOOS != "linux" || os.Getenv("DBUS_SESSION_BUS_ADDRESS") != "" {
		return true
	}
	dir := os.Getenv("XDG_RUNTIME_DIR")
	if dir == "" {
		return false
	}
	_, err := os.Stat(filepath.Join(dir, "bus"))
	return err == nil
}
