package claude

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"berth/backend/process"
	"berth/backend/provider"
	"berth/backend/provider/watch"
	"berth/backend/provider/wire"
)

const (
	// eventBuffer lets the reader be a little ahead of the chat.
	eventBuffer = 64
	// controlTimeout bounds a change of settings; the CLI answers at once
	// between turns.
	controlTimeout = 10 * time.Second
	// interruptTimeout bounds the reply to an interrupt; the chat kills the
	// process when the turn does not end.
	interruptTimeout = 5 * time.Second
	// closeGrace is for the CLI to write its transcript after stdin has
	// ended, and again after SIGTERM.
	closeGrace = 5 * time.Second
	// drainGrace is for the last events to be taken by a chat that closes.
	drainGrace = 2 * time.Second
	// usageTimeout is how long the context's figures are waited for after a
	// turn; the CLI asks its service for them.
	usageTimeout = 2 * time.Second
	// signOfLife is how often activity is told that has no event of its own.
	signOfLife = time.Second
)

// limits are how long silence is borne. The first one holds from the writing
// of a message to the agent's word that it has taken it, and again from there
// to its answer: a model on the user's own machine may read a long
// conversation for minutes. Tools of MCP servers may run for hours.
var limits = watch.Limits{First: 10 * time.Minute, Idle: 30 * time.Minute, Tool: 6 * time.Hour}

// session is a conversation with one process of the CLI.
type session struct {
	proc   process.Process
	lines  *wire.Lines
	clock  provider.Clock
	spec   provider.Spec
	kept   func(session string) bool // whether the CLI has the transcript on disk
	events chan provider.Event
	// abandoned ends the sending of events when nobody takes them after Close.
	abandoned chan struct{}
	done      chan struct{} // the reader has ended
	writers   sync.WaitGroup

	closeOnce sync.Once
	closeErr  error

	// p and what follows belong to the reader.
	p           *projector
	commands    []provider.Command
	toldLife    time.Time
	lookedAt    time.Time // when kept was asked last
	sampleID    string    // request for the context's figures
	sampleUntil time.Time
	garbage     string // the last line that was not the protocol's
	bound       string // conversation that was told

	dog *watch.Dog

	mu       sync.Mutex
	next     int
	calls    map[string]chan controlReply
	requests map[string]*pending
	turn     *turn
	attached map[string]bool // files the user gave to the agent
	closing  bool
	ended    bool
	expired  *provider.Error // why a watchdog ended the process
	// What the session is set to.
	model  string
	effort string
	mode   provider.Permission // asked for last
	inPlan bool                // the CLI says that it is in plan mode
	failed *resultLine         // why the CLI could not go on with the conversation
}

// turn is a message that was sent and has not ended.
type turn struct {
	id       string // Berth's
	uuid     string // of the message
	begun    bool   // the agent took it
	alive    bool   // something came after that
	answered bool   // the CLI ended a turn of its own that was ours
	stopping bool
	prompted bool
	// steers are messages put into the turn: by uuid, Berth's turn ids of
	// those that the agent has not taken yet; taken holds those it has.
	steers map[string]string
	taken  []string
}

func newSession(proc process.Process, clock provider.Clock, spec provider.Spec, kept func(string) bool) *session {
	s := &session{
		proc: proc, lines: wire.NewLines(proc.Stdout(), proc.Stdin(), 0), clock: clock, spec: spec, kept: kept,
		events: make(chan provider.Event, eventBuffer), abandoned: make(chan struct{}), done: make(chan struct{}),
		p: newProjector(spec.Cwd), calls: map[string]chan controlReply{}, requests: map[string]*pending{}, attached: map[string]bool{},
		model: spec.Model, effort: spec.Effort, mode: spec.Mode, inPlan: spec.Mode == provider.PlanOnly,
	}
	if !spec.Fork {
		s.bound = spec.Resume
	}
	s.dog = newDog(s)
	s.p.working = s.dog.Working
	go s.read()
	return s
}

func newDog(s *session) *watch.Dog { return watch.New(s.clock, limits, s.silence) }

// Events implements provider.Session.
func (s *session) Events() <-chan provider.Event { return s.events }

// Processes implements provider.Session.
func (s *session) Processes() []string { return []string{s.proc.ID()} }

// messageID is the uuid under which a turn's message is sent: always the same
// one, since the CLI takes no message a second time that it knows by its uuid
// from the conversation.
func messageID(turn string) string {
	h := sha256.Sum256([]byte("berth message " + turn))
	h[6] = h[6]&0x0f | 0x80 // version 8: made by a rule of our own
	h[8] = h[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", h[0:4], h[4:6], h[6:8], h[8:10], h[10:16])
}

// userLine is a message of the user on the wire.
type userLine struct {
	Type    string      `json:"type"`
	Message userMessage `json:"message"`
	Parent  *string     `json:"parent_tool_use_id"`
	Session string      `json:"session_id"`
	UUID    string      `json:"uuid"`
}

type userMessage struct {
	Role    string     `json:"role"`
	Content []outBlock `json:"content"`
}

// Send implements provider.Session.
func (s *session) Send(ctx context.Context, in provider.Input) (provider.Delivery, error) {
	blocks, paths, err := messageContent(in)
	if err != nil {
		return provider.NotSent, &provider.Error{Code: "attachment_missing", Text: "An attachment could not be read.", Detail: err.Error(), Err: err}
	}
	t := &turn{id: in.Turn, uuid: messageID(in.Turn), prompted: len(blocks) > 0, steers: map[string]string{}}
	if err := s.reserve(t, paths); err != nil {
		return provider.NotSent, err
	}
	if err := s.adopt(ctx, in); err != nil {
		s.release(t)
		return provider.NotSent, err
	}
	s.mu.Lock()
	stopping := t.stopping
	if !stopping {
		s.dog.Begin()
		for range s.requests { // of work in the background
			s.dog.Wait()
		}
	}
	s.mu.Unlock()
	if stopping {
		s.release(t)
		return provider.NotSent, errors.New("the turn was stopped before it was sent")
	}
	d, err := s.write(ctx, t.uuid, blocks)
	if d == provider.NotSent {
		s.release(t)
	}
	return d, err
}

// reserve takes the slot of the running turn.
func (s *session) reserve(t *turn, paths []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ended || s.closing:
		return gone()
	case s.turn != nil:
		return errors.New("a turn is running")
	}
	s.turn = t
	for _, path := range paths {
		s.attached[path] = true
	}
	return nil
}

func (s *session) release(t *turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn == t {
		s.turn = nil
		s.dog.Stop()
	}
}

func gone() error {
	return &provider.Error{Code: "agent_ended", Text: "Claude Code has ended."}
}

func (s *session) write(ctx context.Context, uuid string, blocks []outBlock) (provider.Delivery, error) {
	return s.lines.Write(ctx, userLine{Type: "user", UUID: uuid, Message: userMessage{Role: "user", Content: blocks}})
}

// adopt switches the session to what the turn is to run with.
func (s *session) adopt(ctx context.Context, in provider.Input) error {
	s.mu.Lock()
	model, effort, mode, inPlan := s.model, s.effort, s.mode, s.inPlan
	s.mu.Unlock()
	if in.Mode == "" {
		in.Mode = mode
	}
	if in.Mode != mode && (in.Mode == provider.Full || mode == provider.Full) {
		return provider.ErrReopen // the CLI allows bypassing only from its start
	}
	if in.Model != model {
		if err := s.set(ctx, "model", map[string]any{"subtype": "set_model", "model": cmp.Or(in.Model, "default")}); err != nil {
			return err
		}
		s.mu.Lock()
		s.model = in.Model
		s.mu.Unlock()
	}
	if in.Effort != effort {
		var level *string // null goes back to the model's own
		if in.Effort != "" {
			level = &in.Effort
		}
		if err := s.set(ctx, "effort", map[string]any{"subtype": "apply_flag_settings", "settings": map[string]any{"effortLevel": level}}); err != nil {
			return err
		}
		s.mu.Lock()
		s.effort = in.Effort
		s.mu.Unlock()
	}
	// A mode that the human allowed for the session outlives the turn; but a
	// plan that was approved ends plan mode, and a turn that is to plan again
	// says so again.
	if in.Mode == mode && (in.Mode != provider.PlanOnly || inPlan) {
		return nil
	}
	name, ok := modeName(in.Mode)
	if !ok {
		return unknownMode(in.Mode)
	}
	if err := s.set(ctx, "permission mode", map[string]any{"subtype": "set_permission_mode", "mode": name}); err != nil {
		return err
	}
	s.mu.Lock()
	s.mode, s.inPlan = in.Mode, in.Mode == provider.PlanOnly
	s.mu.Unlock()
	return nil
}

// set makes a change of the session's settings.
func (s *session) set(ctx context.Context, what string, request any) error {
	ctx, cancel := context.WithTimeout(ctx, controlTimeout)
	defer cancel()
	if err := s.control(ctx, request); err != nil {
		return &provider.Error{Code: "failed", Text: "Claude Code did not take the new " + what + ". Nothing was sent.", Detail: cut(err.Error(), maxDetail), Err: err}
	}
	return nil
}

// Steer implements provider.Session. The agent takes the message when the
// tool that runs has ended, or goes on with it when its answer is finished;
// then Accepted follows. One that Interrupt takes back is never accepted.
func (s *session) Steer(ctx context.Context, in provider.Input) (provider.Delivery, error) {
	blocks, paths, err := messageContent(in)
	if err != nil {
		return provider.NotSent, &provider.Error{Code: "attachment_missing", Text: "An attachment could not be read.", Detail: err.Error(), Err: err}
	}
	uuid := messageID(in.Turn)
	s.mu.Lock()
	t := s.turn
	if t == nil || t.stopping || s.ended || s.closing {
		s.mu.Unlock()
		return provider.NotSent, errors.New("no turn is running that a message could join")
	}
	t.steers[uuid] = in.Turn
	for _, path := range paths {
		s.attached[path] = true
	}
	s.mu.Unlock()
	d, err := s.write(ctx, uuid, blocks)
	if d == provider.NotSent {
		s.mu.Lock()
		delete(t.steers, uuid)
		s.mu.Unlock()
	}
	return d, err
}

// Interrupt implements provider.Session. Messages that the agent has not
// taken yet are taken back first: it would go on with them.
func (s *session) Interrupt(ctx context.Context) error {
	s.mu.Lock()
	var waiting []string
	if t := s.turn; t != nil {
		t.stopping = true
		for uuid := range t.steers {
			waiting = append(waiting, uuid)
		}
		if !t.begun {
			waiting = append(waiting, t.uuid)
		}
	}
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, interruptTimeout)
	defer cancel()
	for _, uuid := range waiting {
		if err := s.control(ctx, map[string]any{"subtype": "cancel_async_message", "message_uuid": uuid}); err != nil {
			return fmt.Errorf("take back a message: %w", err)
		}
	}
	if err := s.control(ctx, map[string]any{"subtype": "interrupt"}); err != nil {
		return fmt.Errorf("interrupt Claude Code: %w", err)
	}
	return nil
}

// Answer implements provider.Session.
func (s *session) Answer(ctx context.Context, key string, answer provider.Answer) error {
	s.mu.Lock()
	w := s.requests[key]
	s.mu.Unlock()
	if w == nil {
		return provider.ErrNoRequest
	}
	r, err := w.answer(answer)
	if err != nil {
		return err
	}
	s.mu.Lock()
	if s.requests[key] != w { // withdrawn, or answered by another, meanwhile
		s.mu.Unlock()
		return provider.ErrNoRequest
	}
	s.settle(key)
	s.mu.Unlock()
	return s.respond(ctx, key, r)
}

// settle forgets a request that no longer waits. The caller holds mu.
func (s *session) settle(key string) {
	delete(s.requests, key)
	s.dog.Resume()
}

// respond answers a request of the CLI.
func (s *session) respond(ctx context.Context, id string, r *reply) error {
	_, err := s.lines.Write(ctx, map[string]any{"type": "control_response", "response": map[string]any{"subtype": "success", "request_id": id, "response": r}})
	return err
}

// control makes a request of the control protocol and waits for its reply.
func (s *session) control(ctx context.Context, request any) error {
	reply := make(chan controlReply, 1)
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		return gone()
	}
	id := s.newID()
	s.calls[id] = reply
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.calls, id)
		s.mu.Unlock()
	}()
	if _, err := s.lines.Write(ctx, controlRequest(id, request)); err != nil {
		return err
	}
	select {
	case r := <-reply:
		if r.Subtype != "success" {
			return errors.New(cmp.Or(r.Error, "refused without a reason"))
		}
		return nil
	case <-s.done:
		return gone()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// newID makes the id of a control request. The caller holds mu.
func (s *session) newID() string {
	s.next++
	return fmt.Sprintf("berth_%d", s.next)
}

func controlRequest(id string, request any) any {
	return map[string]any{"type": "control_request", "request_id": id, "request": request}
}

// Close implements provider.Session: stdin ends, the CLI writes its
// transcript and goes; else its group is ended.
func (s *session) Close(ctx context.Context) error {
	s.closeOnce.Do(func() {
		s.mu.Lock()
		s.closing = true
		s.mu.Unlock()
		s.dog.Stop()
		s.closeErr = s.proc.Stop(ctx, closeGrace)
		drained := make(chan struct{})
		stop := s.clock.AfterFunc(drainGrace, func() { close(drained) })
		defer stop()
		select {
		case <-s.done:
		case <-drained:
		case <-ctx.Done():
		}
		close(s.abandoned)
	})
	return s.closeErr
}

// silence is called when the watchdog has run out: the process is ended, and
// the reader tells why.
func (s *session) silence(limit time.Duration) {
	s.mu.Lock()
	t := s.turn
	if s.ended || s.closing || t == nil {
		s.mu.Unlock()
		return
	}
	text := "Claude Code gave no sign of life for %s."
	switch {
	case !t.begun:
		text = "Claude Code did not take the message within %s."
	case !t.alive:
		text = "Claude Code took the message, but nothing came back within %s."
	}
	s.expired = &provider.Error{Code: "no_answer", Text: fmt.Sprintf(text, spoken(limit)), Action: "send_again"}
	s.mu.Unlock()
	_ = s.proc.Stop(context.Background(), closeGrace) // what is left is for the chat's own stop to find
}

// spoken says a duration of whole minutes or hours.
func spoken(d time.Duration) string {
	if d >= time.Hour {
		return fmt.Sprintf("%d hours", d/time.Hour)
	}
	return fmt.Sprintf("%d minutes", d/time.Minute)
}

// owns says whether a message of the running turn has that uuid.
func (t *turn) owns(uuid string) bool {
	return t.uuid == uuid || slices.Contains(t.taken, uuid)
}
