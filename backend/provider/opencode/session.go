package opencode

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"berth/backend/provider"
	"berth/backend/provider/watch"
	"berth/backend/provider/wire"
)

// session is one conversation. All its events are emitted by one goroutine,
// which reads the event stream and what is put into inject.
type session struct {
	host provider.Host
	spec provider.Spec
	srv  *server

	id        string
	events    chan provider.Event
	ctx       context.Context // ends with the session
	cancel    context.CancelFunc
	inject    chan func() // run by the emitting goroutine
	abandoned chan struct{}
	leave     sync.Once
	done      chan struct{}
	dog       *watch.Dog

	known    catalog // models, commands, agents, the user's rules
	standard string  // model that is used when none is chosen

	mu       sync.Mutex
	mode     provider.Permission // that OpenCode has rules for
	granted  rules               // what was allowed for this chat
	lastID   string              // of the newest message
	turn     *turn
	requests map[string]*request // by OpenCode's id
	closing  bool
	fatal    *provider.Error
	heard    time.Time

	// Of the emitting goroutine alone.
	view  view
	usage provider.Usage
	spent spent
}

// turn is the one that runs.
type turn struct {
	number      int
	accepted    bool
	steering    int // messages put into it that are not accepted yet
	interrupted bool
	failure     *provider.Error // why a watchdog ended it
	withdrawn   []string        // requests that an interrupt dropped

	// Of the emitting goroutine alone.
	answered bool // a message of the model was finished
	finish   string
	problem  *problem        // told by a message of the model
	loose    *problem        // told without one: it may be of an earlier turn
	said     map[string]bool // notices that were made
}

// openSession attaches to the events first, so that none is missed, then
// begins or takes up the conversation.
func openSession(ctx context.Context, host provider.Host, spec provider.Spec, srv *server) (*session, error) {
	s := &session{
		host: host, spec: spec, srv: srv,
		events: make(chan provider.Event, eventsBuffer), inject: make(chan func()),
		abandoned: make(chan struct{}), done: make(chan struct{}),
		requests: map[string]*request{}, granted: rules{{"*", "*", ask}}, heard: host.Clock.Now(),
	}
	s.view = newView()
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.dog = watch.New(host.Clock, silenceLimits, s.silence)
	// What belongs to the opening ends with ctx; the stream goes on.
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	stop := context.AfterFunc(ctx, s.cancel)
	defer stop()
	body, err := srv.stream(s.ctx, spec.Cwd)
	if err != nil {
		s.cancel()
		return nil, startError(err)
	}
	lines := wire.NewLines(body, nil, maxEvent)
	if _, err := lines.Next(); err != nil { // server.connected
		s.cancel()
		body.Close()
		return nil, startError(err)
	}
	if err := s.begin(ctx); err != nil {
		s.cancel()
		body.Close()
		return nil, startError(err)
	}
	first := []provider.Event{{Conversation: s.id}}
	if s.known.commands != nil {
		first = append(first, provider.Event{Commands: &s.known.commands})
	}
	for _, e := range first { // they fit the buffer
		s.events <- e
	}
	go s.read(body, lines)
	s.watchBeat()
	return s, nil
}

// info is a session as OpenCode tells of it.
type info struct {
	ID        string  `json:"id"`
	ParentID  string  `json:"parentID"`
	Directory string  `json:"directory"`
	Cost      float64 `json:"cost"`
	Tokens    tokens  `json:"tokens"`
}

// begin makes the conversation, or takes up the one named in the spec.
func (s *session) begin(ctx context.Context) error {
	var err error
	if s.known, err = s.srv.catalog(ctx, s.spec.Cwd); err != nil {
		return err
	}
	s.standard = s.known.standard
	if err := s.known.check(s.spec.Model, s.spec.Effort); err != nil {
		return err
	}
	permission := forMode(s.spec.Mode, s.known.own)
	var conversation info
	switch {
	case s.spec.Resume == "":
		err = s.srv.post(ctx, "/session", s.spec.Cwd, map[string]any{"permission": permission}, &conversation)
	default:
		conversation, err = s.takeUp(ctx)
		if err == nil {
			err = s.setRules(ctx, conversation.ID, permission)
		}
	}
	if err != nil {
		return err
	}
	if conversation.ID == "" {
		return &provider.Error{Code: "protocol", Text: title + " began a conversation without naming it."}
	}
	s.id, s.mode = conversation.ID, s.spec.Mode
	s.spent = spent{conversation.Cost, conversation.Tokens}
	if s.spec.Resume != "" {
		return s.findLast(ctx)
	}
	return nil
}

// takeUp looks the conversation up before it is gone on with: OpenCode hangs
// when one is continued from another folder.
func (s *session) takeUp(ctx context.Context) (info, error) {
	var old info
	path := "/session/" + s.spec.Resume
	if err := s.srv.get(ctx, path, s.spec.Cwd, &old); err != nil {
		if isStatus(err, http.StatusNotFound) || isStatus(err, http.StatusBadRequest) {
			return info{}, &provider.Error{Code: "not_resumable", Text: title + " does not find this conversation any more.", Detail: err.Error(), Err: err}
		}
		return info{}, err
	}
	if !sameFolder(old.Directory, s.spec.Cwd) {
		return info{}, &provider.Error{Code: "not_resumable", Text: "This conversation belongs to the folder " + old.Directory + ". " + title + " cannot go on with it in another."}
	}
	if s.spec.Fork {
		var fork info
		err := s.srv.post(ctx, path+"/fork", s.spec.Cwd, map[string]any{}, &fork)
		return fork, err
	}
	var status map[string]struct {
		Type string `json:"type"`
	}
	if err := s.srv.get(ctx, "/session/status", s.spec.Cwd, &status); err != nil {
		return info{}, err
	}
	if t := status[old.ID].Type; t != "" && t != "idle" {
		return info{}, &provider.Error{Code: "busy", Text: "This conversation is being worked on in another place.", Action: "send_again"}
	}
	return old, nil
}

func sameFolder(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	realA, errA := filepath.EvalSymlinks(a)
	realB, errB := filepath.EvalSymlinks(b)
	return errA == nil && errB == nil && realA == realB
}

// findLast finds the newest message: what is newer is of a new turn.
func (s *session) findLast(ctx context.Context) error {
	var messages []struct {
		Info struct {
			ID string `json:"id"`
		} `json:"info"`
	}
	if err := s.srv.get(ctx, "/session/"+s.id+"/message?limit=1", s.spec.Cwd, &messages); err != nil {
		return err
	}
	for _, m := range messages {
		s.lastID = max(s.lastID, m.Info.ID)
	}
	return nil
}

// setRules adds rules to a session; the last that match decide.
func (s *session) setRules(ctx context.Context, id string, rs rules) error {
	return s.srv.soon(ctx, http.MethodPatch, "/session/"+id, s.spec.Cwd, map[string]any{"permission": rs}, nil)
}

// read emits events until the stream ends, then Closed.
func (s *session) read(body interface{ Close() error }, lines *wire.Lines) {
	raw := make(chan []byte)
	var readErr error
	go func() {
		defer close(raw)
		for {
			line, err := lines.Next()
			if err != nil {
				readErr = err
				return
			}
			select {
			case raw <- line:
			case <-s.ctx.Done():
				return
			}
		}
	}()
loop:
	for {
		select {
		case line, ok := <-raw:
			if !ok {
				break loop
			}
			s.line(line)
		case f := <-s.inject:
			f()
		case <-s.ctx.Done():
			break loop
		}
	}
	s.cancel()
	body.Close()
	for range raw {
	}
	s.dog.Stop()
	s.emit(provider.Event{Closed: s.closed(readErr)})
	close(s.events)
	s.srv.release()
	close(s.done)
}

// line takes one line of the stream.
func (s *session) line(line []byte) {
	s.mu.Lock()
	s.heard = s.host.Clock.Now()
	s.mu.Unlock()
	data, ok := strings.CutPrefix(string(line), "data:")
	if !ok {
		return // a comment or another field
	}
	s.handle([]byte(strings.TrimSpace(data)))
}

// later has the emitting goroutine run f, unless the session ends first.
func (s *session) later(f func()) {
	go func() {
		select {
		case s.inject <- f:
		case <-s.ctx.Done():
		}
	}()
}

// closed says why the session ended.
func (s *session) closed(readErr error) *provider.Closed {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.fatal != nil:
		return &provider.Closed{Err: s.fatal}
	case s.closing:
		return &provider.Closed{}
	case errors.Is(readErr, wire.ErrLineTooLong):
		return &provider.Closed{Err: &provider.Error{Code: "protocol", Text: title + " sent an event that is too long.", Err: readErr}}
	}
	end := &provider.Closed{Err: &provider.Error{Code: "agent_ended", Text: title + " ended unexpectedly.", Action: "send_again"}}
	// The stream breaks a moment before the process is known to be gone.
	wait := time.NewTimer(time.Second)
	defer wait.Stop()
	select {
	case <-s.srv.proc.Done():
		exit := s.srv.proc.Exit()
		if exit.Code >= 0 {
			end.ExitCode = &exit.Code
		}
		end.Stderr = s.srv.proc.StderrTail()
		end.Err.Detail = lastLine(end.Stderr)
		if end.Err.Detail == "" && exit.Signal != "" {
			end.Err.Detail = "signal " + exit.Signal
		}
	case <-wait.C:
		end.Err.Text = "The connection to " + title + " broke off."
	}
	return end
}

// emit hands an event to the reader of Events and waits for it.
func (s *session) emit(e provider.Event) {
	select {
	case s.events <- e:
	case <-s.abandoned:
	}
}

// watchBeat ends the session when the stream has been silent for too long.
func (s *session) watchBeat() {
	s.host.Clock.AfterFunc(beatLimit, func() {
		if s.ctx.Err() != nil {
			return
		}
		s.mu.Lock()
		silent := s.host.Clock.Now().Sub(s.heard) >= beatLimit
		s.mu.Unlock()
		if silent {
			s.fail(&provider.Error{Code: "no_answer", Text: title + " no longer sends any sign of life.", Action: "send_again"})
			return
		}
		s.watchBeat()
	})
}

// fail ends the session for a reason that Closed will tell.
func (s *session) fail(e *provider.Error) {
	s.mu.Lock()
	if s.fatal == nil && !s.closing {
		s.fatal = e
	}
	s.mu.Unlock()
	s.cancel()
}

// Events is closed after the Closed event.
func (s *session) Events() <-chan provider.Event { return s.events }

// Processes is empty: the server is shared.
func (s *session) Processes() []string { return nil }

// Close leaves the conversation. A turn that runs is aborted.
func (s *session) Close(ctx context.Context) error {
	s.mu.Lock()
	running := s.turn != nil
	first := !s.closing
	s.closing = true
	s.mu.Unlock()
	var err error
	if first && running && s.ctx.Err() == nil {
		err = s.abort(ctx)
	}
	s.cancel()
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

func (s *session) abort(ctx context.Context) error {
	return s.srv.post(ctx, "/session/"+s.id+"/abort", s.spec.Cwd, map[string]any{}, nil)
}

// Interrupt aborts the turn; what waits for the user no longer does.
func (s *session) Interrupt(ctx context.Context) error {
	s.mu.Lock()
	if s.turn == nil {
		s.mu.Unlock()
		return nil
	}
	s.turn.interrupted = true
	s.dropRequests()
	s.mu.Unlock()
	return s.abort(ctx)
}

// silence is the watchdog's alarm: the turn is aborted, and if OpenCode does
// not even end it, we leave.
func (s *session) silence(limit time.Duration) {
	failure := &provider.Error{Code: "no_answer", Text: title + " gave no sign of life for " + limit.String() + ".", Action: "send_again"}
	s.mu.Lock()
	t := s.turn
	if t == nil {
		s.mu.Unlock()
		return
	}
	t.failure = failure
	s.mu.Unlock()
	s.host.Clock.AfterFunc(cancelGrace, func() {
		s.mu.Lock()
		still := s.turn == t
		s.mu.Unlock()
		if still {
			s.fail(failure)
		}
	})
	go func() { _ = s.abort(s.ctx) }()
}

// Send starts a turn.
func (s *session) Send(ctx context.Context, in provider.Input) (provider.Delivery, error) {
	s.mu.Lock()
	if s.turn != nil {
		s.mu.Unlock()
		return provider.NotSent, errors.New("a turn of this conversation is running")
	}
	t := &turn{said: map[string]bool{}}
	s.turn = t // nobody else sends meanwhile
	mode := s.mode
	s.mu.Unlock()
	drop := func(err error) (provider.Delivery, error) {
		s.mu.Lock()
		s.turn = nil
		s.mu.Unlock()
		return provider.NotSent, err
	}
	if in.Mode == "" {
		in.Mode = s.spec.Mode
	}
	body, err := s.prompt(in)
	if err != nil {
		return drop(err)
	}
	if in.Mode != mode {
		if err := s.setRules(ctx, s.id, forMode(in.Mode, s.known.own)); err != nil {
			return drop(startError(err))
		}
		s.mu.Lock()
		s.mode = in.Mode
		s.mu.Unlock()
	}
	s.dog.Begin()
	delivery, err := s.deliver(ctx, in, body, t)
	if delivery == provider.NotSent {
		s.dog.Stop()
		return drop(sendError(err))
	}
	return delivery, err
}

// Steer puts a message into the running turn: OpenCode takes it up with its
// next step.
func (s *session) Steer(ctx context.Context, in provider.Input) (provider.Delivery, error) {
	body, err := s.prompt(in)
	if err != nil {
		return provider.NotSent, err
	}
	s.mu.Lock()
	t := s.turn
	if t == nil || !t.accepted || t.interrupted {
		s.mu.Unlock()
		return provider.NotSent, errors.New("no turn is running that a message could join")
	}
	t.steering++
	s.mu.Unlock()
	delivery, err := s.srv.call(ctx, http.MethodPost, "/session/"+s.id+"/prompt_async", s.spec.Cwd, body, nil, nil)
	if delivery == provider.NotSent {
		s.mu.Lock()
		t.steering--
		s.mu.Unlock()
	}
	return delivery, err
}

// deliver posts the message. A command of OpenCode's is posted as one; its
// reply comes with the end of the turn and is not waited for.
func (s *session) deliver(ctx context.Context, in provider.Input, body map[string]any, t *turn) (provider.Delivery, error) {
	name, arguments, ok := s.known.command(in.Text)
	if !ok {
		return s.srv.call(ctx, http.MethodPost, "/session/"+s.id+"/prompt_async", s.spec.Cwd, body, nil, nil)
	}
	command := map[string]any{"command": name, "arguments": arguments}
	if model, ok := body["model"].(modelRef); ok {
		command["model"] = model.ProviderID + "/" + model.ModelID
	}
	for _, field := range []string{"agent", "variant"} {
		if v, ok := body[field]; ok {
			command[field] = v
		}
	}
	if parts, ok := body["parts"].([]any); ok {
		command["parts"] = parts[:len(parts)-1] // all but the text
	}
	type result struct {
		delivery provider.Delivery
		err      error
	}
	wrote, ended := make(chan struct{}), make(chan result, 1)
	go func() {
		d, err := s.srv.call(s.ctx, http.MethodPost, "/session/"+s.id+"/command", s.spec.Cwd, command, nil, sync.OnceFunc(func() { close(wrote) }))
		ended <- result{d, err}
		if err != nil {
			s.later(func() { s.commandFailed(t, err) })
		}
	}()
	select {
	case <-wrote:
		return provider.Sent, nil
	case r := <-ended:
		return r.delivery, r.err
	case <-ctx.Done():
		return provider.Uncertain, ctx.Err()
	}
}

// commandFailed ends a turn whose command OpenCode refused.
func (s *session) commandFailed(t *turn, err error) {
	s.mu.Lock()
	refusedEarly := s.turn == t && !t.accepted
	s.mu.Unlock()
	var refused *refusal
	if refusedEarly && errors.As(err, &refused) {
		t.problem = &problem{Name: "APIError", Data: problemData{Message: refused.Message, Status: refused.Status}}
		s.endTurn(t)
	}
}

// modelRef names a model in a prompt.
type modelRef struct {
	ProviderID string `json:"providerID"`
	ModelID    string `json:"modelID"`
}

// prompt makes the body of a message. The user's own text is the last part,
// unchanged; the chat's instructions go as the system prompt.
func (s *session) prompt(in provider.Input) (map[string]any, error) {
	if err := s.known.check(in.Model, in.Effort); err != nil {
		return nil, err
	}
	body := map[string]any{}
	model := firstNonEmpty(in.Model, s.standard)
	if provider, id, ok := strings.Cut(model, "/"); ok {
		body["model"] = modelRef{provider, id}
	}
	if in.Effort != "" {
		body["variant"] = in.Effort
	}
	if s.spec.Instructions != "" {
		body["system"] = s.spec.Instructions
	}
	mode := in.Mode
	if mode == "" {
		mode = s.spec.Mode
	}
	if mode == provider.PlanOnly && slices.Contains(s.known.agents, "plan") {
		body["agent"] = "plan"
	}
	var parts []any
	for _, a := range in.Attachments {
		part, err := filePart(a)
		if err != nil {
			return nil, &provider.Error{Code: "attachment", Text: "The file " + a.Name + " cannot be read.", Detail: err.Error(), Err: err}
		}
		parts = append(parts, part)
	}
	body["parts"] = append(parts, map[string]any{"type": "text", "text": in.Text})
	return body, nil
}

// rawLine keeps an event for the debug view, bounded.
func rawLine(data []byte) json.RawMessage {
	if len(data) <= maxRaw && json.Valid(data) {
		return data
	}
	text, err := json.Marshal(firstBytes(string(data), maxRaw))
	if err != nil {
		return nil
	}
	return text
}
