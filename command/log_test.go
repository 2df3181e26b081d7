package command

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLogIsTurnedOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "logs", backendLog)
	r, err := openRotating(path, 100, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for i := range 20 {
		if _, err := fmt.Fprintf(r, "line %02d of forty characters, more or less\n", i); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 3 {
		t.Fatalf("%d files, want the log and two older ones (%v)", len(entries), err)
	}
	for name, line := range map[string]string{path: "line 19", path + ".1": "line 17", path + ".2": "line 15"} {
		data, err := os.ReadFile(name)
		if err != nil || !strings.Contains(string(data), line) || len(data) > 100 {
			t.Errorf("%s holds %q (%v), want %s", filepath.Base(name), data, err, line)
		}
	}
}

func TestDamagedLogIsSetAside(t *testing.T) {
	state := t.TempDir()
	if err := os.MkdirAll(filepath.Join(state, "logs", backendLog), 0o700); err != nil { // a directory in its place
		t.Fatal(err)
	}
	var screen bytes.Buffer
	log, file := openLog(state, backendLog, &screen, slog.LevelInfo)
	defer file.Close()
	log.Info("hello")
	if data, err := os.ReadFile(filepath.Join(state, "logs", backendLog)); err != nil || !strings.Contains(string(data), "hello") {
		t.Errorf("the log holds %q, %v", data, err)
	}
	if aside, _ := filepath.Glob(filepath.Join(state, "logs", "*.damaged-*")); len(aside) != 1 {
		t.Errorf("set aside: %v", aside)
	}
}

func TestStartGoesOnWithoutALog(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	if err := os.WriteFile(state, nil, 0o600); err != nil { // no directory can be made there
		t.Fatal(err)
	}
	var screen bytes.Buffer
	log, file := openLog(state, backendLog, &screen, slog.LevelInfo)
	defer file.Close()
	log.Info("hello")
	if !strings.Contains(screen.String(), "nothing is logged to a file") || !strings.Contains(screen.String(), "hello") {
		t.Errorf("the screen shows %q", screen.String())
	}
}

func TestSecretsStayOutOfTheLog(t *testing.T) {
	state := t.TempDir()
	var screen bytes.Buffer
	log, file := openLog(state, backendLog, &screen, slog.LevelInfo)
	log.Info("x", "token", "hush", "path", "seen")
	file.Close()
	data, err := os.ReadFile(filepath.Join(state, "logs", backendLog))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{screen.String(), string(data)} {
		if strings.Contains(text, "hush") || !strings.Contains(text, "seen") {
			t.Errorf("logged %q", text)
		}
	}
}
