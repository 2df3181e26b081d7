//go:build unix

package process

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/backend/store"
)

func TestChildTalksOverItsPipes(t *testing.T) {
	s := newSupervisor(t)
	p := mustStart(t, s, shell("cat; echo problem >&2; exit 3"))
	if _, err := io.WriteString(p.Stdin(), "hello\n"); err != nil {
		t.Fatal(err)
	}
	if err := p.Stdin().Close(); err != nil {
		t.Fatal(err)
	}
	if got := readAll(t, p); got != "hello\n" {
		t.Errorf("stdout %q", got)
	}
	if exit := awaitEnd(t, p); exit != (Exit{Code: 3}) {
		t.Errorf("exit %+v", exit)
	}
	if got := p.StderrTail(); got != "problem\n" {
		t.Errorf("stderr %q", got)
	}
	eventually(t, "the end is recorded", func() bool { return rowOf(t, s.db, p.ID()) == row{true, "exit 3"} })
}

func TestChildGetsItsSpecUnchanged(t *testing.T) {
	s := newSupervisor(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("CLAUDECODE", "1")
	t.Setenv("BERTH_TOKEN", "secret")
	args := []string{"-c", `pwd; printf '%s|' "$0" "$@"; echo; env`, "a b", "", "*", "ü\n'"}
	p := mustStart(t, s, Spec{Path: "/bin/sh", Args: args, Dir: dir, Env: []string{"X=a=b"}, Execution: "exec_1"})
	got := readAll(t, p)
	if want := dir + "\na b||*|ü\n'|\n"; !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want it to begin with %q", got, want)
	}
	lines := strings.Split(got, "\n")
	for _, want := range []string{"X=a=b", "BERTH_EXECUTION=exec_1", "BERTH_PROCESS=" + p.ID()} {
		if !slices.Contains(lines, want) {
			t.Errorf("%s is missing in %q", want, lines)
		}
	}
	if strings.Contains(got, "CLAUDECODE") || strings.Contains(got, "secret") {
		t.Errorf("withheld variables in %q", lines)
	}
}

func TestStartSaysWhyNot(t *testing.T) {
	s := newSupervisor(t)
	dir := t.TempDir()
	plain, broken := filepath.Join(dir, "plain"), filepath.Join(dir, "broken")
	for path, mode := range map[string]os.FileMode{plain: 0o600, broken: 0o700} {
		if err := os.WriteFile(path, []byte("neither script nor program"), mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name, want string
		spec       Spec
	}{
		{"relative", "must be absolute", Spec{Path: "sh"}},
		{"absent", "no such file", Spec{Path: filepath.Join(dir, "absent")}},
		{"not executable", "permission denied", Spec{Path: plain}},
		{"no program", "exec format error", Spec{Path: broken}},
		{"folder absent", "no such file", Spec{Path: "/bin/sh", Dir: filepath.Join(dir, "absent")}},
		{"folder is a file", "is not a folder", Spec{Path: "/bin/sh", Dir: plain}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := s.Start(t.Context(), c.spec)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, %v", p, err)
			}
		})
	}
	var outcome string
	if err := s.db.Read().QueryRow("select group_concat(outcome) from processes").Scan(&outcome); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(outcome, "not started: no such file") {
		t.Errorf("outcomes %q", outcome)
	}
}

func TestNothingRunsWithoutItsRow(t *testing.T) {
	db := newDB(t)
	s := supervisorOn(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	witness := filepath.Join(t.TempDir(), "ran")
	if p, err := s.Start(t.Context(), shell("touch "+witness)); !errors.Is(err, store.ErrClosed) {
		t.Errorf("got %v, %v", p, err)
	}
	if _, err := os.Stat(witness); err == nil {
		t.Error("it ran")
	}
	s.attended.Wait()
	if len(s.all()) != 0 {
		t.Error("the gate is still there")
	}
}

func TestManyStartsAtOnceLeakNothing(t *testing.T) {
	const n = 100
	s := newSupervisor(t)
	if _, err := s.finder.dirs(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := openFiles(t)
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			p, err := s.Start(t.Context(), shell("read x; echo $x"))
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = io.WriteString(p.Stdin(), p.ID()+"\n")
			if got, err := io.ReadAll(p.Stdout()); err != nil || string(got) != p.ID()+"\n" {
				t.Errorf("got %q, %v", got, err)
			}
			<-p.Done()
		})
	}
	all.Wait()
	s.attended.Wait()
	if after := openFiles(t); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
	var open, ended int
	if err := s.db.Read().QueryRow("select count(*), count(ended_at) from processes").Scan(&open, &ended); err != nil {
		t.Fatal(err)
	}
	if open != n || ended != n {
		t.Errorf("%d rows, %d ended", open, ended)
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// The threads of a program come and go; a child must not go with one.
func TestChildOutlivesTheCallersThread(t *testing.T) {
	s := newSupervisor(t)
	started := make(chan Process)
	go func() {
		runtime.LockOSThread() // so that the thread ends with the goroutine
		p, err := s.Start(context.Background(), shell("echo up; read x; echo down"))
		if err != nil {
			t.Error(err)
		}
		started <- p
	}()
	p := <-started
	// The thread has ended once others were made and went after it.
	for range 20 {
		ended := make(chan bool)
		go func() { runtime.LockOSThread(); close(ended) }()
		<-ended
	}
	p.Stdin().Close()
	if got := readAll(t, p); got != "up\ndown\n" {
		t.Errorf("got %q", got)
	}
	if exit := awaitEnd(t, p); exit.Code != 0 {
		t.Errorf("exit %+v", exit)
	}
}

func TestAtMostSoManyChildren(t *testing.T) {
	s := newSupervisor(t)
	s.mu.Lock()
	s.pending = maxChildren
	s.mu.Unlock()
	if _, err := s.Start(t.Context(), shell("true")); !errors.Is(err, ErrTooMany) {
		t.Errorf("got %v", err)
	}
	s.mu.Lock()
	s.pending = 0
	s.mu.Unlock()
	awaitEnd(t, mustStart(t, s, shell("true")))
}

func TestListShowsWhatRuns(t *testing.T) {
	s := newSupervisor(t)
	spec := shell("read x")
	spec.Chat, spec.Execution = "chat_1", "exec_1"
	p := mustStart(t, s, spec)
	awaitEnd(t, mustStart(t, s, shell("true")))
	live := s.List()
	if len(live) != 1 {
		t.Fatalf("got %+v", live)
	}
	l := live[0]
	if l.Memory <= 0 && runtime.GOOS == "linux" {
		t.Errorf("memory %d", l.Memory)
	}
	l.Memory = 0
	if since := time.Since(l.StartedAt); since < 0 || since > patience {
		t.Errorf("started %v ago", since)
	}
	l.StartedAt = time.Time{}
	if want := (Live{ID: p.ID(), Pid: p.Pid(), Label: "sh", Chat: "chat_1", Execution: "exec_1", Executable: "/bin/sh"}); l != want {
		t.Errorf("got %+v, want %+v", l, want)
	}
}

func TestCloseEndsAllAndStartsNoMore(t *testing.T) {
	s := newSupervisor(t)
	var children []Process
	for range 5 {
		children = append(children, mustStart(t, s, shell("trap '' TERM; echo up; while :; do sleep 1; done")))
	}
	begun := time.Now()
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // so that it does not wait for their goodwill
	if err := s.Close(ctx); err != nil {
		t.Error(err)
	}
	if took := time.Since(begun); took > patience/2 {
		t.Errorf("took %v", took)
	}
	for _, p := range children {
		if exit := awaitEnd(t, p); exit.Signal != "SIGKILL" {
			t.Errorf("exit %+v", exit)
		}
		if r := rowOf(t, s.db, p.ID()); r != (row{true, "stopped: SIGKILL"}) {
			t.Errorf("row %+v", r)
		}
	}
	if _, err := s.Start(t.Context(), shell("true")); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v", err)
	}
}

// What it costs to start a program and see its end, gate and row included.
func BenchmarkStart(b *testing.B) {
	db, err := store.Open(b.Context(), filepath.Join(b.TempDir(), "berth.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	s := NewSupervisor(db, slog.New(slog.DiscardHandler))
	defer s.Close(context.Background())
	for b.Loop() {
		p, err := s.Start(b.Context(), Spec{Path: "/bin/true", Label: "true"})
		if err != nil {
			b.Fatal(err)
		}
		<-p.Done()
	}
}

// The runtime raises the limit of open files for itself only; select() in a
// child breaks with descriptors beyond 1,024.
func TestChildHasTheLimitsOfAnyProgram(t *testing.T) {
	const script = "ulimit -n; trap"
	want, err := exec.Command("/bin/sh", "-c", script).Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := readAll(t, mustStart(t, newSupervisor(t), shell(script))); got != string(want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
