// Package clis finds the real agents that conformance runs against. Their
// versions are pinned by package.json and package-lock.json beside this file;
// nothing else is ever used, so that a result always belongs to a known
// version.
//
// They are looked for in the directory named by BERTH_CLIS, else in the
// user's cache directory under berth/clis-<hash of the pins>. "make clis"
// installs them there.
package clis

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

//go:embed package.json
var manifest []byte

//go:embed package-lock.json
var lock []byte

// npmrc keeps the address of whatever registry a developer uses out of the
// lock file.
//
//go:embed .npmrc
var npmrc []byte

// Env names a directory with the agents installed (it has node_modules).
const Env = "BERTH_CLIS"

// packages are the npm packages of the agents' commands.
var packages = map[string]string{
	"claude":   "@anthropic-ai/claude-code",
	"codex":    "@openai/codex",
	"opencode": "opencode-ai",
	"gemini":   "@google/gemini-cli",
}

// Pinned is the version of a command that conformance is about.
func Pinned(command string) (string, error) {
	var m struct {
		Dependencies map[string]string `json:"dependencies"`
	}
	if err := json.Unmarshal(manifest, &m); err != nil {
		return "", fmt.Errorf("read the pinned versions: %w", err)
	}
	version, ok := m.Dependencies[packages[command]]
	if !ok {
		return "", fmt.Errorf("no agent %q is pinned", command)
	}
	return version, nil
}

// Dir is where the agents are, or are to be installed.
func Dir() (string, error) {
	if dir := os.Getenv(Env); dir != "" {
		return filepath.Abs(dir)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache directory: %w", err)
	}
	sum := sha256.Sum256(append(append([]byte{}, manifest...), lock...))
	return filepath.Join(cache, "berth", "clis-"+hex.EncodeToString(sum[:6])), nil
}

// Find is the path of an agent's executable at the pinned version. It fails
// if the agent is missing or of another version.
func Find(command string) (string, error) {
	want, err := Pinned(command)
	if err != nil {
		return "", err
	}
	dir, err := Dir()
	if err != nil {
		return "", err
	}
	data, err := os.ReadFile(filepath.Join(dir, "node_modules", filepath.FromSlash(packages[command]), "package.json"))
	if err != nil {
		return "", fmt.Errorf("%s is not installed (run: make clis): %w", command, err)
	}
	var installed struct {
		Version string `json:"version"`
	}
	if err := json.Unmarshal(data, &installed); err != nil {
		return "", fmt.Errorf("read the version of %s: %w", command, err)
	}
	if installed.Version != want {
		return "", fmt.Errorf("%s is version %s, conformance is about %s (run: make clis)", command, installed.Version, want)
	}
	path := filepath.Join(dir, "node_modules", ".bin", command)
	if runtime.GOOS == "windows" {
		path += ".cmd"
	}
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%s has no command (run: make clis): %w", command, err)
	}
	return path, nil
}

// Install puts all agents at their pinned versions where Find looks, unless
// they are there. It uses npm with the registry that the user has set.
func Install(ctx context.Context) (dir string, err error) {
	if dir, err = Dir(); err != nil || complete() {
		return dir, err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return dir, fmt.Errorf("make the cache directory: %w", err)
	}
	staging, err := os.MkdirTemp(filepath.Dir(dir), "installing-")
	if err != nil {
		return dir, fmt.Errorf("make the cache directory: %w", err)
	}
	defer os.RemoveAll(staging)
	for name, content := range map[string][]byte{"package.json": manifest, "package-lock.json": lock, ".npmrc": npmrc} {
		if err := os.WriteFile(filepath.Join(staging, name), content, 0o644); err != nil {
			return dir, err
		}
	}
	// "npm ci" refuses a lock from a registry that lacks the packages of
	// some other platform; "npm install" holds to the lock all the same.
	npm := exec.CommandContext(ctx, "npm", "install", "--no-save", "--no-audit", "--no-fund")
	npm.Dir, npm.Stdout, npm.Stderr = staging, os.Stderr, os.Stderr
	if err := npm.Run(); err != nil {
		return dir, fmt.Errorf("install the agents with npm: %w", err)
	}
	if err := os.RemoveAll(dir); err != nil {
		return dir, fmt.Errorf("remove an incomplete installation: %w", err)
	}
	if err := os.Rename(staging, dir); err != nil {
		return dir, fmt.Errorf("put the agents in place: %w", err)
	}
	return dir, nil
}

// complete says whether every agent is there at its pinned version.
func complete() bool {
	for command := range packages {
		if _, err := Find(command); err != nil {
			return false
		}
	}
	return true
}
