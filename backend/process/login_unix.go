//go:build unix

package process

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// The login shell's answer stands between two lines: its start-up files may
// print what they like.
const (
	loginBegin = "--- PATH begins ---"
	loginEnd   = "--- PATH ends ---"
	// loginScript is understood by sh, bash, zsh, fish and nushell alike.
	loginScript = "echo '" + loginBegin + "'; printenv PATH; echo '" + loginEnd + "'"
	// loginOutput bounds what is read of the shell.
	loginOutput = 1 << 20
)

// loginPath asks the user's login shell for the PATH of a terminal. It
// returns "" when the shell does not tell before ctx ends. The shell is a
// child like any other, and gone when this returns.
func (s *Supervisor) loginPath(ctx context.Context) string {
	shell := loginShell(os.Getenv("SHELL"))
	if shell == "" {
		return ""
	}
	c, err := s.start(ctx, Spec{
		Path: shell, Args: []string{"-ilc", loginScript}, Label: "login shell",
		// What else oh-my-zsh would do at the start of a terminal.
		Env: []string{"DISABLE_AUTO_UPDATE=true", "ZSH_TMUX_AUTOSTART=false"},
	}, os.Getenv("PATH"), spawnOnPipes)
	if err != nil {
		s.log.Info("the login shell was not asked for its PATH", "shell", shell, "error", err)
		return ""
	}
	c.Stdin().Close()
	answer := make(chan string, 1)
	go func() { answer <- parseLogin(c.Stdout()) }()
	var path string
	select {
	case path = <-answer:
	case <-ctx.Done():
		s.log.Info("the login shell did not say its PATH in time", "shell", shell)
	}
	stopped, cancel := context.WithCancel(ctx)
	cancel() // nothing is lost with it
	if err := c.Stop(stopped, 0); err != nil {
		s.log.Warn("the login shell did not end", "shell", shell, "error", err)
	}
	return path
}

// parseLogin reads up to the end of the answer.
func parseLogin(r io.Reader) string {
	lines := bufio.NewScanner(io.LimitReader(r, loginOutput))
	lines.Buffer(nil, loginOutput)
	inside, path := false, ""
	for lines.Scan() {
		switch line := strings.TrimSuffix(lines.Text(), "\r"); {
		case strings.HasSuffix(line, loginBegin):
			inside, path = true, ""
		case inside && line == loginEnd:
			return path
		case inside && strings.HasPrefix(line, "/"):
			path = line
		}
	}
	return ""
}

// LoginShell is the user's shell as a terminal runs it, nil if it is not
// known.
func LoginShell() []string {
	shell := loginShell(os.Getenv("SHELL"))
	switch {
	case shell == "":
		return nil
	case runtime.GOOS == "darwin": // where terminals run login shells
		return []string{shell, "-l"}
	}
	return []string{shell}
}

// loginShell is named by SHELL, or by the user's line of the password file
// where a service manager gave no SHELL. "" if there is none that runs
// commands.
func loginShell(shell string) string {
	if shell == "" {
		shell = shellOf(os.Getuid(), "/etc/passwd")
	}
	switch filepath.Base(shell) {
	case "false", "true", "nologin", "sync", "git-shell":
		return ""
	}
	if !filepath.IsAbs(shell) || !mayExecute(shell) {
		return ""
	}
	return shell
}

// shellOf reads the last field of the user's line (passwd(5)).
func shellOf(uid int, passwd string) string {
	file, err := os.Open(passwd)
	if err != nil {
		return ""
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		fields := strings.Split(lines.Text(), ":")
		if len(fields) == 7 && fields[2] == strconv.Itoa(uid) {
			return fields[6]
		}
	}
	return ""
}
