//go:build desktop && !linux

package app

import toolkit "github.com/wailsapp/wails/v2/pkg/runtime"

// frame gives the title bar and the menu the theme of the page: light, dark
// or the system's.
func (w *Window) frame(theme string) {
	switch theme {
	case "dark":
		toolkit.WindowSetDarkTheme(w.ctx)
	case "light":
		toolkit.WindowSetLightTheme(w.ctx)
	default:
		toolkit.WindowSetSystemDefaultTheme(w.ctx)
	}
}
