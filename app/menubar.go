//go:build desktop

package app

import (
	"runtime"
	"strings"

	"github.com/wailsapp/wails/v2/pkg/menu"
	"github.com/wailsapp/wails/v2/pkg/menu/keys"
	toolkit "github.com/wailsapp/wails/v2/pkg/runtime"

	"berth/backend/alert"
	"berth/frontend"
)

// menu builds the native menu. On macOS the keys are true accelerators; the
// system keeps Cmd for them. On Linux and Windows the page handles the keys,
// or a terminal would lose Ctrl+L and Ctrl+W, and the menu only shows them.
func (w *Window) menu() (*menu.Menu, error) {
	onMac := runtime.GOOS == "darwin"
	bar, err := menuBar(frontend.Actions, alert.Language(w.settings.Language, systemLanguage()), onMac)
	if err != nil {
		return nil, err
	}
	m := menu.NewMenu()
	if onMac {
		m.Append(menu.AppMenu())
		m.Append(menu.EditMenu())
	}
	for _, part := range bar {
		sub := m.AddSubmenu(part.title)
		for _, e := range part.entries {
			switch {
			case e.id == "":
				sub.AddSeparator()
			case onMac:
				sub.AddText(e.label, accelerator(e.keys), w.onChoice(e.id))
			case e.keys != "":
				sub.AddText(e.label+keyBetween+keysForMenu(e.keys), nil, w.onChoice(e.id))
			default:
				sub.AddText(e.label, nil, w.onChoice(e.id))
			}
		}
	}
	if onMac {
		m.Append(menu.WindowMenu())
	}
	return m, nil
}

func (w *Window) onChoice(id string) menu.Callback {
	return func(*menu.CallbackData) { w.choose(id) }
}

// choose does what only the window can, and leaves the rest to the page.
func (w *Window) choose(id string) {
	switch id {
	case "quit":
		w.quit()
	case "window.minimise":
		toolkit.WindowMinimise(w.ctx)
	case "window.maximise":
		toolkit.WindowToggleMaximise(w.ctx)
	case "window.fullscreen":
		if toolkit.WindowIsFullscreen(w.ctx) {
			toolkit.WindowUnfullscreen(w.ctx)
		} else {
			toolkit.WindowFullscreen(w.ctx)
		}
	default:
		w.send(id)
	}
}

// accelerator reads keys as the table writes them; nil for keys without a
// modifier, which belong to the page.
func accelerator(text string) *keys.Accelerator {
	parts := strings.Split(text, "+")
	a := &keys.Accelerator{Key: strings.ToLower(strings.TrimPrefix(parts[len(parts)-1], "Arrow"))}
	for _, p := range parts[:len(parts)-1] {
		switch p {
		case "Mod":
			a.Modifiers = append(a.Modifiers, keys.CmdOrCtrlKey)
		case "Ctrl":
			a.Modifiers = append(a.Modifiers, keys.ControlKey)
		case "Shift":
			a.Modifiers = append(a.Modifiers, keys.ShiftKey)
		case "Alt":
			a.Modifiers = append(a.Modifiers, keys.OptionOrAltKey)
		}
	}
	if len(a.Modifiers) == 0 {
		return nil
	}
	return a
}
