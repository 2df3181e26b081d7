//go:build unix

package process

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// running says whether pid is there and not only waiting to be reaped.
func running(pid int) bool {
	e, err := entryOf(pid)
	return err == nil && !e.dead
}

// awaitGone waits for the ends that init has yet to collect.
func awaitGone(t *testing.T, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		eventually(t, "the process is gone", func() bool { return !running(pid) })
	}
}

func mustStop(t *testing.T, p Process, grace time.Duration) {
	t.Helper()
	begun := time.Now()
	if err := p.Stop(t.Context(), grace); err != nil {
		t.Error(err)
	}
	if took := time.Since(begun); took > 2*grace+killWait {
		t.Errorf("took %v", took)
	}
	select {
	case <-p.Done():
	default:
		t.Error("stopped, but not done")
	}
}

func TestStopIsPoliteFirst(t *testing.T) {
	for _, c := range []struct {
		name, script string
		want         Exit
	}{
		{"end of stdin", "cat; exit 4", Exit{Code: 4}},
		{"SIGTERM", "trap 'exit 5' TERM; echo up; while :; do sleep 0.01; done", Exit{Code: 5}},
		{"SIGTERM untrapped", "echo up; sleep 1000", Exit{Code: -1, Signal: "SIGTERM"}},
		{"SIGKILL", "trap '' TERM; echo up; while :; do sleep 0.01; done", Exit{Code: -1, Signal: "SIGKILL"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSupervisor(t)
			p := mustStart(t, s, shell(c.script))
			if strings.Contains(c.script, "echo up") {
				b := make([]byte, 3)
				if _, err := p.Stdout().Read(b); err != nil {
					t.Fatal(err)
				}
			}
			mustStop(t, p, 500*time.Millisecond)
			if exit := p.Exit(); exit != c.want {
				t.Errorf("exit %+v, want %+v", exit, c.want)
			}
			mustStop(t, p, 0) // again, after the end
		})
	}
}

func TestStopEndsAllThatCameOfIt(t *testing.T) {
	for _, c := range []struct{ name, script string }{
		{"group", "sleep 1000 & echo $$ $!; wait"},
		{"group of its own", "set -m; sleep 1000 & echo $$ $!; wait"},
		{"session of its own", "setsid sleep 1000 & echo $$ $!; wait"},
		{"daemon", "echo $$ $(setsid sh -c 'sleep 1000 >/dev/null 2>&1 & echo $!'); sleep 1000"},
		{"hidden daemon of a parent that runs", "env -u BERTH_PROCESS -u BERTH_EXECUTION setsid sleep 1000 & echo $$ $!; wait"},
		{"deaf", "trap '' TERM; (while :; do sleep 1; done) & echo $$ $!; while :; do sleep 1; done"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSupervisor(t)
			p := mustStart(t, s, shell(c.script))
			pids := readPids(t, p.Stdout(), 2)
			for _, pid := range pids {
				if !running(pid) {
					t.Fatalf("pid %d does not run", pid)
				}
			}
			mustStop(t, p, 300*time.Millisecond)
			for _, pid := range pids {
				if running(pid) {
					t.Errorf("pid %d still runs", pid)
				}
			}
		})
	}
}

func TestStopKillsAtOnceWhenItMayNotWait(t *testing.T) {
	s := newSupervisor(t)
	p := mustStart(t, s, shell("trap '' TERM; echo $$; while :; do sleep 1; done"))
	readPids(t, p.Stdout(), 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	begun := time.Now()
	if err := p.Stop(ctx, time.Hour); err != nil {
		t.Error(err)
	}
	if took := time.Since(begun); took > patience {
		t.Errorf("took %v", took)
	}
}

// fixed is a quarry that no signal reaches.
type fixed struct {
	entries []entry
	err     error
}

func (f fixed) members() ([]entry, error)   { return f.entries, nil }
func (f fixed) signal(syscall.Signal) error { return f.err }

func TestEndNamesWhatIsLeft(t *testing.T) {
	q := fixed{entries: []entry{{identity: identity{pid: 7}, name: "stuck"}}, err: errors.New("not permitted")}
	err := end(t.Context(), q, 0, syscall.SIGTERM)
	if want := "still running: stuck (pid 7): not permitted"; err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	q.entries = make([]entry, 12)
	if err := survivors(q.entries, nil, nil); !strings.HasSuffix(err.Error(), "2 more") {
		t.Errorf("got %v", err)
	}
}

// A process left behind holds the pipes: neither the reader nor Done waits.
func TestPipesHeldByOthersDoNotHang(t *testing.T) {
	s := newSupervisor(t)
	p := mustStart(t, s, shell("echo before; setsid sleep 1000 & echo $! >&2; exit 0"))
	begun := time.Now()
	if exit := awaitEnd(t, p); exit.Code != 0 {
		t.Errorf("exit %+v", exit)
	}
	if got := readAll(t, p); got != "before\n" {
		t.Errorf("stdout %q", got)
	}
	if took := time.Since(begun); took > patience/2 {
		t.Errorf("took %v", took)
	}
	pid := readPids(t, strings.NewReader(p.StderrTail()), 1)[0]
	// It left on purpose, and stays until Berth ends.
	if !running(pid) {
		t.Error("the daemon ended with its parent")
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if running(pid) {
		t.Error("the daemon outlived Berth")
	}
}

func TestOutputIsWholeForASlowReader(t *testing.T) {
	s := newSupervisor(t)
	p := mustStart(t, s, shell("setsid sleep 1000 & head -c 50000 /dev/zero"))
	awaitEnd(t, p)
	time.Sleep(drainWait + quietWait) // past the deadline
	if got := len(readAll(t, p)); got != 50000 {
		t.Errorf("read %d bytes", got)
	}
	mustStop(t, p, 0)
}

func TestGroupEndsWithItsLeader(t *testing.T) {
	s := newSupervisor(t)
	p := mustStart(t, s, shell("sleep 1000 >/dev/null 2>&1 & echo $!"))
	pid := readPids(t, p.Stdout(), 1)[0]
	awaitEnd(t, p)
	awaitGone(t, pid)
}

func TestSignalExactlySparesAnotherOfTheSamePid(t *testing.T) {
	s := newSupervisor(t)
	p := mustStart(t, s, shell("read x; exit 6"))
	e, err := entryOf(p.Pid())
	if err != nil {
		t.Fatal(err)
	}
	e.start--
	if err := errors.Join(signalExactly(e, syscall.SIGKILL), signalCompared(e, syscall.SIGKILL)); err != nil {
		t.Error(err)
	}
	p.Stdin().Close()
	if exit := awaitEnd(t, p); exit.Code != 6 {
		t.Errorf("exit %+v", exit)
	}
	if err := signalExactly(entry{identity: identity{pid: os.Getpid()}}, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
}
