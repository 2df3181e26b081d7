//go:build unix

package process

import (
	"errors"
	"fmt"
	"syscall"
)

// entry is a process as the system's table shows it.
type entry struct {
	identity
	parent, group, session int
	dead                   bool // ended, not yet reaped by its parent
	name                   string
}

// signalEach sends a signal to each of these and to no others.
func signalEach(entries []entry, sig syscall.Signal) error {
	var err error
	for _, e := range entries {
		if sigErr := signalExactly(e, sig); sigErr != nil {
			err = errors.Join(err, fmt.Errorf("signal %s (pid %d): %w", e.name, e.pid, sigErr))
		}
	}
	return err
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
