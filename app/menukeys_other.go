//go:build desktop && !linux

package app

import "strings"

// keysForMenu writes keys for people.
func keysForMenu(keys string) string {
	return strings.NewReplacer("Mod", "Ctrl", "ArrowUp", "Up", "ArrowDown", "Down", "Escape", "Esc").Replace(keys)
}

// showKeys: the system does it.
func showKeys() {}
