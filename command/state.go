package command

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// StateEnv names the state directory where the flag does not.
const StateEnv = "BERTH_STATE"

// stateDir is the state directory: the flag, the environment, or the
// platform's place for application data. It is absolute.
func (sh *shell) stateDir() (string, error) {
	dir := sh.state
	if dir == "" {
		dir = os.Getenv(StateEnv)
	}
	if dir == "" {
		place, err := dataDir(runtime.GOOS, os.Getenv, os.UserHomeDir)
		if err != nil {
			return "", usage("no place for the state: %v; name one with --state or $%s", err, StateEnv)
		}
		dir = place
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find the state directory: %w", err)
	}
	return abs, nil
}

// dataDir is the platform's place for application data: the XDG base
// directory specification, Apple's file system guidelines, and on Windows
// the profile's local part, since a database must not roam.
func dataDir(goos string, env func(string) string, home func() (string, error)) (string, error) {
	if goos == "windows" {
		if dir := env("LOCALAPPDATA"); dir != "" {
			return filepath.Join(dir, "Berth"), nil
		}
		return "", errors.New("%LOCALAPPDATA% is not set")
	}
	if dir := env("XDG_DATA_HOME"); goos != "darwin" && filepath.IsAbs(dir) {
		return filepath.Join(dir, "berth"), nil
	}
	dir, err := home()
	if err != nil {
		return "", err
	}
	if goos == "darwin" {
		return filepath.Join(dir, "Library", "Application Support", "Berth"), nil
	}
	return filepath.Join(dir, ".local", "share", "berth"), nil
}
