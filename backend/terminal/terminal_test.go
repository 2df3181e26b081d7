//go:build unix

package terminal

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"berth/backend/process"
	"berth/backend/refusal"
	"berth/backend/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds waits for what happens within milliseconds on an idle
// machine.
const patience = 20 * time.Second

func newTerminals(t *testing.T) *Terminals {
	t.Helper()
	t.Setenv("SHELL", "/bin/sh")
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "berth.db"))
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	processes := process.NewSupervisor(db, log)
	terminals := NewTerminals(processes, log)
	t.Cleanup(func() {
		ctx := context.Background()
		if err := errors.Join(terminals.CloseAll(ctx), processes.Close(ctx), db.Close()); err != nil {
			t.Error(err)
		}
	})
	return terminals
}

// screen reads one terminal from its start.
type screen struct {
	t         *testing.T
	terminals *Terminals
	Session
	next  int64
	seen  string
	ended bool
}

func open(t *testing.T, terminals *Terminals, n New) *screen {
	t.Helper()
	s, err := terminals.Open(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	return &screen{t: t, terminals: terminals, Session: s}
}

func openShell(t *testing.T, terminals *Terminals, script string) *screen {
	t.Helper()
	return open(t, terminals, New{Command: []string{"sh", "-c", script}})
}

func (s *screen) read() {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	out, err := s.terminals.Output(ctx, s.ID, s.next)
	if err != nil {
		s.t.Fatal(err)
	}
	if out.After != s.next || out.Next != out.After+int64(len(out.Data)) {
		s.t.Fatalf("asked from %d, got %d to %d", s.next, out.After, out.Next)
	}
	if len(out.Data) == 0 && !out.Ended {
		s.t.Fatalf("nothing more; seen so far: %q", s.seen)
	}
	s.next, s.seen, s.ended = out.Next, s.seen+string(out.Data), out.Ended
}

// await reads until text is on the screen.
func (s *screen) await(text string) {
	s.t.Helper()
	for !strings.Contains(s.seen, text) {
		if s.ended {
			s.t.Fatalf("ended without %q: %q", text, s.seen)
		}
		s.read()
	}
}

// exit reads to the end.
func (s *screen) exit() process.Exit {
	s.t.Helper()
	for !s.ended {
		s.read()
	}
	for _, one := range s.terminals.List() {
		if one.ID == s.ID && one.Exit != nil {
			return *one.Exit
		}
	}
	s.t.Fatal("ended, but not listed so")
	return process.Exit{}
}

func (s *screen) input(text string) {
	s.t.Helper()
	if err := s.terminals.Input(s.t.Context(), s.ID, []byte(text)); err != nil {
		s.t.Fatal(err)
	}
}

func code(err error) string {
	var refused *refusal.Error
	if errors.As(err, &refused) {
		return refused.Code + " " + refused.Field
	}
	return ""
}

func TestTheUsersShell(t *testing.T) {
	terminals := newTerminals(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, terminals, New{Cwd: dir, Columns: 91, Rows: 31})
	if s.Title != "sh" || s.Cwd != dir || s.Exit != nil {
		t.Errorf("opened %+v", s.Session)
	}
	// The words on the screen are not those of the command, which is echoed.
	s.input("echo $((40+2))-$(pwd)-$TERM-$(tty >/dev/null && echo tty)\n")
	s.await("42-" + dir + "-xterm-256color-tty")
	s.input("stty size\n")
	s.await("31 91")
	if err := terminals.Resize(t.Context(), s.ID, 123, 45); err != nil {
		t.Fatal(err)
	}
	s.input("stty size\n")
	s.await("45 123")
	s.input("echo '日本 🚀 ü' | tr ü u\n")
	s.await("日本 🚀 ")
	s.input("exit 7\n")
	if exit := s.exit(); exit != (process.Exit{Code: 7}) {
		t.Errorf("exit %+v", exit)
	}
	if list := terminals.List(); len(list) != 1 || list[0].Columns != 123 || list[0].Rows != 45 {
		t.Errorf("listed %+v", list)
	}
	for what, err := range map[string]error{
		"input":  terminals.Input(t.Context(), s.ID, []byte("x")),
		"resize": terminals.Resize(t.Context(), s.ID, 80, 24),
	} {
		if code(err) != "conflict " {
			t.Errorf("%s after the end: %v", what, err)
		}
	}
}

func TestKeysReachTheProgram(t *testing.T) {
	terminals := newTerminals(t)
	s := openShell(t, terminals, "trap 'echo interrupted; exit 5' INT; echo ready; while :; do sleep 0.05; done")
	s.await("ready")
	s.input("\x03")
	s.await("interrupted")
	if exit := s.exit(); exit.Code != 5 {
		t.Errorf("exit %+v", exit)
	}
	s = openShell(t, terminals, "cat; echo end of input")
	s.input("typed\n\x04")
	s.await("end of input")
	if exit := s.exit(); exit.Code != 0 {
		t.Errorf("exit %+v", exit)
	}
}

func TestClientsComeAndGo(t *testing.T) {
	terminals := newTerminals(t)
	one := openShell(t, terminals, "echo before; read x; echo after $x")
	one.await("before")
	two := &screen{t: t, terminals: terminals, Session: one.Session} // a second one sees all
	two.await("before")
	two.input("it\n")
	one.await("after it")
	one.exit()
	three := &screen{t: t, terminals: terminals, Session: one.Session} // and one that comes late
	three.exit()
	if three.seen != one.seen {
		t.Errorf("%q, then %q", one.seen, three.seen)
	}
	out, err := terminals.Output(t.Context(), one.ID, 1<<40)
	if err != nil || out.After != one.next || len(out.Data) != 0 || !out.Ended {
		t.Errorf("beyond the end: %+v, %v", out, err)
	}
}

func TestOutputWaitsNoLongerThanItsCaller(t *testing.T) {
	terminals := newTerminals(t)
	s := openShell(t, terminals, "read x")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if out, err := terminals.Output(ctx, s.ID, 0); err != nil || len(out.Data) != 0 || out.Ended {
		t.Errorf("got %+v, %v", out, err)
	}
}

func TestWhoFallsBehindGoesOnWithTheNewest(t *testing.T) {
	terminals := newTerminals(t)
	// The program runs to its end although nobody reads.
	s := openShell(t, terminals, "seq -f 'line %.0f' 300000; echo the end")
	s.read()
	for {
		if list := terminals.List(); list[0].Exit != nil {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	out, err := terminals.Output(t.Context(), s.ID, s.next)
	if err != nil || out.After <= s.next {
		t.Fatalf("went on at %d after %d, %v", out.After, s.next, err)
	}
	if !strings.HasPrefix(string(out.Data), "line ") {
		t.Errorf("begins with %q", out.Data[:20])
	}
	s.next = out.After
	if exit := s.exit(); exit.Code != 0 || len(s.seen) > 2*tailBytes || !strings.HasSuffix(s.seen, "line 300000\r\nthe end\r\n") {
		t.Errorf("%d bytes to %q, %+v", len(s.seen), s.seen[max(0, len(s.seen)-30):], exit)
	}
}

func TestCloseEndsAll(t *testing.T) {
	for _, c := range []struct{ name, script string }{
		{"shell", "echo $$ $$; read x"},
		{"deaf", "trap '' HUP TERM; echo $$ $$; while :; do sleep 1; done"},
		{"job of its own group", "set -m; sleep 1000 & echo $$ $!; wait"},
		{"daemon", "setsid sleep 1000 & echo $$ $!; wait"},
		{"nohup", "nohup sleep 1000 >/dev/null 2>&1 & echo $$ $!; wait"},
	} {
		t.Run(c.name, func(t *testing.T) {
			terminals := newTerminals(t)
			s := openShell(t, terminals, c.script)
			s.await("\n")
			var pids []int
			for _, field := range strings.Fields(s.seen) {
				pid, err := strconv.Atoi(field)
				if err != nil {
					t.Fatalf("no pids: %q", s.seen)
				}
				pids = append(pids, pid)
			}
			if err := terminals.Close(t.Context(), s.ID); err != nil {
				t.Fatal(err)
			}
			for _, pid := range pids {
				if runs(t, pid) {
					t.Errorf("pid %d still runs", pid)
				}
			}
			if err := terminals.Close(t.Context(), s.ID); code(err) != "not_found " {
				t.Errorf("closed again: %v", err)
			}
		})
	}
}

// runs says whether pid is there and not only waiting to be reaped.
func runs(t *testing.T, pid int) bool {
	t.Helper()
	if err := syscall.Kill(pid, 0); err != nil {
		return false
	}
	stat, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat") // on Linux
	return !strings.Contains(string(stat), ") Z ")
}

func TestOpenSaysWhyNot(t *testing.T) {
	terminals := newTerminals(t)
	for _, c := range []struct {
		name, code string
		n          New
	}{
		{"no such command", "invalid command", New{Command: []string{"berth-no-such-command"}}},
		{"no such folder", "invalid cwd", New{Cwd: "/no/such/folder"}},
		{"relative folder", "invalid cwd", New{Cwd: "."}},
		{"too wide", "invalid columns", New{Columns: maxColumns + 1}},
		{"too high", "invalid rows", New{Rows: maxRows + 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if s, err := terminals.Open(t.Context(), c.n); code(err) != c.code {
				t.Errorf("got %+v, %v", s, err)
			}
		})
	}
	if err := terminals.Resize(t.Context(), "term_none", 80, 24); code(err) != "not_found " {
		t.Errorf("got %v", err)
	}
	if _, err := terminals.Output(t.Context(), "term_none", 0); code(err) != "not_found " {
		t.Errorf("got %v", err)
	}
	if list := terminals.List(); len(list) != 0 {
		t.Errorf("left %+v", list)
	}
}

func TestTerminalsAreBounded(t *testing.T) {
	terminals := newTerminals(t)
	var first string
	for i := range maxEnded + 3 {
		s := openShell(t, terminals, "exit")
		s.exit()
		if i == 0 {
			first = s.ID
		}
	}
	s := openShell(t, terminals, "read x")
	if list := terminals.List(); len(list) != maxEnded+1 || list[maxEnded].ID != s.ID || list[0].ID == first {
		t.Errorf("%d listed", len(list))
	}
	for range maxRunning - 1 {
		openShell(t, terminals, "read x")
	}
	if _, err := terminals.Open(t.Context(), New{}); code(err) != "conflict " {
		t.Errorf("one too many: %v", err)
	}
	if err := terminals.CloseAll(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := terminals.Open(t.Context(), New{}); code(err) != "conflict " {
		t.Errorf("after the end: %v", err)
	}
}

func TestAPasteIsWhole(t *testing.T) {
	terminals := newTerminals(t)
	s := openShell(t, terminals, "stty raw -echo; echo ready; head -c 200000 | cksum")
	s.await("ready")
	text := strings.Repeat("0123456789", 20000)
	s.input(text)
	s.exit()
	want := open(t, terminals, New{Command: []string{"sh", "-c", "yes 0123456789 | tr -d '\\n' | head -c 200000 | cksum"}})
	want.exit()
	if got := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(s.seen), "ready")); got != strings.TrimSpace(want.seen) {
		t.Errorf("got %q, want %q", s.seen, want.seen)
	}
}
