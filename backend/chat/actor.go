package chat

import (
	"context"
	"errors"
	"time"

	"berth/backend/event"
	"berth/backend/provider"
	"berth/backend/store"
)

// inboxDepth is how many calls may wait for an actor; further callers block.
const inboxDepth = 64

// summaryEvery bounds how often a busy chat's summary is sent, so that lists
// cost little however much it streams.
const summaryEvery = 100 * time.Millisecond

// errGone: the actor has ended.
var errGone = &Error{Code: "closed", Text: "Berth is closing, or the chat was deleted."}

// actor owns one chat. All its fields are its goroutine's; whatever blocks
// (starting, writing to and ending an agent) runs beside it and comes back
// through the inbox with the turn it belongs to, and is dropped when that
// turn no longer owns the slot.
type actor struct {
	s     *Service
	inbox chan func()
	gone  chan struct{}

	chat  *chatRow
	turn  *turnRow   // begun and not ended
	queue []*turnRow // not begun, in order
	agent *agent     // nil when no process or connection is held
	start *starting  // an agent is being started
	stop  *stopping  // the turn is being stopped

	fenced  *agent // what a stop could not prove to be gone
	closing bool   // an agent is being ended; nothing starts meanwhile
	dead    string // why the conversation cannot be resumed

	flush   *time.Timer // stores streaming text; nil when there is none
	summary *time.Timer // sends the summary; nil when it is up to date
	ending  bool        // no new work: the backend closes, or the chat is deleted
}

// agent is a session that is held.
type agent struct {
	session  provider.Session
	spec     provider.Spec
	entries  map[string]*event.Entry // open items by the driver's key
	ids      map[string]string       // item ids by the driver's key, ended ones included
	outputs  map[string]*output
	dirty    map[string]bool     // keys whose present state is shown but not stored
	full     map[string]bool     // keys of items that have all the text they may have
	requests map[string]*request // by request id
	closed   bool                // it has ended, or is being ended

	background []provider.BackgroundTask
}

// starting is a start under way.
type starting struct {
	cancel context.CancelFunc
}

func (s *Service) load(ctx context.Context, id string) (*actor, error) {
	row, err := s.loadChat(ctx, id)
	if err != nil {
		return nil, err
	}
	queue, err := queryTurns(ctx, s.db.Read(), "t.text", "t.chat_id = ? and t.position is not null order by t.position", id)
	if err != nil {
		return nil, err
	}
	return &actor{s: s, chat: row, queue: queue, inbox: make(chan func(), inboxDepth), gone: make(chan struct{})}, nil
}

func (a *actor) run() {
	defer close(a.gone)
	for {
		var events <-chan provider.Event
		if a.agent != nil {
			events = a.agent.session.Events()
		}
		select {
		case f := <-a.inbox:
			f()
		case ev, ok := <-events:
			if !ok {
				ev = provider.Event{Closed: &provider.Closed{}}
			}
			a.handle(ev)
		case <-timerC(a.flush):
			a.flush = nil
			a.store()
		case <-timerC(a.summary):
			a.summary = nil
			a.s.pushSummary(a.chat.id)
		case <-a.s.ctx.Done():
			return
		}
		if a.ending && a.turn == nil && a.agent == nil && a.start == nil && !a.closing {
			return
		}
	}
}

func timerC(t *time.Timer) <-chan time.Time {
	if t == nil {
		return nil
	}
	return t.C
}

// call runs f in the actor and waits for it. When ctx ends first, f is
// carried through all the same.
func (a *actor) call(ctx context.Context, f func(*actor) error) error {
	done := make(chan error, 1)
	select {
	case a.inbox <- func() { done <- f(a) }:
	case <-a.gone:
		return errGone
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-done:
		return err
	case <-a.gone:
		select {
		case err := <-done:
			return err
		default:
			return errGone
		}
	case <-ctx.Done():
		return ctx.Err()
	}
}

// later runs f in the actor, if it is still there.
func (a *actor) later(f func()) {
	select {
	case a.inbox <- f:
	case <-a.gone:
	}
}

// beside runs work that blocks; done gets its result in the actor.
func beside[T any](a *actor, work func() T, done func(T)) {
	a.s.work.Go(func() {
		result := work()
		a.later(func() { done(result) })
	})
}

// write runs a transaction of the actor. A failure is logged here, since most
// callers can only leave things as they are.
func (a *actor) write(what string, f func(tx *store.Tx) error) error {
	err := a.s.db.Write(a.s.ctx, f)
	if errors.Is(err, store.ErrFull) {
		err = &Error{Code: "disk_full", Text: "The disk is full. Nothing was accepted."}
	}
	if err != nil {
		a.s.logger.Error(what, "chat", a.chat.id, "err", err)
	}
	a.changed()
	return err
}

// changed has the chat's summary sent soon.
func (a *actor) changed() {
	if a.summary == nil {
		a.summary = time.NewTimer(summaryEvery)
	}
}

// changedNow sends the chat's summary at once.
func (a *actor) changedNow() {
	a.summary = nil
	a.s.pushSummary(a.chat.id)
}

// publishState tells lists what is known of the agent.
func (a *actor) publishState() {
	st := agentState{loaded: a.agent != nil, dead: a.dead}
	if st.loaded {
		st.background = a.agent.background
		if a.turn == nil {
			st.idleAt = time.Now()
		}
	}
	a.s.setState(a.chat.id, st)
	a.changed()
}
