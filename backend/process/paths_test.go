//go:build unix

package process

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// fakeHome has executables at the given paths below it.
func fakeHome(t *testing.T, executables ...string) string {
	t.Helper()
	home := t.TempDir()
	for _, path := range executables {
		writeExecutable(t, filepath.Join(home, path), "#!/bin/sh\n")
	}
	return home
}

func writeExecutable(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o700); err != nil {
		t.Fatal(err)
	}
}

func variables(env map[string]string) func(string) string {
	return func(name string) string { return env[name] }
}

func told(path string) func(context.Context) string {
	return func(context.Context) string { return path }
}

func TestFinderFindsWhereAgentsAreInstalled(t *testing.T) {
	for _, c := range []struct {
		name, at string
		env      map[string]string // {home} stands for the home directory
		npmrc    string
	}{
		{name: "native installer", at: ".local/bin"},
		{name: "older installer", at: ".claude/local"},
		{name: "opencode installer", at: ".opencode/bin"},
		{name: "npm without root", at: ".npm-global/bin"},
		{name: "npm prefix in npmrc", at: "packages/bin", npmrc: "color=false\nprefix = ${HOME}/packages\n"},
		{name: "npm prefix by tilde", at: ".packages/bin", npmrc: "prefix=~/.packages"},
		{name: "npm prefix in the environment", at: "np/bin", env: map[string]string{"NPM_CONFIG_PREFIX": "{home}/np"}},
		{name: "cargo", at: ".cargo/bin"},
		{name: "bun", at: ".bun/bin"},
		{name: "bun elsewhere", at: "b/bin", env: map[string]string{"BUN_INSTALL": "{home}/b"}},
		{name: "deno", at: ".deno/bin"},
		{name: "nvm", at: ".nvm/versions/node/v20.1.0/bin"},
		{name: "nvm elsewhere", at: "n/versions/node/v20.1.0/bin", env: map[string]string{"NVM_DIR": "{home}/n"}},
		{name: "volta", at: ".volta/bin"},
		{name: "mise", at: ".local/share/mise/shims"},
		{name: "asdf", at: ".asdf/shims"},
		{name: "fnm elsewhere", at: "f/node-versions/v20.1.0/installation/bin", env: map[string]string{"FNM_DIR": "{home}/f"}},
		{name: "pnpm elsewhere", at: "p", env: map[string]string{"PNPM_HOME": "{home}/p"}},
		{name: "yarn", at: ".yarn/bin"},
	} {
		t.Run(c.name, func(t *testing.T) {
			home := fakeHome(t, filepath.Join(c.at, "berth-test-agent"))
			if c.npmrc != "" {
				if err := os.WriteFile(filepath.Join(home, ".npmrc"), []byte(c.npmrc), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			env := map[string]string{"PATH": "/usr/bin:/bin"}
			for name, value := range c.env {
				env[name] = strings.ReplaceAll(value, "{home}", home)
			}
			got, err := newFinder(home, variables(env), told("")).lookPath(t.Context(), "berth-test-agent")
			if want := filepath.Join(home, c.at, "berth-test-agent"); err != nil || got != want {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

func TestFinderSeesWhatIsInstalledLater(t *testing.T) {
	home := t.TempDir()
	f := newFinder(home, variables(nil), told(""))
	if _, err := f.lookPath(t.Context(), "berth-test-agent"); !errors.Is(err, ErrNotFound) {
		t.Fatalf("got %v", err)
	}
	writeExecutable(t, filepath.Join(home, ".local/bin/berth-test-agent"), "")
	if _, err := f.lookPath(t.Context(), "berth-test-agent"); err != nil {
		t.Error(err)
	}
}

func TestFinderTakesTheNewestNode(t *testing.T) {
	var executables []string
	for _, v := range []string{"v9.11.2", "v22.3.0", "v22.10.0", "v8.0.0", "odd"} {
		executables = append(executables, ".nvm/versions/node/"+v+"/bin/node")
	}
	home := fakeHome(t, executables...)
	dirs, err := newFinder(home, variables(nil), told("")).dirs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, dir := range dirs {
		if rest, ok := strings.CutPrefix(dir, home+"/.nvm/versions/node/"); ok {
			got = append(got, strings.TrimSuffix(rest, "/bin"))
		}
	}
	if want := []string{"v22.10.0", "v22.3.0", "v9.11.2", "v8.0.0", "odd"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestPathOrder(t *testing.T) {
	home := fakeHome(t, ".nvm/versions/node/v20.1.0/bin/node", ".nvm/versions/node/v20.1.0/bin/claude", ".local/bin/claude", "venv/bin/python")
	nvm, local, venv := home+"/.nvm/versions/node/v20.1.0/bin", home+"/.local/bin", home+"/venv/bin"
	for _, c := range []struct {
		name, inherited, login, executable string
		first                              []string
	}{
		{"from a desktop", "/usr/bin:/bin", local + ":/usr/local/bin:/usr/bin:/bin", "/bin/sh",
			[]string{local, "/usr/local/bin", "/usr/bin", "/bin", nvm}},
		{"from an activated environment", venv + ":/usr/bin:/bin", "/usr/local/bin:/usr/bin:/bin", "/bin/sh",
			[]string{venv, "/usr/local/bin", "/usr/bin", "/bin", local, nvm}},
		{"shell silent", "/usr/bin:/bin", "", "/bin/sh", []string{"/usr/bin", "/bin", local, nvm}},
		{"relative and doubled entries", ".::bin:/bin:/bin/:/bin", "", "/bin/sh", []string{"/bin", local, nvm}},
		{"its own interpreter first", "/usr/bin:/bin", "", nvm + "/claude", []string{nvm, "/usr/bin", "/bin", local}},
		{"no interpreter beside it", "/usr/bin:/bin", "", local + "/claude", []string{"/usr/bin", "/bin", local, nvm}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path, err := newFinder(home, variables(map[string]string{"PATH": c.inherited}), told(c.login)).path(t.Context(), c.executable)
			if err != nil {
				t.Fatal(err)
			}
			if got := filepath.SplitList(path); !slices.Equal(got[:min(len(got), len(c.first))], c.first) {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestLookPathSaysWhereItLooked(t *testing.T) {
	home := fakeHome(t, "bin/agent")
	plain := filepath.Join(home, "bin", "plain")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(home, "bin", "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	f := newFinder(home, variables(map[string]string{"PATH": "/usr/bin:/bin"}), told(""))
	for name, want := range map[string]string{
		"absent": home + "/bin", "plain": "looked in /usr/bin, /bin", "folder": "looked in",
		"bin/agent": "absolute", "./agent": "absolute", plain: "not an executable", home + "/bin/folder": "not an executable",
	} {
		got, err := f.lookPath(t.Context(), name)
		if !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
	if got, err := f.lookPath(t.Context(), home+"/bin/agent"); err != nil || got != home+"/bin/agent" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestFinderDoesNotWaitBeyondItsCaller(t *testing.T) {
	release := make(chan bool)
	f := newFinder("", variables(nil), func(context.Context) string { <-release; return "/said/late" })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.dirs(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	close(release)
	if dirs, err := f.dirs(t.Context()); err != nil || !slices.Contains(dirs, "/said/late") {
		t.Errorf("got %q, %v", dirs, err)
	}
}

func TestLoginShellTellsItsPath(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"chatty start-up files", "echo hello; echo /not/a/path; export PATH=/from/login:/usr/bin:/bin; eval \"$2\"; echo bye", "/from/login:/usr/bin:/bin"},
		{"no newline before the answer", "printf 'no newline'; PATH=/x:/usr/bin:/bin; export PATH; eval \"$2\"", "/x:/usr/bin:/bin"},
		{"leaves something behind", "sleep 1000 & eval \"$2\"; wait", os.Getenv("PATH")},
		{"refuses", "echo 'bad option' >&2; exit 2", ""},
		{"silent", "exit 0", ""},
		{"hangs", "exec sleep 1000", ""},
		{"endless noise", "while :; do echo noise; done", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("SHELL", filepath.Join(t.TempDir(), "fakesh"))
			writeExecutable(t, os.Getenv("SHELL"), "#!/bin/sh\n[ \"$1\" = -ilc ] || exit 9\n"+c.script+"\n")
			s := newSupervisor(t)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			begun := time.Now()
			if got := s.loginPath(ctx); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if took := time.Since(begun); took > patience/2 {
				t.Errorf("took %v", took)
			}
			if left := s.List(); len(left) != 0 {
				t.Errorf("left %+v", left)
			}
		})
	}
}

func TestRealShellsTellTheirPath(t *testing.T) {
	for _, shell := range []string{"/bin/sh", "/bin/bash", "/bin/zsh", "/usr/bin/fish"} {
		t.Run(filepath.Base(shell), func(t *testing.T) {
			if !mayExecute(shell) {
				t.Skipf("%s is not installed", shell)
			}
			t.Setenv("SHELL", shell)
			t.Setenv("HOME", t.TempDir())
			if got := newSupervisor(t).loginPath(t.Context()); !strings.HasPrefix(got, "/") {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestLoginShell(t *testing.T) {
	passwd := filepath.Join(t.TempDir(), "passwd")
	if err := os.WriteFile(passwd, []byte("root:x:0:0:root:/root:/bin/sh\nbroken\nu:x:7:7::/home/u:/bin/zsh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := shellOf(7, passwd); got != "/bin/zsh" {
		t.Errorf("got %q", got)
	}
	if got := shellOf(8, passwd); got != "" {
		t.Errorf("got %q", got)
	}
	for shell, want := range map[string]string{"/bin/sh": "/bin/sh", "sh": "", "/bin/false": "", "/sbin/nologin": "", "/absent/sh": ""} {
		if got := loginShell(shell); got != want {
			t.Errorf("%q: got %q", shell, got)
		}
	}
}

func FuzzParseLogin(f *testing.F) {
	f.Add("x\n" + loginBegin + "\n/a:/b\n" + loginEnd + "\n")
	f.Fuzz(func(t *testing.T, output string) {
		if got := parseLogin(strings.NewReader(output)); got != "" && (got[0] != '/' || strings.Contains(got, "\n")) {
			t.Errorf("got %q", got)
		}
	})
}
