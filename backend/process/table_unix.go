//go:build unix

package process

import (
	"errors"
	"syscall"
)

// entry is a process as the system's table shows it. Pid and start tell it
// from any other of this boot.
type entry struct {
	pid, parent, group, session int
	start                       int64 // in the platform's own unit
	dead                        bool  // ended, not yet reaped by its parent
	name                        string
}

// signalCompared sends a signal after a look at the start time. Between the
// two the pid could be given to another; it serves where there is no pidfd.
func signalCompared(e entry, sig syscall.Signal) error {
	if now, err := entryOf(e.pid); err != nil || now.start != e.start {
		return nil // gone
	}
	if err := syscall.Kill(e.pid, sig); !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}
