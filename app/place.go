package app

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

// place is where the window stood last, and what was painted behind its page.
// It belongs to this machine's screens and to no chat, so it is a file beside
// the database; one that cannot be read is as good as none.
type place struct {
	X          int    `json:"x"`
	Y          int    `json:"y"`
	Width      int    `json:"width"`
	Height     int    `json:"height"`
	Maximised  bool   `json:"maximised,omitempty"`
	Background string `json:"background,omitempty"` // #rrggbb
}

// size of a screen in pixels.
type size struct{ width, height int }

// visibleEdge is how much of the title bar must stay on a screen so that a
// window can be taken hold of, in pixels.
const visibleEdge = 120

// maxPlaceFile bounds what is read of a place file, in bytes.
const maxPlaceFile = 4 << 10

func placePath(state string) string { return filepath.Join(state, "window.json") }

// loadPlace gives the last place, or the default one.
func loadPlace(state string) place {
	fresh := place{X: -1, Y: -1, Width: defaultWidth, Height: defaultHeight}
	f, err := os.Open(placePath(state))
	if err != nil {
		return fresh
	}
	defer f.Close()
	buf := make([]byte, maxPlaceFile)
	n, _ := f.Read(buf)
	p := fresh
	if json.Unmarshal(buf[:n], &p) != nil {
		return fresh
	}
	p.Width, p.Height = max(p.Width, leastWidth), max(p.Height, leastHeight)
	if _, ok := parseColour(p.Background); !ok {
		p.Background = ""
	}
	return p
}

func (p place) save(state string) error {
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	partial := placePath(state) + ".partial"
	if err := os.WriteFile(partial, data, 0o600); err != nil {
		return fmt.Errorf("keep the window's place: %w", err)
	}
	if err := os.Rename(partial, placePath(state)); err != nil {
		return fmt.Errorf("keep the window's place: %w", err)
	}
	return nil
}

// fits says whether a window there could be seen and moved. The toolkit tells
// the sizes of the screens but not how they are arranged, so a place counts
// only if it would be visible with the screens side by side, the lowest of
// them deciding the height: a window is rather centred than lost.
func (p place) fits(screens []size) bool {
	if p.X < 0 || p.Y < 0 || len(screens) == 0 {
		return false
	}
	width, height := 0, screens[0].height
	for _, s := range screens {
		width += s.width
		height = min(height, s.height)
	}
	return p.X <= width-visibleEdge && p.Y <= height-visibleEdge
}

// tooLarge says whether the window is larger than every screen.
func (p place) tooLarge(screens []size) bool {
	for _, s := range screens {
		if p.Width <= s.width && p.Height <= s.height {
			return false
		}
	}
	return len(screens) > 0
}

type colour struct{ r, g, b uint8 }

var colourPattern = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)

// parseColour reads #rrggbb.
func parseColour(s string) (colour, bool) {
	if !colourPattern.MatchString(s) {
		return colour{}, false
	}
	var c colour
	_, err := fmt.Sscanf(s, "#%02x%02x%02x", &c.r, &c.g, &c.b)
	return c, err == nil
}

// downloads is where a save begins: the user's folder of that name, else the
// home directory.
func downloads() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	if info, err := os.Stat(filepath.Join(home, "Downloads")); err == nil && info.IsDir() {
		return filepath.Join(home, "Downloads")
	}
	return home
}
