//go:build desktop && !windows

package app

// webviewData: the toolkit takes no such path here; the web view stores in
// the user's own data directory.
func webviewData(string) string { return "" }
