//go:build unix

package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"berth/backend/process/gate"
)

// execWait bounds the time from the opened gate to the running program; only
// a file system that hangs takes long.
const execWait = 10 * time.Second

// spawned is a process that was started and stands at its gate.
type spawned struct {
	group
	stdio
	proc   *os.Process
	gate   *os.File
	polite []syscall.Signal // that ask it to end
	left   leftover
}

// spawnOnPipes starts a process that stands at its gate. It runs on the thread
// of the starter.
func spawnOnPipes(spec Spec, env []string, mark string) (*spawned, error) {
	theirs, ours, err := pipes()
	if err != nil {
		return nil, err
	}
	defer closeAll(theirs.stdin, theirs.stdout, theirs.stderr)
	sp, err := startAtGate(spec, env, theirs, childAttributes())
	if err != nil {
		closeAll(ours.stdin, ours.stdout, ours.stderr)
		return nil, err
	}
	sp.stdio, sp.mark, sp.polite = ours, mark, []syscall.Signal{syscall.SIGTERM}
	return sp, nil
}

// spawnOnTerminal is spawnOnPipes with a terminal of its own for all three.
func spawnOnTerminal(size Size) spawner {
	return func(spec Spec, env []string, mark string) (*spawned, error) {
		ours, theirs, err := pty.Open()
		if err != nil {
			return nil, fmt.Errorf("make a terminal: %w", err)
		}
		defer theirs.Close()
		attributes := childAttributes()
		attributes.Setctty = true // of descriptor 0
		err = pty.Setsize(ours, &pty.Winsize{Cols: size.Cols, Rows: size.Rows})
		var sp *spawned
		if err == nil {
			sp, err = startAtGate(spec, env, stdio{theirs, theirs, theirs}, attributes)
		}
		if err != nil {
			ours.Close()
			return nil, err
		}
		sp.stdio, sp.mark = stdio{stdin: ours, stdout: ours}, mark
		// What the end of a terminal sends: shells do not mind SIGTERM. A job
		// that was stopped hears it once it goes on.
		sp.polite = []syscall.Signal{syscall.SIGHUP, syscall.SIGCONT}
		return sp, nil
	}
}

// resize tells the terminal its size, and the programs on it that it changed.
// The descriptor is held meanwhile: pty.Setsize would use it although the end
// of the child closes it at the same time.
func (sp *spawned) resize(size Size) error {
	raw, err := sp.stdin.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		failed = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Col: size.Cols, Row: size.Rows})
	})
	return errors.Join(err, failed)
}

// startAtGate executes this program as the gate of spec's.
func startAtGate(spec Spec, env []string, theirs stdio, attributes *syscall.SysProcAttr) (*spawned, error) {
	program, err := self()
	if err != nil {
		return nil, fmt.Errorf("find Berth's own executable: %w", err)
	}
	near, far, err := socketPair()
	if err != nil {
		return nil, fmt.Errorf("make the gate's channel: %w", err)
	}
	defer far.Close()
	proc, err := os.StartProcess(program, append([]string{gate.Name, spec.Path}, spec.Args...), &os.ProcAttr{
		Dir: spec.Dir, Env: env, Sys: attributes,
		Files: []*os.File{theirs.stdin, theirs.stdout, theirs.stderr, far}, // far is gate.Channel
	})
	if err != nil {
		near.Close()
		return nil, fmt.Errorf("start the gate of %s: %w", spec.Path, err)
	}
	sp := &spawned{proc: proc, gate: near, group: group{known: map[identity]bool{}}}
	// Unreaped, it cannot have vanished from the table.
	e, err := entryOf(proc.Pid)
	if err != nil {
		near.Close()
		_, _ = proc.Wait() // ends, as its channel did
		return nil, fmt.Errorf("identify the process: %w", err)
	}
	sp.leader = e.identity
	return sp, nil
}

func socketPair() (near, far *os.File, err error) {
	syscall.ForkLock.RLock() // for systems without SOCK_CLOEXEC
	defer syscall.ForkLock.RUnlock()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return nil, nil, err
	}
	unix.CloseOnExec(fds[0])
	unix.CloseOnExec(fds[1])
	// Ours alone does not block: the gate's read does.
	if err := unix.SetNonblock(fds[0], true); err != nil {
		return nil, nil, errors.Join(err, unix.Close(fds[0]), unix.Close(fds[1]))
	}
	return os.NewFile(uintptr(fds[0]), "gate"), os.NewFile(uintptr(fds[1]), "gate"), nil
}

// release opens the gate and returns once the program runs.
func (sp *spawned) release() error {
	defer sp.gate.Close()
	if err := sp.gate.SetDeadline(time.Now().Add(execWait)); err != nil {
		return fmt.Errorf("open the gate: %w", err)
	}
	if _, err := sp.gate.Write([]byte{gate.Open}); err != nil {
		return fmt.Errorf("open the gate: %w", err)
	}
	answer, err := io.ReadAll(io.LimitReader(sp.gate, 16))
	if err != nil {
		return fmt.Errorf("wait for the program: %w", err)
	}
	if len(answer) == 0 {
		return nil
	}
	errno, err := strconv.Atoi(string(answer))
	if err != nil {
		return fmt.Errorf("the gate answered %q", answer)
	}
	return syscall.Errno(errno)
}

// abandon shuts the gate for good: the process ends and nothing has run.
func (sp *spawned) abandon() { sp.gate.Close() }

// awaitExit returns when the process has ended, and notes what it leaves
// behind in its group. It is not reaped yet.
func (sp *spawned) awaitExit() error {
	if err := awaitExit(sp.leader.pid); err != nil {
		return fmt.Errorf("wait for the process: %w", err)
	}
	members, err := sp.members()
	sp.left = leftover{leader: sp.leader.pid, known: map[identity]bool{}}
	for _, e := range members {
		if sp.left.has(e) {
			sp.left.known[e.identity] = true
		}
	}
	return err
}

// reap takes the exit status and gives the pid back to the system.
func (sp *spawned) reap() Exit {
	sp.mu.Lock()
	defer sp.mu.Unlock()
	state, err := sp.proc.Wait()
	sp.reaped = true
	if err != nil {
		return Exit{Code: -1, Err: fmt.Errorf("take the exit status: %w", err)}
	}
	status := state.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return Exit{Code: -1, Signal: unix.SignalName(status.Signal())}
	}
	return Exit{Code: status.ExitStatus()}
}

// end ends the process and all that came of it (see end).
func (sp *spawned) end(ctx context.Context, grace time.Duration) error {
	return end(ctx, sp, grace, sp.polite...)
}

// endLeft ends what a process that ended by itself left in its group. What left
// the group, as a daemon does, stays until Berth ends.
func (sp *spawned) endLeft() error {
	if len(sp.left.known) == 0 {
		return nil
	}
	return end(context.Background(), sp.left, leftGrace, sp.polite...)
}

// close gives back what is held beyond the end of the process: nothing here.
func (sp *spawned) close() {}
