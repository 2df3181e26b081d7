package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	sdk "github.com/coder/acp-go-sdk"

	"berth/backend/process"
	"berth/backend/provider"
	"berth/backend/provider/watch"
	"berth/backend/provider/wire"
)

// session is one conversation. All events but a terminal's live output are
// emitted by the one goroutine that reads the agent's lines, in their order.
type session struct {
	host  provider.Host
	spec  provider.Spec
	entry Entry

	proc   process.Process
	rpc    *wire.RPC
	events chan provider.Event

	ctx       context.Context // ends with the session
	cancel    context.CancelFunc
	work      sync.WaitGroup // goroutines that may emit
	abandoned chan struct{}  // closed when nobody reads events any more
	leave     sync.Once
	done      chan struct{} // closed after Closed was emitted

	files *files // the protocol's file methods
	terms *terminals
	dog   *watch.Dog

	mu       sync.Mutex
	id       sdk.SessionId
	caps     sdk.AgentCapabilities
	info     *sdk.Implementation
	auth     []authMethod
	model    setting
	effort   setting
	mode     setting
	policy   policy
	phase    phase
	replayed int    // updates of the history while loading
	early    levels // what was said before anybody could listen
	turn     *turn  // that runs
	last     *turn  // that ran before: its stragglers are told of there
	turns    int
	sending  bool
	requests map[string]*request
	made     int // keys made by us
	garbage  int // lines in a row that are not of the protocol
	lastLine string
	closing  bool
	fatal    *provider.Error // why we ended the agent
	told     bool            // the instructions were given to this conversation
	granted  grants          // for the whole session
	usage    provider.Usage
}

// phase is where a session stands.
type phase int

const (
	starting phase = iota
	loading        // updates are history
	open
)

// levels are the latest of each kind of event that replaces its predecessor.
type levels struct {
	commands *[]provider.Command
	usage    *provider.Usage
}

// turn is the one that runs.
type turn struct {
	number      int
	accepted    bool
	interrupted bool
	failure     *provider.Error // why a watchdog ended it
	unknown     map[string]int
	granted     grants
	denied      []string // calls that the user denied, to be told of
	withdrawn   []string // requests that an interrupt answered

	// Of the reading goroutine alone.
	tools    map[string]*tool
	order    []string // of tools
	message  message
	messages int
}

// start starts the agent and the reading of its lines.
func start(ctx context.Context, host provider.Host, spec provider.Spec, entry Entry, path string) (*session, error) {
	files, err := openFiles(spec.Cwd)
	if err != nil {
		return nil, &provider.Error{Code: "cwd_missing", Text: "The folder of this chat cannot be opened.", Detail: err.Error(), Err: err}
	}
	env := make([]string, 0, len(entry.Env)+len(host.Env))
	for name, value := range entry.Env {
		env = append(env, name+"="+value)
	}
	proc, err := host.Processes.Start(ctx, process.Spec{
		Path: path, Args: entry.Args, Dir: spec.Cwd, Env: append(env, host.Env...),
		Execution: spec.Execution, Label: entry.ID, Chat: spec.Chat,
	})
	if err != nil {
		files.close()
		return nil, &provider.Error{Code: "start_failed", Text: entry.Title + " could not be started.", Detail: err.Error(), Err: err}
	}
	s := newSession(host, spec, entry, proc, files)
	go s.read()
	return s, nil
}

func newSession(host provider.Host, spec provider.Spec, entry Entry, proc process.Process, files *files) *session {
	ctx, cancel := context.WithCancel(context.Background())
	s := &session{
		host: host, spec: spec, entry: entry, proc: proc, files: files,
		rpc:    wire.NewRPC(wire.NewLines(proc.Stdout(), proc.Stdin(), 0), "2.0"),
		events: make(chan provider.Event, eventsBuffer),
		ctx:    ctx, cancel: cancel,
		abandoned: make(chan struct{}), done: make(chan struct{}),
		requests: map[string]*request{},
	}
	s.terms = newTerminals(s)
	s.dog = watch.New(host.Clock, silenceLimits, s.silence)
	return s
}

// read handles the agent's lines until they end, then ends the session.
func (s *session) read() {
	err := s.rpc.Run(s.handle, s.stray)
	s.dog.Stop()
	s.cancel()
	s.terms.close()
	s.files.close()
	stopProcess(s.proc) // it may have closed its output and live on
	s.work.Wait()
	s.emit(provider.Event{Closed: s.closed(err)})
	close(s.events)
	close(s.done)
}

// closed says why the session ended.
func (s *session) closed(readErr error) *provider.Closed {
	s.mu.Lock()
	defer s.mu.Unlock()
	end := &provider.Closed{Stderr: s.proc.StderrTail()}
	select {
	case <-s.proc.Done():
		if exit := s.proc.Exit(); exit.Code >= 0 {
			end.ExitCode = &exit.Code
		}
	default:
	}
	switch {
	case s.fatal != nil:
		end.Err = s.fatal
	case s.closing:
	case errors.Is(readErr, wire.ErrLineTooLong):
		end.Err = &provider.Error{Code: "protocol", Text: s.entry.Title + " sent a line that is too long.", Err: readErr}
	default:
		end.Err = &provider.Error{Code: "agent_ended", Text: s.entry.Title + " ended unexpectedly.", Detail: s.endDetail(end.Stderr), Action: "send_again"}
	}
	return end
}

// endDetail is the agent's own last word: of stderr, else what it printed
// instead of the protocol, else how it exited.
func (s *session) endDetail(stderr string) string {
	if line := lastLine(stderr); line != "" {
		return line
	}
	if s.lastLine != "" {
		return s.lastLine
	}
	select {
	case <-s.proc.Done():
		exit := s.proc.Exit()
		if exit.Signal != "" {
			return "signal " + exit.Signal
		}
		return fmt.Sprintf("exit code %d", exit.Code)
	default:
		return ""
	}
}

// emit hands an event to the reader of Events and waits for it, so that a
// slow reader slows the agent. Before the session is open nobody reads:
// levels are kept, anything else belongs to no turn and is left out.
func (s *session) emit(e provider.Event) {
	s.mu.Lock()
	if s.phase != open && e.Closed == nil {
		if e.Commands != nil {
			s.early.commands = e.Commands
		}
		if e.Usage != nil {
			s.early.usage = e.Usage
		}
		s.mu.Unlock()
		return
	}
	s.mu.Unlock()
	select {
	case s.events <- e:
	case <-s.abandoned:
	}
}

// Events is closed after the Closed event.
func (s *session) Events() <-chan provider.Event { return s.events }

// Processes is the agent's own process and those of its terminals.
func (s *session) Processes() []string {
	return append([]string{s.proc.ID()}, s.terms.processes()...)
}

// Steer is not part of the protocol.
func (s *session) Steer(context.Context, provider.Input) (provider.Delivery, error) {
	return provider.NotSent, provider.ErrUnsupported
}

// Interrupt asks the agent to end its turn. What it asked the user meanwhile
// is answered as cancelled, as the protocol demands.
func (s *session) Interrupt(ctx context.Context) error {
	s.mu.Lock()
	if s.turn == nil {
		s.mu.Unlock()
		return nil
	}
	s.turn.interrupted = true
	waiting := s.takeRequests()
	s.mu.Unlock()
	return s.bounded(ctx, func() error {
		for _, r := range waiting {
			r.cancelled()
		}
		return s.rpc.Notify(s.ctx, sdk.AgentMethodSessionCancel, sdk.CancelNotification{SessionId: s.id})
	})
}

// bounded runs a write that a stuck agent could hold up for ever; what
// unblocks it at last is the end of the process.
func (s *session) bounded(ctx context.Context, write func() error) error {
	result := make(chan error, 1)
	go func() { result <- write() }()
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close ends the agent and all it started here.
func (s *session) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	s.cancel()
	err := s.proc.Stop(ctx, signalGrace)
	if e := s.terms.stop(ctx); err == nil {
		err = e
	}
	drained := make(chan struct{})
	stop := s.host.Clock.AfterFunc(drainGrace, func() { close(drained) })
	defer stop()
	select {
	case <-s.done:
	case <-drained:
		s.unread()
	case <-ctx.Done():
		s.unread()
	}
	return err
}

// unread gives up on the reader of events.
func (s *session) unread() { s.leave.Do(func() { close(s.abandoned) }) }

// abandon ends a session that never opened.
func (s *session) abandon() {
	s.unread()
	ctx, cancel := context.WithTimeout(context.Background(), 3*signalGrace)
	defer cancel()
	_ = s.Close(ctx)
}

// stopProcess ends a process whose conversation is over.
func stopProcess(p process.Process) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*signalGrace)
	defer cancel()
	_ = p.Stop(ctx, signalGrace)
}

// fail ends the agent for a reason that Closed will tell.
func (s *session) fail(e *provider.Error) {
	s.mu.Lock()
	first := s.fatal == nil && !s.closing
	if first {
		s.fatal = e
	}
	s.mu.Unlock()
	if first {
		go stopProcess(s.proc)
	}
}

// stray takes a line that is not JSON-RPC: a banner, a stray print, garbage.
func (s *session) stray(line []byte) {
	s.mu.Lock()
	s.garbage++
	s.lastLine = firstBytes(string(line), maxDetail)
	tooMany := s.garbage == maxGarbage
	s.mu.Unlock()
	s.emit(provider.Event{Raw: rawLine(line)})
	if tooMany {
		s.fail(&provider.Error{
			Code:   "protocol",
			Text:   fmt.Sprintf("%s does not speak the Agent Client Protocol: %d lines in a row were something else.", s.entry.Title, maxGarbage),
			Detail: s.lastLine,
		})
	}
}

// rawLine keeps a line for the debug view, bounded: what does not fit or is
// no JSON becomes a string of its beginning.
func rawLine(line []byte) json.RawMessage {
	if len(line) <= maxRaw && json.Valid(line) {
		return line
	}
	text, err := json.Marshal(firstBytes(string(line), maxRaw))
	if err != nil {
		return nil
	}
	return text
}
