//go:build unix

package process

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"time"
)

// Bounds of ending a group.
const (
	// killWait is how long killed processes may take to vanish. Only one that
	// hangs in the kernel takes longer.
	killWait = 3 * time.Second
	// Polls of the process table while waiting for processes that are not our
	// own children: soon at first, then seldom, as a scan costs milliseconds.
	pollFirst = 5 * time.Millisecond
	pollLast  = 100 * time.Millisecond
	// namedSurvivors bounds an error's text.
	namedSurvivors = 10
)

// quarry is a set of processes that is to end.
type quarry interface {
	members() ([]entry, error)
	signal(syscall.Signal) error
}

// end asks q to end with the polite signals, waits for grace, then kills. Once
// ctx is done it waits no more and kills at once. It returns nil when the
// process table shows that nothing is left.
func end(ctx context.Context, q quarry, grace time.Duration, polite ...syscall.Signal) error {
	if left, err := look(q); err == nil && len(left) == 0 {
		return nil
	}
	for _, sig := range polite {
		_ = q.signal(sig) // what it did not reach, the next look shows
	}
	if gone(ctx, q, grace) {
		return nil
	}
	deadline := time.Now().Add(killWait)
	pause := pollFirst
	for {
		killErr := q.signal(syscall.SIGKILL)
		time.Sleep(pause)
		left, err := look(q)
		if err == nil && len(left) == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return survivors(left, err, killErr)
		}
		pause = min(2*pause, pollLast)
	}
}

// gone waits until nothing is left of q, at most for as long as given.
func gone(ctx context.Context, q quarry, atMost time.Duration) bool {
	timeout := time.NewTimer(atMost)
	defer timeout.Stop()
	pause := pollFirst
	for {
		select {
		case <-time.After(pause):
		case <-timeout.C:
			return false
		case <-ctx.Done():
			return false
		}
		if left, err := look(q); err == nil && len(left) == 0 {
			return true
		}
		pause = min(2*pause, pollLast)
	}
}

// look reads the members. The table is not read in one instant: a process that
// forks and ends meanwhile can hide its child from one reading, so that only a
// second one proves that nothing is left.
func look(q quarry) ([]entry, error) {
	left, err := q.members()
	if err == nil && len(left) == 0 {
		return q.members()
	}
	return left, err
}

func survivors(left []entry, scanErr, killErr error) error {
	if scanErr != nil {
		return fmt.Errorf("not proven gone: %w", scanErr)
	}
	var names []string
	for _, e := range left[:min(len(left), namedSurvivors)] {
		names = append(names, fmt.Sprintf("%s (pid %d)", e.name, e.pid))
	}
	if more := len(left) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	if killErr != nil {
		return fmt.Errorf("still running: %s: %w", strings.Join(names, ", "), killErr)
	}
	return fmt.Errorf("still running: %s", strings.Join(names, ", "))
}
