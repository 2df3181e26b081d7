//go:build desktop

package app

import (
	"fmt"
	"os"

	"golang.org/x/sys/windows/registry"
)

// registerScheme makes this program the one that opens berth:// links for
// this user. An archive has no installer that could do it.
func registerScheme() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	root, _, err := registry.CreateKey(registry.CURRENT_USER, `Software\Classes\`+LinkScheme, registry.SET_VALUE)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.SetStringValue("", "URL:Berth"); err != nil {
		return err
	}
	if err := root.SetStringValue("URL Protocol", ""); err != nil {
		return err
	}
	command, _, err := registry.CreateKey(registry.CURRENT_USER, `Software\Classes\`+LinkScheme+`\shell\open\command`, registry.SET_VALUE)
	if err != nil {
		return err
	}
	defer command.Close()
	return command.SetStringValue("", fmt.Sprintf(`"%s" "%%1"`, self))
}
