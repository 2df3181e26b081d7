package codex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"berth/backend/provider"
	"berth/backend/provider/wire"
)

// The states of provider.TurnEnded.
const (
	stateCompleted = "completed"
	stateFailed    = "failed"
	stateStopped   = "stopped"
)

// The statuses of a native turn.
const (
	statusRunning     = "inProgress"
	statusCompleted   = "completed"
	statusInterrupted = "interrupted"
)

// pending is a message on its way, until its turn is known.
type pending struct {
	input       string     // Input.Turn
	model       string     // that it asked for
	interrupted bool       // before the turn was known
	outcome     chan error // what became of it; nil when it was accepted
}

// turn is the one that runs.
type turn struct {
	id    string // the native one
	model string

	// With the session's mu.
	interrupted bool
	failure     *provider.Error // why we ended it
	said        bool            // the agent said or did something
	unphased    string          // raw key of an answer that may turn out to be commentary

	// Of the goroutine of pump alone.
	problem *turnFailure // the last error Codex told of without going on
	retries int
}

// Send starts a turn. It returns once Codex has taken the message, or it is
// known how far it got.
func (s *session) Send(ctx context.Context, in provider.Input) (provider.Delivery, error) {
	s.mu.Lock()
	if s.turn != nil || s.pending != nil || s.foreign != "" {
		s.mu.Unlock()
		return provider.NotSent, errors.New("a turn of this conversation is running")
	}
	p := &pending{input: in.Turn, outcome: make(chan error, 1)}
	s.pending = p
	s.mu.Unlock()
	p.model = s.model(in.Model)
	params, err := s.turnParams(ctx, in)
	if err != nil {
		s.settle(p)
		return provider.NotSent, err
	}
	delivery, err := s.deliver(ctx, p, "turn/start", params)
	if err != nil {
		s.settle(p)
	}
	return delivery, err
}

// settle forgets a message whose turn will not be waited for.
func (s *session) settle(p *pending) {
	s.mu.Lock()
	if s.pending == p {
		s.pending = nil
	}
	s.mu.Unlock()
	s.wake()
}

// wake tells those who wait that a turn or message is over.
func (s *session) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.idle)
	s.idle = make(chan struct{})
}

// turnParams are those of turn/start; everything that may differ from the
// last turn is stated.
func (s *session) turnParams(ctx context.Context, in provider.Input) (map[string]any, error) {
	mode, err := permissionsOf(in.Mode)
	if err != nil {
		return nil, err
	}
	items, err := s.input(ctx, in)
	if err != nil {
		return nil, err
	}
	model := s.model(in.Model)
	effort := s.effort(in.Effort, model)
	s.mu.Lock()
	defer s.mu.Unlock()
	p := map[string]any{
		"threadId": s.thread, "clientUserMessageId": in.Turn, "input": items, "cwd": s.spec.Cwd,
		"approvalPolicy": mode.approval, "approvalsReviewer": reviewer, "sandboxPolicy": mode.sandboxPolicy(s.settings.writing),
	}
	if model != "" {
		p["model"] = model
	}
	if effort != "" {
		p["effort"] = effort
	}
	if s.settings.summary == "" {
		p["summary"] = "detailed" // else the thinking of most models is not shown
	}
	plans := mode.mode == provider.PlanOnly
	if (plans || s.settings.plans) && model != "" {
		p["collaborationMode"] = collaboration(plans, model, effort)
		s.settings.plans = plans
	}
	return p, nil
}

// collaboration is Codex's own plan mode, or the way back from it. Its
// settings win over those of the turn.
func collaboration(plans bool, model, effort string) any {
	mode := modeDefault
	if plans {
		mode = modePlan
	}
	own := map[string]any{"model": model, "reasoning_effort": nil, "developer_instructions": nil}
	if effort != "" {
		own["reasoning_effort"] = effort
	}
	return map[string]any{"mode": mode, "settings": own}
}

// deliver writes a message and waits for what becomes of it.
func (s *session) deliver(ctx context.Context, p *pending, method string, params any) (provider.Delivery, error) {
	written := make(chan wrote, 1)
	go func() {
		_, d, err := s.server.rpc.Begin(ctx, method, params, func(m wire.Message) {
			s.post(func() { s.replied(p, m) })
		})
		written <- wrote{d, err}
	}()
	late := make(chan struct{})
	stop := s.host.Clock.AfterFunc(callLimit, func() { close(late) })
	defer stop()
	for {
		select {
		case w := <-written:
			if w.err != nil {
				return w.delivery, w.err
			}
			written = nil
		case err := <-p.outcome:
			if err != nil {
				return provider.NotSent, err
			}
			return provider.Sent, nil
		case <-late:
			return s.look(p)
		case <-ctx.Done():
			return s.look(p)
		case <-s.over:
			return provider.Uncertain, wire.ErrEnded
		}
	}
}

type wrote struct {
	delivery provider.Delivery
	err      error
}

// replied takes the reply to turn/start or turn/steer, in its order among the
// notifications.
func (s *session) replied(p *pending, m wire.Message) {
	if m.Error != nil {
		p.settled(requestError("Codex did not take the message.", m.Error))
		return
	}
	var reply struct {
		Turn struct {
			ID string `json:"id"`
		} `json:"turn"`
		TurnID string `json:"turnId"` // of turn/steer
	}
	switch err := json.Unmarshal(m.Result, &reply); {
	case err == nil && reply.Turn.ID != "":
		s.bind(p, reply.Turn.ID)
	case err == nil && reply.TurnID != "":
		s.steered(p, reply.TurnID)
	default:
		// It was taken, by all appearances; the turn's own messages bind it.
		return
	}
}

// settled tells the one who waits, once.
func (p *pending) settled(err error) {
	select {
	case p.outcome <- err:
	default:
	}
}

// bind makes a native turn that of the message on its way. A stop that came
// before is carried out now.
func (s *session) bind(p *pending, id string) {
	s.mu.Lock()
	if s.pending != p || s.turn != nil {
		s.mu.Unlock()
		return
	}
	s.pending = nil
	interrupted, waiting := p.interrupted, len(s.requests)
	s.turn = &turn{id: id, model: p.model, interrupted: interrupted}
	s.mu.Unlock()
	s.dog.Begin()
	for range waiting { // sub-agents of an earlier turn may still ask
		s.dog.Wait()
	}
	s.emit(provider.Event{Accepted: &provider.Accepted{Turn: p.input, ProviderTurn: id}})
	p.settled(nil)
	if interrupted {
		go func() { _ = s.interruptNative(context.Background(), s.thread, id) }()
	}
}

// steered tells that a message joined the running turn.
func (s *session) steered(p *pending, id string) {
	s.emit(provider.Event{Accepted: &provider.Accepted{Turn: p.input, ProviderTurn: id, Steered: true}})
	p.settled(nil)
}

// look reads the thread's turns once for a message whose reply did not come.
// The read waits behind the message in the same pipe, so that what it does
// not show may still come; then the delivery stays uncertain.
func (s *session) look(p *pending) (provider.Delivery, error) {
	select {
	case err := <-p.outcome: // it came at the last moment
		if err != nil {
			return provider.NotSent, err
		}
		return provider.Sent, nil
	default:
	}
	unproven := fmt.Errorf("codex did not confirm the message within %s", callLimit)
	turns, err := s.lastTurns(context.Background())
	if err != nil {
		return provider.Uncertain, errors.Join(unproven, err)
	}
	for _, t := range turns {
		if !t.holds(p.input) {
			continue
		}
		s.post(func() { s.found(p, t) })
		select {
		case err := <-p.outcome:
			return provider.Sent, err
		case <-s.over:
			return provider.Uncertain, wire.ErrEnded
		}
	}
	return provider.Uncertain, unproven
}

// found binds a message that the look has found. What its turn did unheard,
// if it has ended already, is told now.
func (s *session) found(p *pending, t nativeTurn) {
	s.mu.Lock()
	starts := s.pending == p
	s.mu.Unlock()
	if !starts {
		s.steered(p, t.ID)
		return
	}
	s.bind(p, t.ID)
	if t.Status == statusRunning {
		return
	}
	for _, raw := range t.Items {
		s.itemEnded(s.thread, t.ID, raw)
	}
	s.turnEnded(t)
}

// nativeTurn is a turn as Codex describes it.
type nativeTurn struct {
	ID     string            `json:"id"`
	Status string            `json:"status"`
	Error  *turnFailure      `json:"error"`
	Items  []json.RawMessage `json:"items"`
}

// holds says whether one of its messages has that id of ours.
func (t nativeTurn) holds(client string) bool {
	for _, raw := range t.Items {
		var i struct {
			Type   string `json:"type"`
			Client string `json:"clientId"`
		}
		if json.Unmarshal(raw, &i) == nil && i.Type == "userMessage" && i.Client == client && client != "" {
			return true
		}
	}
	return false
}

// recentTurns is how far back a message that was just written is looked for.
const recentTurns = 4

// lastTurns are the thread's latest turns, newest first.
func (s *session) lastTurns(ctx context.Context) ([]nativeTurn, error) {
	var reply struct {
		Data []nativeTurn `json:"data"`
	}
	params := map[string]any{"threadId": s.thread, "limit": recentTurns, "sortDirection": "desc", "itemsView": "full"}
	err := s.server.within(ctx, lookLimit, "thread/turns/list", params, &reply)
	return reply.Data, err
}

// Steer puts a message into the running turn.
func (s *session) Steer(ctx context.Context, in provider.Input) (provider.Delivery, error) {
	s.mu.Lock()
	t := s.turn
	s.mu.Unlock()
	if t == nil {
		return provider.NotSent, errors.New("no turn of this conversation is running")
	}
	items, err := s.input(ctx, in)
	if err != nil {
		return provider.NotSent, err
	}
	p := &pending{input: in.Turn, outcome: make(chan error, 1)}
	return s.deliver(ctx, p, "turn/steer", map[string]any{
		"threadId": s.thread, "expectedTurnId": t.id, "clientUserMessageId": in.Turn, "input": items,
	})
}

// Interrupt asks Codex to end the turn, and those of its sub-agents. The
// proof is TurnEnded, before which the commands that the turn had running are
// ended too.
func (s *session) Interrupt(ctx context.Context) error {
	s.mu.Lock()
	if s.pending != nil {
		s.pending.interrupted = true
	}
	t := s.turn
	if t != nil {
		t.interrupted = true
	}
	foreign := s.foreign
	s.mu.Unlock()
	switch {
	case t != nil:
		return s.interruptNative(ctx, s.thread, t.id)
	case foreign != "":
		return s.interruptNative(ctx, s.thread, foreign)
	}
	return nil
}

// interruptNative interrupts a native turn; one that has ended is no error.
func (s *session) interruptNative(ctx context.Context, thread, id string) error {
	err := s.server.within(ctx, stopLimit, "turn/interrupt", map[string]any{"threadId": thread, "turnId": id}, nil)
	if refused(err) {
		return nil
	}
	return err
}

// silence is the watchdog's alarm: the turn is interrupted, and if even that
// does not end it, the process is ended.
func (s *session) silence(limit time.Duration) {
	failure := &provider.Error{Code: "no_answer", Text: "Codex gave no sign of life for " + limit.String() + ".", Action: "send_again"}
	s.mu.Lock()
	t := s.turn
	if t == nil {
		s.mu.Unlock()
		return
	}
	t.failure, t.interrupted = failure, true
	s.mu.Unlock()
	s.host.Clock.AfterFunc(endLimit, func() {
		s.mu.Lock()
		still := s.turn == t
		s.mu.Unlock()
		if still {
			s.server.retire(failure)
		}
	})
	go func() { _ = s.interruptNative(context.Background(), s.thread, t.id) }()
}
