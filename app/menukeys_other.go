//go:build desktop && !linux

package app

// keysForMenu writes keys for people.
func keysForMenu(keys string) string { return shown(keys) }

// showKeys: the system does it.
func showKeys() {}
