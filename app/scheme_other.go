//go:build desktop && !windows

package app

// registerScheme: the package's desktop file or bundle says who opens
// berth:// links.
func registerScheme() error { return nil }
