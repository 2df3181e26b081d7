package process

import (
	"context"
	"os"
	"path/filepath"
)

// places are the directories into which agents and their interpreters are
// installed, whether they exist or not, best first.
func (f *finder) places() []string {
	var places []string
	below := func(variable string, parts ...string) {
		if dir := f.getenv(variable); filepath.IsAbs(dir) {
			places = append(places, filepath.Join(append([]string{dir}, parts...)...))
		}
	}
	at := func(parts ...string) {
		places = append(places, filepath.Join(append([]string{f.home}, parts...)...))
	}
	at(".local", "bin")
	below("NPM_CONFIG_PREFIX")
	below("APPDATA", "npm")
	below("PNPM_HOME")
	below("LOCALAPPDATA", "pnpm")
	below("VOLTA_HOME", "bin")
	below("LOCALAPPDATA", "Volta", "bin")
	below("LOCALAPPDATA", "mise", "shims")
	below("LOCALAPPDATA", "fnm", "aliases", "default")
	below("NVM_SYMLINK")
	at(".bun", "bin")
	at(".deno", "bin")
	at(".cargo", "bin")
	at("go", "bin")
	at("scoop", "shims")
	below("LOCALAPPDATA", "Microsoft", "WinGet", "Links")
	below("ProgramFiles", "nodejs")
	below("ProgramFiles", "Git", "cmd")
	return places
}

// mayExecute is decided by the name here.
func mayExecute(string) bool { return true }

// loginPath: there is no login shell; programs inherit PATH from the session.
func (s *Supervisor) loginPath(context.Context) string { return "" }

// LoginShell is the user's shell as a terminal runs it.
func LoginShell() []string {
	if shell := os.Getenv("COMSPEC"); shell != "" {
		return []string{shell}
	}
	return []string{"powershell.exe"}
}
