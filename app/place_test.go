package app

import (
	"os"
	"testing"
)

func TestPlaceIsKept(t *testing.T) {
	dir := t.TempDir()
	want := place{X: 40, Y: 60, Width: 1300, Height: 800, Background: "#151a1c"}
	if err := want.save(dir); err != nil {
		t.Fatal(err)
	}
	if got := loadPlace(dir); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestUnreadablePlaceIsNone(t *testing.T) {
	for _, content := range []string{"", "{", "[]", `{"x":"left"}`, `{"width":-5,"height":1,"background":"red"}`} {
		dir := t.TempDir()
		if err := os.WriteFile(placePath(dir), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		p := loadPlace(dir)
		if p.Width < leastWidth || p.Height < leastHeight || p.Background != "" {
			t.Errorf("%q gives %+v", content, p)
		}
	}
}

func TestFits(t *testing.T) {
	one := []size{{1920, 1080}}
	two := []size{{1920, 1080}, {1280, 720}}
	for _, c := range []struct {
		name    string
		x, y    int
		screens []size
		want    bool
	}{
		{"on the screen", 100, 100, one, true},
		{"never placed", -1, -1, one, false},
		{"left of it", -300, 100, one, false},
		{"on a screen that is gone", 2000, 100, one, false},
		{"on the second screen", 2000, 100, two, true},
		{"below the lower screen", 100, 700, two, false},
		{"no edge left to hold", 1900, 100, one, false},
		{"no screens", 100, 100, nil, false},
	} {
		if got := (place{X: c.x, Y: c.y}).fits(c.screens); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestTooLarge(t *testing.T) {
	p := place{Width: 2000, Height: 900}
	if !p.tooLarge([]size{{1920, 1080}}) || p.tooLarge([]size{{1920, 1080}, {2560, 1440}}) || p.tooLarge(nil) {
		t.Error("a window is too large only if no screen holds it")
	}
}
