package process

import (
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
	"time"
)

// Bounds of reading after a child's end.
const (
	// drainWait is how long after the end of a child its pipes are read, when
	// a process that it left behind still holds them.
	drainWait = 500 * time.Millisecond
	// quietWait: a pipe in which nothing comes for that long after drainWait
	// counts as empty.
	quietWait = 20 * time.Millisecond
	// drainBytes bounds what is read of stdout after drainWait. It is the
	// largest pipe of an ordinary Linux; the usual one is 64 KiB.
	drainBytes = 1 << 20
)

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
		// EIO is how Linux says that a terminal is on no one's any more.
		if errors.Is(err, os.ErrClosed) || errors.Is(err, syscall.EIO) {
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
