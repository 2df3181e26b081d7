package process

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// zombie is SZOMB of sys/proc.h.
const zombie = 5

// bootID names this run of the system.
var bootID = sync.OnceValues(func() (string, error) {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return "", fmt.Errorf("read the boot id: %w", err)
	}
	return id, nil
})

// entryOf reads one process. The error is fs.ErrNotExist when there is none.
func entryOf(pid int) (entry, error) {
	found, err := unix.SysctlKinfoProcSlice("kern.proc.pid", pid)
	if err != nil {
		return entry{}, err
	}
	if len(found) == 0 {
		return entry{}, fs.ErrNotExist
	}
	return entryFrom(&found[0]), nil
}

func entryFrom(k *unix.KinfoProc) entry {
	pid := int(k.Proc.P_pid)
	session, err := unix.Getsid(pid)
	if err != nil {
		session = 0 // gone, or not ours to ask
	}
	name, _, _ := bytes.Cut(k.Proc.P_comm[:], []byte{0})
	return entry{
		// Microseconds since 1970.
		identity: identity{pid: pid, start: k.Proc.P_starttime.Sec*1e6 + int64(k.Proc.P_starttime.Usec)},
		parent:   int(k.Eproc.Ppid),
		group:    int(k.Eproc.Pgid),
		session:  session,
		dead:     k.Proc.P_stat == zombie,
		name:     string(name),
	}
}

// table reads all processes.
func table() ([]entry, error) {
	found, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, fmt.Errorf("read the process table: %w", err)
	}
	entries := make([]entry, 0, len(found))
	for i := range found {
		entries = append(entries, entryFrom(&found[i]))
	}
	return entries, nil
}

// environ is the environment with which a process was started, readable for
// those of the same user. The system gives a count of arguments, the path of
// the executable, padding, then arguments and environment, each ended by a
// zero byte (KERN_PROCARGS2).
func environ(pid int) ([]string, error) {
	b, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil {
		return nil, err
	}
	if len(b) < 4 {
		return nil, errors.New("short process arguments")
	}
	arguments := int(binary.NativeEndian.Uint32(b))
	_, rest, _ := bytes.Cut(b[4:], []byte{0})
	parts := bytes.Split(bytes.TrimLeft(rest, "\x00"), []byte{0})
	if arguments > len(parts) {
		return nil, errors.New("process arguments without an environment")
	}
	var env []string
	for _, v := range parts[arguments:] {
		if len(v) == 0 {
			break // what follows is the loader's own
		}
		env = append(env, string(v))
	}
	return env, nil
}

// memory is unknown: the system tells it to C programs only.
func memory(int) int64 { return 0 }

// signalExactly sends a signal to e, if its pid is still its own.
func signalExactly(e entry, sig syscall.Signal) error { return signalCompared(e, sig) }

// awaitExit returns when the child pid has ended, and leaves it unreaped, so
// that its pid stays taken.
func awaitExit(pid int) error {
	queue, err := unix.Kqueue()
	if err != nil {
		return err
	}
	defer unix.Close(queue)
	change := unix.Kevent_t{Fflags: unix.NOTE_EXIT}
	unix.SetKevent(&change, pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	event := make([]unix.Kevent_t, 1)
	for {
		_, err := unix.Kevent(queue, []unix.Kevent_t{change}, event, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.ESRCH):
			return nil // ended before it could be watched
		}
		return err
	}
}

// self is what is executed as the gate.
func self() (string, error) { return os.Executable() }

// childAttributes has a child lead a session of its own, which makes it the
// leader of its group too and takes the terminal of a `berth serve` from it:
// a program that asks for a password there would stop, not fail. The system
// has no signal for the death of a parent; what a killed Berth leaves is ended
// at the next start.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true}
}
