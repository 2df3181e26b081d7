package clis

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fake installs a package.json and a command for each agent.
func fake(t *testing.T, versions map[string]string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv(Env, dir)
	bin := filepath.Join(dir, "node_modules", ".bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	for command, version := range versions {
		pkg := filepath.Join(dir, "node_modules", filepath.FromSlash(packages[command]))
		if err := os.MkdirAll(pkg, 0o755); err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(map[string]string{"version": version})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(pkg, "package.json"), data, 0o644); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{command, command + ".cmd"} {
			if err := os.WriteFile(filepath.Join(bin, name), nil, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestFindWantsThePinnedVersion(t *testing.T) {
	pinned, err := Pinned("codex")
	if err != nil {
		t.Fatal(err)
	}
	fake(t, map[string]string{"codex": pinned, "claude": "0.0.1"})
	if path, err := Find("codex"); err != nil || !strings.Contains(path, "codex") {
		t.Errorf("codex at its version: %q, %v", path, err)
	}
	for command, want := range map[string]string{
		"claude":  "is version 0.0.1",
		"gemini":  "is not installed",
		"unknown": "no agent",
	} {
		if _, err := Find(command); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", command, err, want)
		}
	}
}

// TestLockNamesNoRegistry keeps the addresses of mirrors out of the
// repository.
func TestLockNamesNoRegistry(t *testing.T) {
	for _, word := range []string{"resolved", "http:", "https:"} {
		for _, line := range strings.Split(string(lock), "\n") {
			if strings.Contains(line, word) && !strings.Contains(line, `"url": "https://github.com`) {
				t.Errorf("the lock file holds %q: %s", word, line)
			}
		}
	}
}

func TestEveryPinIsExact(t *testing.T) {
	for command := range packages {
		version, err := Pinned(command)
		if err != nil || strings.ContainsAny(version, "^~*<> ") || strings.Count(version, ".") != 2 {
			t.Errorf("%s is pinned to %q, %v", command, version, err)
		}
	}
}
