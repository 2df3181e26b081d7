package claude

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"berth/backend/provider"
	"berth/backend/provider/wire"
)

// exitGrace is how long a process may live on after its output has ended.
const exitGrace = 5 * time.Second

// end tells what the end of the output means, after the process is gone.
func (s *session) end(cause error) {
	exited := s.exit()
	s.mu.Lock()
	s.ended = true
	t := s.turn
	s.turn = nil
	for id := range s.requests {
		s.settle(id)
		s.tell(provider.Event{Withdrawn: id})
	}
	s.p.end()
	if t != nil && t.begun && s.expired != nil {
		s.tell(provider.Event{TurnEnded: &provider.TurnEnded{State: "failed", Err: s.expired}})
	}
	s.tell(provider.Event{Closed: s.closed(cause, exited)})
	events := s.p.take()
	s.mu.Unlock()
	s.dog.Stop()
	s.writers.Wait()
	s.send(events)
	close(s.events)
}

// exit waits for the process, and ends one that lives on without output.
func (s *session) exit() bool {
	late := make(chan struct{})
	stop := s.clock.AfterFunc(exitGrace, func() { close(late) })
	defer stop()
	select {
	case <-s.proc.Done():
		return true
	case <-late:
	}
	_ = s.proc.Stop(context.Background(), closeGrace) // the chat's own stop finds what is left
	select {
	case <-s.proc.Done():
		return true
	default:
		return false
	}
}

// closed makes the last event.
func (s *session) closed(cause error, exited bool) *provider.Closed {
	c := &provider.Closed{Stderr: s.proc.StderrTail()}
	if exited {
		if exit := s.proc.Exit(); exit.Code >= 0 {
			c.ExitCode = &exit.Code
		}
	}
	switch {
	case s.expired != nil:
		c.Err = s.expired
	case s.closing:
	case errors.Is(cause, wire.ErrLineTooLong):
		c.Err = &provider.Error{Code: "protocol", Text: "Claude Code sent more in one line than Berth takes.", Err: cause}
	default:
		c.Err = s.death(cause, exited)
	}
	return c
}

// death says how an agent ended that nobody had asked to.
func (s *session) death(cause error, exited bool) *provider.Error {
	e := &provider.Error{Code: "agent_ended", Text: "Claude Code ended by itself.", Detail: cut(lastLine(s.proc.StderrTail()), maxDetail)}
	if exited {
		switch exit := s.proc.Exit(); {
		case exit.Signal != "":
			e.Text = fmt.Sprintf("Claude Code was ended by a signal (%s).", exit.Signal)
		case exit.Code != 0:
			e.Text = fmt.Sprintf("Claude Code ended with exit code %d.", exit.Code)
		}
	}
	if e.Detail == "" {
		e.Detail = s.garbage
	}
	if !errors.Is(cause, io.EOF) {
		e.Err = cause
	}
	return e
}
