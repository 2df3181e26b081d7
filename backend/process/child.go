package process

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

// Bounds of a child.
const (
	defaultStderrTail = 64 << 10
	// leftGrace is what a child's leftovers have from the request to end until
	// they are killed.
	leftGrace = time.Second
)

// child is a Process of this supervisor.
type child struct {
	*spawned
	id        string
	spec      Spec
	startedAt time.Time
	input     io.WriteCloser
	output    *output
	tail      tail          // of stderr
	drained   chan struct{} // stderr has been read to its end
	done      chan struct{}

	mu      sync.Mutex
	exit    Exit
	stopped bool // Stop was called

	notStarted error // why it was not let through its gate
}

func newChild(id string, spec Spec, sp *spawned) *child {
	c := &child{
		spawned: sp, id: id, spec: spec, startedAt: time.Now(),
		output: &output{file: sp.stdout}, tail: tail{max: spec.StderrTail},
		drained: make(chan struct{}), done: make(chan struct{}),
	}
	if c.tail.max <= 0 {
		c.tail.max = defaultStderrTail
	}
	if c.onTerminal() {
		c.input = &keyboard{file: c.stdin}
		close(c.drained)
		return c
	}
	c.input = c.stdin
	go func() {
		defer close(c.drained)
		_, _ = io.Copy(&c.tail, c.stderr) // ends with the pipe, or at attend's deadline
		c.stderr.Close()
	}()
	return c
}

func (c *child) onTerminal() bool { return c.stderr == nil }

func (c *child) ID() string            { return c.id }
func (c *child) Pid() int              { return c.proc.Pid }
func (c *child) Stdin() io.WriteCloser { return c.input }
func (c *child) Stdout() io.Reader     { return c.output }
func (c *child) StderrTail() string    { return c.tail.String() }
func (c *child) Done() <-chan struct{} { return c.done }

func (c *child) Exit() Exit {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.exit
}

// attend waits for the end, reaps, and closes done.
func (c *child) attend() {
	err := c.awaitExit()
	deadline := time.Now().Add(drainWait)
	c.output.endBy(deadline)
	if !c.onTerminal() {
		_ = c.stderr.SetReadDeadline(deadline) // fails when it is closed already
		c.stdin.Close()
	}
	exit := c.reap()
	exit.Err = errors.Join(exit.Err, err)
	<-c.drained
	c.mu.Lock()
	c.exit = exit
	c.mu.Unlock()
	close(c.done)
}

// discard ends a child that was not let through its gate, because of err.
func (c *child) discard(err error) error {
	c.mu.Lock()
	c.notStarted = err
	c.mu.Unlock()
	c.abandon()
	return c.Stop(context.Background(), leftGrace)
}

// Stop may be called several times and after the end: it proves each time
// that nothing is left. When ctx ends it waits no longer but kills at once. It
// returns within two graces and killWait.
func (c *child) Stop(ctx context.Context, grace time.Duration) error {
	c.mu.Lock()
	c.stopped = true
	c.mu.Unlock()
	if !c.onTerminal() { // it has no end of input
		c.stdin.Close()
		select {
		case <-c.done:
		case <-time.After(grace):
		case <-ctx.Done():
		}
	}
	if err := c.end(ctx, grace); err != nil {
		return err
	}
	// Gone from the table, so that attend is about to end too.
	<-c.done
	return nil
}
