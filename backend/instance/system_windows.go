package instance

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// lock takes the file for this process; it is given up when the file is
// closed, at the latest by the end of the process.
func lock(f *os.File) error {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &windows.Overlapped{})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrHeld
	}
	if err != nil {
		return fmt.Errorf("lock the state directory: %w", err)
	}
	return nil
}

// ownedByUs is left to the access list that the profile directory hands down.
func ownedByUs(fs.FileInfo) error { return nil }
