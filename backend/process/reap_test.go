//go:build unix

package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"berth/backend/store"
)

// helpers are what the test binary can be besides a test.
var helpers = map[string]func(args []string) error{
	"berth": runBerth, "stuck": runStuck,
}

// runBerth starts a script like Berth would, passes on its first line, and
// waits to be killed.
func runBerth(args []string) error {
	s, err := helperSupervisor(args[0])
	if err != nil {
		return err
	}
	spec := shell(args[1])
	spec.Chat, spec.Execution = "chat_1", "exec_1"
	p, err := s.Start(context.Background(), spec)
	if err != nil {
		return err
	}
	fmt.Print(p.ID(), " ", p.Pid(), " ")
	_, err = io.Copy(os.Stdout, p.Stdout())
	return errors.Join(err, errors.New("the script ended"))
}

// runStuck starts a script whose row cannot be committed, and tells the pid of
// its gate.
func runStuck(args []string) error {
	s, err := helperSupervisor(args[0])
	if err != nil {
		return err
	}
	writing := make(chan bool)
	go s.db.Write(context.Background(), func(*store.Tx) error { close(writing); select {} })
	<-writing
	go s.Start(context.Background(), shell(args[1]))
	for len(s.all()) == 0 {
		runtime.Gosched()
	}
	fmt.Println(s.all()[0].Pid())
	select {}
}

func helperSupervisor(path string) (*Supervisor, error) {
	db, err := store.Open(context.Background(), path)
	if err != nil {
		return nil, err
	}
	s := NewSupervisor(db, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	s.finder.login = func(context.Context) string { return "" }
	return s, nil
}

// startHelper runs a helper; kill ends it as the system would.
func startHelper(t *testing.T, helper string, args ...string) (stdout io.Reader, kill func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), helperName+"="+helper)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // says that it was killed
	}
	t.Cleanup(kill)
	return stdout, kill
}

func TestGateStaysShutWhenBerthDiesBeforeTheRow(t *testing.T) {
	dir := t.TempDir()
	witness := filepath.Join(dir, "ran")
	stdout, kill := startHelper(t, "stuck", filepath.Join(dir, "berth.db"), "touch "+witness)
	gate := readPids(t, stdout, 1)[0]
	if !running(gate) {
		t.Fatal("the gate does not run")
	}
	kill()
	awaitGone(t, gate)
	if _, err := os.Stat(witness); err == nil {
		t.Error("the program ran")
	}
}

func TestReapEndsWhatAKilledBerthLeft(t *testing.T) {
	path := filepath.Join(t.TempDir(), "berth.db")
	// Members of the group and of other sessions; none of them minds the end
	// of its parent.
	stdout, kill := startHelper(t, "berth", path,
		"sleep 1000 >/dev/null & a=$!; setsid sleep 1000 >/dev/null & b=$!; setsid sh -c 'trap \"\" TERM; while :; do sleep 1; done' >/dev/null & echo $a $b $!; wait")
	var id string
	if _, err := fmt.Fscan(stdout, &id); err != nil {
		t.Fatal(err)
	}
	pids := readPids(t, stdout, 4)
	kill()
	if runtime.GOOS == "linux" {
		awaitGone(t, pids[0]) // at once
	}
	s := supervisorOn(t, openDB(t, path))
	reaped, err := s.Reap(t.Context())
	if err != nil {
		t.Error(err)
	}
	for _, pid := range pids {
		if running(pid) {
			t.Errorf("pid %d still runs", pid)
		}
	}
	if len(reaped) != 1 {
		t.Fatalf("reaped %+v", reaped)
	}
	if r := reaped[0]; r.ID != id || r.Pid != pids[0] || r.Chat != "chat_1" || r.Execution != "exec_1" ||
		r.Label != "sh" || r.Outcome != outcomeEnded || r.Alive {
		t.Errorf("reaped %+v", r)
	}
	if r := rowOf(t, s.db, id); r != (row{true, outcomeEnded}) {
		t.Errorf("row %+v", r)
	}
	if reaped, err := s.Reap(t.Context()); len(reaped) != 0 || err != nil {
		t.Errorf("again: %+v, %v", reaped, err)
	}
}

// insertRow records a process as an earlier Berth would have.
func insertRow(t *testing.T, db *store.DB, e entry, boot string) (id string) {
	t.Helper()
	id = store.NewID("proc")
	err := db.Write(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec(`insert into processes(id, pid, start_time, boot_id, executable, label, started_at) values(?, ?, ?, ?, '', '', 0)`,
			id, e.pid, e.start, boot)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestReapKnowsAProcessByMoreThanItsPid(t *testing.T) {
	boot, err := bootID()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, boot string
		later      int64 // than the real start time
		outcome    string
		ends       bool
	}{
		{"its own", boot, 0, outcomeEnded, true},
		{"reused pid", boot, -1, outcomeGone, false},
		{"other boot", "other", 0, outcomeRestarted, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			// Not a child of the supervisor, and with a child in its group.
			cmd := exec.Command("/bin/sh", "-c", "sleep 1000 & echo $!; read x")
			cmd.SysProcAttr = childAttributes()
			stdin, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			runtime.LockOSThread() // see starter
			defer runtime.UnlockOSThread()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			child := readPids(t, stdout, 1)[0]
			defer cmd.Wait() // with the status of a killed process
			defer cmd.Process.Kill()
			defer func() {
				if p, err := os.FindProcess(child); err == nil && running(child) {
					_ = p.Kill()
				}
			}()
			defer stdin.Close()
			e, err := entryOf(cmd.Process.Pid)
			if err != nil {
				t.Fatal(err)
			}
			e.start += c.later
			s := newSupervisor(t)
			id := insertRow(t, s.db, e, c.boot)
			reaped, err := s.Reap(t.Context())
			if err != nil || len(reaped) != 1 || reaped[0].Alive {
				t.Errorf("reaped %+v, %v", reaped, err)
			}
			if r := rowOf(t, s.db, id); r != (row{true, c.outcome}) {
				t.Errorf("row %+v", r)
			}
			if running(cmd.Process.Pid) == c.ends || running(child) == c.ends {
				t.Errorf("runs: %v, its child: %v", running(cmd.Process.Pid), running(child))
			}
		})
	}
}

func TestReapLeavesChildrenAlone(t *testing.T) {
	s := newSupervisor(t)
	p := mustStart(t, s, shell("setsid sleep 1000 & echo $!; read x; exit 7"))
	daemon := readPids(t, p.Stdout(), 1)[0]
	if reaped, err := s.Reap(t.Context()); len(reaped) != 0 || err != nil {
		t.Errorf("reaped %+v, %v", reaped, err)
	}
	if !running(daemon) {
		t.Error("the child's own child was ended")
	}
	p.Stdin().Close()
	if exit := awaitEnd(t, p); exit.Code != 7 {
		t.Errorf("exit %+v", exit)
	}
}

func TestReapKeepsTheRegistryBounded(t *testing.T) {
	s := newSupervisor(t)
	err := s.db.Write(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec(`with recursive n(i) as (values(1) union all select i+1 from n where i < ?)
			insert into processes(id, pid, start_time, boot_id, executable, label, started_at, ended_at)
			select printf('proc_%05d', i), 1, 1, '', '', '', 0, 0 from n`, keptRows+5)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Reap(t.Context()); err != nil {
		t.Fatal(err)
	}
	var n int
	var oldest string
	if err := s.db.Read().QueryRow("select count(*), min(id) from processes").Scan(&n, &oldest); err != nil {
		t.Fatal(err)
	}
	if n != keptRows || oldest != "proc_00006" {
		t.Errorf("%d rows, the oldest %s", n, oldest)
	}
}

func TestDescends(t *testing.T) {
	s := newSupervisor(t)
	spec := shell(`echo $$ $(setsid sh -c 'sleep 1000 >/dev/null & echo $!') $(env -u BERTH_PROCESS setsid sh -c 'sleep 1000 >/dev/null & echo $!'); read x`)
	spec.Execution = "exec_1"
	p := mustStart(t, s, spec)
	pids := readPids(t, p.Stdout(), 3)
	for i, what := range []string{"child", "daemon by its process", "daemon by its execution"} {
		if !s.Descends(pids[i]) {
			t.Errorf("%s: no", what)
		}
	}
	other := exec.Command("/bin/sh", "-c", "read x")
	other.Env = append(os.Environ(), "BERTH_EXECUTION=of_another_berth")
	stdin, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	for pid, what := range map[int]string{os.Getpid(): "Berth itself", os.Getppid(): "its parent", other.Process.Pid: "a stranger"} {
		if s.Descends(pid) {
			t.Errorf("%s: yes", what)
		}
	}
	stdin.Close()
	_ = other.Wait()
	if !s.Descends(other.Process.Pid) {
		t.Error("one that is gone: no")
	}
	p.Stdin().Close()
	awaitEnd(t, p)
	s.attended.Wait()
	if !s.Descends(pids[1]) {
		t.Error("daemon of a child that ended: no")
	}
}

func TestMarksAreReadFromTheEnvironment(t *testing.T) {
	s := newSupervisor(t)
	p := mustStart(t, s, shell("read x"))
	process, execution := marksOf(p.Pid())
	if process != p.ID() || execution != p.ID() {
		t.Errorf("got %q, %q", process, execution)
	}
}
