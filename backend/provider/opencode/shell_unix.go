//go:build unix

package opencode

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// shell makes a shell for the commands that the agent runs: the user's own,
// without the password in its environment. With it a command could answer the
// agent's requests. (A plugin could do the same, but OpenCode installs
// packages from the network before it loads one.)
//
// OpenCode runs $SHELL, knows it by its name, and takes bash or sh where it
// does not know it.
func (srv *server) shell() (string, error) {
	real := lookup(srv.host, "SHELL")
	if info, err := os.Stat(real); err != nil || info.IsDir() || !filepath.IsAbs(real) || !slices.Contains([]string{"bash", "zsh", "sh", "dash", "ksh"}, filepath.Base(real)) {
		if real, err = srv.host.Processes.LookPath("bash"); err != nil {
			real = "/bin/sh"
		}
	}
	path := filepath.Join(srv.dir(), "shell", filepath.Base(real))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	quoted := "'" + strings.ReplaceAll(real, "'", `'\''`) + "'"
	script := fmt.Sprintf("#!/bin/sh\n# Written by Berth: see docs/agents.md, OpenCode.\nunset %s\nSHELL=%s exec %s \"$@\"\n", passwordVariable, quoted, quoted)
	return path, os.WriteFile(path, []byte(script), 0o700)
}
