package terminal

import (
	"context"
	"sync"

	"berth/backend/process"
)

// readBytes is what is read of a terminal at once.
const readBytes = 32 << 10

// session is one terminal and what it wrote.
type session struct {
	id   string
	proc process.Terminal

	mu    sync.Mutex
	about Session
	ring  ring
	wake  chan struct{} // closed and replaced when there is more, or the end
}

func newSession(proc process.Terminal, about Session) *session {
	return &session{id: about.ID, proc: proc, about: about, wake: make(chan struct{})}
}

func (s *session) snapshot() Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.about
}

// follow keeps what the terminal writes until its end. It never waits for a
// reader: a program must not stop because nobody looks.
func (s *session) follow() {
	buf := make([]byte, readBytes)
	for {
		n, err := s.proc.Stdout().Read(buf)
		s.change(func() { s.ring.write(buf[:n]) })
		if err != nil {
			break
		}
	}
	<-s.proc.Done()
	exit := s.proc.Exit()
	s.change(func() { s.about.Exit = &exit })
}

// change changes the session and wakes those who wait.
func (s *session) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	close(s.wake)
	s.wake = make(chan struct{})
}

func (s *session) output(ctx context.Context, after int64) Output {
	for {
		s.mu.Lock()
		from, data := s.ring.read(after, pieceBytes)
		next := from + int64(len(data))
		ended := s.about.Exit != nil && next == s.ring.end
		wake := s.wake
		s.mu.Unlock()
		if len(data) > 0 || ended || ctx.Err() != nil {
			return Output{After: from, Next: next, Data: data, Ended: ended}
		}
		select {
		case <-wake:
		case <-ctx.Done():
		}
	}
}

func (s *session) resize(columns, rows int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.about.Exit != nil {
		return errEnded
	}
	if err := s.proc.Resize(process.Size{Cols: uint16(columns), Rows: uint16(rows)}); err != nil {
		return err
	}
	s.about.Columns, s.about.Rows = columns, rows
	return nil
}
