//go:build desktop

package app

import "path/filepath"

// webviewData keeps what the web view stores apart for each state directory.
func webviewData(state string) string { return filepath.Join(state, "webview") }
