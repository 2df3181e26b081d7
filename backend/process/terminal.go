package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// keyWait is how long a terminal may take no input before a write gives up: a
// program that reads none must not hold its caller for ever.
const keyWait = 5 * time.Second

// Size of a terminal, in characters.
type Size struct{ Cols, Rows uint16 }

// Terminal is a child with a terminal for its standard streams: Stdout gives
// what the terminal shows, StderrTail is empty, and closing Stdin does
// nothing, since a terminal has no end of input. A write to Stdin fails with
// os.ErrDeadlineExceeded when the program has read nothing for five seconds.
// Stop hangs up before it kills.
type Terminal interface {
	Process
	// Resize changes the size; the programs are told.
	Resize(Size) error
}

// StartTerminal starts a child on a terminal of its own, like Start.
func (s *Supervisor) StartTerminal(ctx context.Context, spec Spec, size Size) (Terminal, error) {
	path, err := s.finder.path(ctx, spec.Path)
	if err != nil {
		return nil, err
	}
	c, err := s.start(ctx, spec, path, spawnOnTerminal(size))
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Resize is of Terminal.
func (c *child) Resize(size Size) error {
	if err := c.resize(size); err != nil {
		return fmt.Errorf("resize the terminal: %w", err)
	}
	return nil
}

// keyboard writes to a terminal.
type keyboard struct {
	file *os.File
	mu   sync.Mutex // the deadline is of one write at a time
}

func (k *keyboard) Write(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	written := 0
	for written < len(p) {
		// Not everywhere: Windows has no deadlines here.
		if err := k.file.SetWriteDeadline(time.Now().Add(keyWait)); err != nil && !errors.Is(err, os.ErrNoDeadline) {
			return written, err
		}
		// In pieces, so that the deadline is for silence, not for the whole.
		n, err := k.file.Write(p[written:min(len(p), written+keyPiece)])
		written += n
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// keyPiece is what Linux's terminal takes at once.
const keyPiece = 4096

// Close does nothing.
func (k *keyboard) Close() error { return nil }
