package cursor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"berth/backend/process"
	"berth/backend/provider"
	"berth/backend/provider/wire"
)

const (
	// eventBuffer lets the reader be a little ahead of the chat.
	eventBuffer = 64
	// stopGrace is for each step of ending a turn's process.
	stopGrace = time.Second
	// drainGrace is for the last events to be taken by a chat that closes.
	drainGrace = 2 * time.Second
	// maxPrompt bounds a message, in bytes.
	maxPrompt = 8 << 20
	// maxLine bounds a line, in bytes.
	maxLine = 64 << 20
	// stderrTail is what is kept of the CLI's stderr, in bytes.
	stderrTail = 64 << 10
)

// starter starts processes; *process.Supervisor is one.
type starter interface {
	Start(ctx context.Context, spec process.Spec) (process.Process, error)
}

// session is a conversation, between the processes of its turns.
type session struct {
	processes starter
	clock     provider.Clock
	path      string
	env       []string
	spec      provider.Spec
	events    chan provider.Event
	// abandoned ends the sending of events when nobody takes them after Close.
	abandoned chan struct{}

	closeOnce sync.Once
	closeErr  error
	shutOnce  sync.Once

	mu           sync.Mutex
	conversation string
	turn         *turn
	closing      bool
	turns        sync.WaitGroup
}

func newSession(processes starter, clock provider.Clock, path string, env []string, spec provider.Spec) *session {
	return &session{processes: processes, clock: clock, path: path, env: env, spec: spec, conversation: spec.Resume,
		events: make(chan provider.Event, eventBuffer), abandoned: make(chan struct{})}
}

func checkFolder(path string) error {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return &provider.Error{Code: "cwd_missing", Text: "The folder of this chat is not there.", Detail: path, Err: err}
	}
	return nil
}

// modeArguments are those of a permission mode (CONTRACTS, Permission modes).
func modeArguments(mode provider.Permission) ([]string, error) {
	switch mode {
	case provider.Full:
		return []string{"--force"}, nil
	case provider.PlanOnly:
		return []string{"--mode", "plan"}, nil
	}
	return nil, &provider.Error{Code: "unsupported", Text: fmt.Sprintf("Cursor's agent cannot ask for permissions, so the mode %q cannot be kept. It can plan, or have full access.", mode)}
}

// arguments are those of a turn's process; the prompt is not among them.
func arguments(mode provider.Permission, model, conversation string) ([]string, error) {
	more, err := modeArguments(mode)
	if err != nil {
		return nil, err
	}
	args := append([]string{"--print", "--output-format", "stream-json", "--stream-partial-output", "--trust"}, more...)
	if model != "" {
		args = append(args, "--model="+model)
	}
	if conversation != "" {
		args = append(args, "--resume="+conversation)
	}
	return args, nil
}

// Events implements provider.Session.
func (s *session) Events() <-chan provider.Event { return s.events }

// Processes implements provider.Session.
func (s *session) Processes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn == nil || s.turn.proc == nil {
		return nil
	}
	return []string{s.turn.proc.ID()}
}

// Send implements provider.Session: it starts the turn's process and gives it
// the message.
func (s *session) Send(ctx context.Context, in provider.Input) (provider.Delivery, error) {
	if len(in.Attachments) > 0 {
		return provider.NotSent, &provider.Error{Code: "unsupported", Text: "Cursor's agent takes no attachments."}
	}
	if strings.TrimSpace(in.Text) == "" || len(in.Text) > maxPrompt {
		return provider.NotSent, &provider.Error{Code: "unsupported", Text: fmt.Sprintf("Cursor's agent takes messages of 1 to %d bytes.", maxPrompt)}
	}
	if in.Mode == "" {
		in.Mode = s.spec.Mode
	}
	t := &turn{id: in.Turn}
	if err := s.reserve(t); err != nil {
		return provider.NotSent, err
	}
	if err := s.start(ctx, t, in); err != nil {
		s.release(t)
		return provider.NotSent, err
	}
	return s.deliver(t, in.Text)
}

func (s *session) reserve(t *turn) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closing:
		return &provider.Error{Code: "agent_ended", Text: "This conversation was closed."}
	case s.turn != nil:
		return errors.New("a turn is running")
	}
	t.resumed = s.conversation
	s.turn = t
	return nil
}

func (s *session) release(t *turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn == t {
		s.turn = nil
	}
}

// start starts a turn's process and the goroutine that reads it.
func (s *session) start(ctx context.Context, t *turn, in provider.Input) error {
	if err := checkFolder(s.spec.Cwd); err != nil {
		return err
	}
	args, err := arguments(in.Mode, in.Model, t.resumed)
	if err != nil {
		return err
	}
	proc, err := s.processes.Start(ctx, process.Spec{
		Path: s.path, Args: args, Dir: s.spec.Cwd, Env: s.env,
		Execution: s.spec.Execution, Label: "cursor-agent", Chat: s.spec.Chat, StderrTail: stderrTail,
	})
	if err != nil {
		return &provider.Error{Code: "start_failed", Text: "Cursor's agent could not be started.", Detail: cut(err.Error(), maxDetail), Err: err}
	}
	t.dog = newDog(s.clock, t)
	t.p = newProjector(t.id, s.spec.Cwd, t.dog.Working)
	t.lines = wire.NewLines(proc.Stdout(), nil, maxLine)
	s.mu.Lock()
	t.proc = proc
	stopping := t.stopping || s.closing
	s.turns.Add(1)
	s.mu.Unlock()
	t.dog.Begin()
	go s.run(t)
	if stopping {
		t.withhold()
		return errors.New("the turn was stopped before it was sent")
	}
	return nil
}

// deliver writes the message and closes the input, which has the CLI begin.
func (s *session) deliver(t *turn, text string) (provider.Delivery, error) {
	n, err := t.proc.Stdin().Write([]byte(text))
	if err == nil {
		err = t.proc.Stdin().Close()
	}
	if err == nil {
		return provider.Sent, nil
	}
	t.withhold()
	d := provider.Uncertain
	if n == 0 {
		d = provider.NotSent
	}
	return d, &provider.Error{Code: "start_failed", Text: "Cursor's agent did not take the message.", Detail: cut(err.Error(), maxDetail), Err: err}
}

// Steer implements provider.Session: the agent cannot.
func (s *session) Steer(context.Context, provider.Input) (provider.Delivery, error) {
	return provider.NotSent, provider.ErrUnsupported
}

// Answer implements provider.Session: the agent never asks.
func (s *session) Answer(context.Context, string, provider.Answer) error {
	return provider.ErrNoRequest
}

// Interrupt implements provider.Session: it ends the turn's process.
func (s *session) Interrupt(ctx context.Context) error {
	s.mu.Lock()
	t := s.turn
	var proc process.Process
	if t != nil {
		t.stopping, proc = true, t.proc
	}
	s.mu.Unlock()
	if proc == nil {
		return nil
	}
	return proc.Stop(ctx, stopGrace)
}

// Close implements provider.Session.
func (s *session) Close(ctx context.Context) error {
	s.closeOnce.Do(func() {
		s.mu.Lock()
		s.closing = true
		s.mu.Unlock()
		s.closeErr = s.Interrupt(ctx)
		ended := make(chan struct{})
		go func() {
			s.turns.Wait()
			s.shut(&provider.Closed{})
			close(ended)
		}()
		late := make(chan struct{})
		stop := s.clock.AfterFunc(drainGrace, func() { close(late) })
		defer stop()
		select {
		case <-ended:
		case <-late:
		case <-ctx.Done():
		}
		close(s.abandoned)
	})
	return s.closeErr
}

// shut sends the last event, once.
func (s *session) shut(c *provider.Closed) {
	s.shutOnce.Do(func() {
		s.mu.Lock()
		s.closing = true
		s.mu.Unlock()
		s.send([]provider.Event{{Closed: c}})
		close(s.events)
	})
}

func (s *session) send(events []provider.Event) {
	for _, e := range events {
		select {
		case s.events <- e:
		case <-s.abandoned:
		}
	}
}
