package command

import (
	"errors"
	"path/filepath"
	"testing"
)

func TestStateDir(t *testing.T) {
	t.Setenv(StateEnv, filepath.FromSlash("/from/env"))
	for _, c := range []struct{ flag, want string }{
		{"", "/from/env"},
		{"/from/flag", "/from/flag"},
	} {
		got, err := (&shell{state: c.flag}).stateDir()
		if want, _ := filepath.Abs(filepath.FromSlash(c.want)); err != nil || got != want {
			t.Errorf("%q gives %q, %v", c.flag, got, err)
		}
	}
	if got, err := (&shell{state: "rel"}).stateDir(); err != nil || !filepath.IsAbs(got) {
		t.Errorf("a relative directory gives %q, %v", got, err)
	}
}

func TestDataDir(t *testing.T) {
	home := func() (string, error) { return filepath.FromSlash("/home/me"), nil }
	for _, c := range []struct {
		goos string
		env  map[string]string
		want string
	}{
		{"linux", nil, "/home/me/.local/share/berth"},
		{"linux", map[string]string{"XDG_DATA_HOME": "/data"}, "/data/berth"},
		{"linux", map[string]string{"XDG_DATA_HOME": "relative"}, "/home/me/.local/share/berth"},
		{"darwin", map[string]string{"XDG_DATA_HOME": "/data"}, "/home/me/Library/Application Support/Berth"},
		{"windows", map[string]string{"LOCALAPPDATA": "/local"}, "/local/Berth"},
		{"windows", nil, ""},
	} {
		got, err := dataDir(c.goos, func(name string) string { return filepath.FromSlash(c.env[name]) }, home)
		if got != filepath.FromSlash(c.want) || (err == nil) != (c.want != "") {
			t.Errorf("%s %v gives %q, %v; want %q", c.goos, c.env, got, err, c.want)
		}
	}
	if _, err := dataDir("linux", func(string) string { return "" }, func() (string, error) { return "", errors.New("no home") }); err == nil {
		t.Error("without a home there is no place")
	}
}
