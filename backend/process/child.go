package process

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"
)

// Bounds of a child.
const (
	defaultStderrTail = 64 << 10
	// drainWait is how long after the end of a child its pipes are read, when
	// a process that it left behind still holds them.
	drainWait = 500 * time.Millisecond
	// quietWait: a pipe in which nothing comes for that long after drainWait
	// counts as empty.
	quietWait = 20 * time.Millisecond
	// drainBytes bounds what is read of stdout after drainWait. It is the
	// largest pipe of an ordinary Linux; the usual one is 64 KiB.
	drainBytes = 1 << 20
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
	stdout    *output
	stderr    tail
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
		stdout: &output{file: sp.stdio[1]}, stderr: tail{max: spec.StderrTail},
		drained: make(chan struct{}), done: make(chan struct{}),
	}
	if c.stderr.max <= 0 {
		c.stderr.max = defaultStderrTail
	}
	go func() {
		defer close(c.drained)
		_, _ = io.Copy(&c.stderr, sp.stdio[2]) // ends with the pipe, or at attend's deadline
		sp.stdio[2].Close()
	}()
	return c
}

func (c *child) ID() string            { return c.id }
func (c *child) Pid() int              { return c.proc.Pid }
func (c *child) Stdin() io.WriteCloser { return c.stdio[0] }
func (c *child) Stdout() io.Reader     { return c.stdout }
func (c *child) StderrTail() string    { return c.stderr.String() }
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
	c.stdout.endBy(deadline)
	_ = c.stdio[2].SetReadDeadline(deadline) // fails when it is closed already
	exit := c.reap()
	exit.Err = errors.Join(exit.Err, err)
	c.stdio[0].Close()
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
	c.stdio[0].Close()
	select {
	case <-c.done:
	case <-time.After(grace):
	case <-ctx.Done():
	}
	if err := c.end(ctx, grace); err != nil {
		return err
	}
	// Gone from the table, so that attend is about to end too.
	<-c.done
	return nil
}

// output is a child's stdout. After the child's end it yields what is in the
// pipe and then io.EOF, even if another process holds the pipe open.
type output struct {
	file *os.File

	mu    sync.Mutex
	ended bool
	after int // bytes read after the deadline
}

// endBy sets the time after which only what is already there is read.
func (o *output) endBy(deadline time.Time) {
	o.mu.Lock()
	o.ended = true
	o.mu.Unlock()
	_ = o.file.SetReadDeadline(deadline) // fails when it is closed already
}

func (o *output) Read(p []byte) (int, error) {
	n, err := o.file.Read(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return o.readLate(p)
	}
	if err != nil {
		o.file.Close()
		if errors.Is(err, os.ErrClosed) {
			err = io.EOF
		}
	}
	return n, err
}

func (o *output) readLate(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.after < drainBytes && o.file.SetReadDeadline(time.Now().Add(quietWait)) == nil {
		if n, err := o.file.Read(p); err == nil {
			o.after += n
			// Expired again, so that the next read comes here too.
			_ = o.file.SetReadDeadline(time.Now().Add(-time.Second))
			return n, nil
		}
	}
	o.file.Close()
	return 0, io.EOF
}
