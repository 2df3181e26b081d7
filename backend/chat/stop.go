package chat

import (
	"context"
	"errors"
	"time"

	"berth/backend/fault"
	"berth/backend/provider"
	"berth/backend/store"
)

// stopping is a stop under way.
type stopping struct {
	turn    *turnRow
	timer   *time.Timer
	waiters []chan StopResult
	unsaved []*turnRow // rows that are held, while the disk did not take it
}

// Stop ends the turn that runs: what the agent asked is cancelled, it is
// asked to stop, and its process is ended when it does not. The queue is
// held. The result says what is proven.
func (s *Service) Stop(ctx context.Context, chat string) (StopResult, error) {
	wait := make(chan StopResult, 1)
	err := s.do(ctx, chat, func(a *actor) error {
		a.askStop(wait)
		return nil
	})
	if err != nil {
		return StopResult{}, err
	}
	select {
	case r := <-wait:
		return r, nil
	case <-ctx.Done():
		return StopResult{}, ctx.Err()
	}
}

func (a *actor) askStop(wait chan StopResult) {
	switch {
	case a.stop != nil:
		a.stop.waiters = append(a.stop.waiters, wait)
	case a.chat.fenced != "":
		a.checkAgain(wait)
	case a.turn == nil || a.turn.State.Terminal():
		wait <- StopResult{State: "idle", Held: a.held()}
	default:
		a.beginStop(wait)
	}
}

func (a *actor) beginStop(wait chan StopResult) {
	t := a.turn
	before := t.State
	t.State = TurnStopping
	held := hold(a.queue, "stopped")
	fault.Point("stop.begin")
	err := a.write("stop a turn", func(tx *store.Tx) error {
		if err := a.s.saveTurn(tx, t); err != nil {
			return err
		}
		for _, q := range held {
			if err := a.s.saveTurn(tx, q); err != nil {
				return err
			}
		}
		return nil
	})
	a.stop = &stopping{turn: t, waiters: []chan StopResult{wait}}
	if err != nil { // the disk does not take it; the stop goes on all the same
		t.State, a.stop.unsaved = before, held
	}
	a.changedNow()
	fault.Point("stop.begun")
	switch {
	case a.start != nil:
		a.start.cancel()
		a.stopTimer(a.s.bounds.Close, func() { a.fence(nil, errors.New("the agent's start did not end")) })
	case a.agent == nil:
		a.stopTimer(a.s.bounds.Close, func() { a.fence(nil, errors.New("the agent's end is not confirmed")) })
	default:
		a.interrupt()
	}
}

// stopTimer has f run in the actor if this stop is still under way then.
func (a *actor) stopTimer(d time.Duration, f func()) {
	st := a.stop
	st.timer = time.AfterFunc(d, func() {
		a.later(func() {
			if a.stop == st {
				f()
			}
		})
	})
}

// interrupt asks politely, and ends the process when that does not help.
func (a *actor) interrupt() {
	ag, keys := a.agent, a.pendingKeys()
	beside(a, func() error {
		ctx, cancel := context.WithTimeout(a.s.ctx, a.s.bounds.Interrupt)
		defer cancel()
		for _, key := range keys {
			_ = ag.session.Answer(ctx, key, provider.Answer{Cancelled: true}) // the interrupt ends what this did not
		}
		return ag.session.Interrupt(ctx)
	}, func(err error) {
		if err != nil && a.stop != nil && a.agent == ag {
			a.forceClose()
		}
	})
	a.stopTimer(a.s.bounds.Interrupt, a.forceClose)
}

// forceClose ends the agent's process for the stop under way.
func (a *actor) forceClose() {
	if a.agent == nil {
		return
	}
	a.stop.timer.Stop()
	a.release(func(err error) {
		if a.stop != nil && err == nil {
			a.stopConfirmed()
		}
	})
}

// stopIfAsked goes on with a stop (or the end of the backend) that came while
// an agent was started for turn t.
func (a *actor) stopIfAsked(t *turnRow) {
	switch {
	case a.ending:
		a.windDown()
	case a.chat.fenced != "" && a.turn == t:
		a.release(func(err error) { // the start that was not proven to end has ended
			if err == nil {
				a.liftFence()
			}
		})
	case a.stop == nil || a.turn != t:
	case a.agent != nil:
		a.forceClose()
	default:
		a.stopConfirmed()
	}
}

func (a *actor) stopConfirmed() {
	if t := a.turn; t != nil {
		a.finish(t, TurnStopped, "user", nil)
		return
	}
	a.endStop(StopResult{State: "stopped", Held: a.held()})
}

// endStop tells all who wait how the stop ended.
func (a *actor) endStop(r StopResult) {
	if a.stop == nil {
		return
	}
	if a.stop.timer != nil {
		a.stop.timer.Stop()
	}
	for _, w := range a.stop.waiters {
		w <- r
	}
	a.stop = nil
}

// release ends the agent that is held, within bounds; done gets what could
// not be proven. Nothing starts in the meantime. An end that is not proven
// fences the chat.
func (a *actor) release(done func(error)) {
	old := a.agent
	if old == nil {
		done(nil)
		return
	}
	old.closed = true
	if left := a.closeItems(); len(left) > 0 {
		_ = a.write("close what an agent leaves", func(tx *store.Tx) error { return a.putAll(tx, left) })
	}
	a.agent, a.closing = nil, true
	beside(a, func() error { return a.end(old) }, func(err error) {
		a.closing = false
		if err != nil {
			a.fence(old, err)
		}
		done(err)
		a.publishState()
		if a.ending && a.turn != nil {
			a.windDown()
		}
		a.startNext()
	})
}

// end closes a session while its last events are read and dropped.
func (a *actor) end(old *agent) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(a.s.ctx), a.s.bounds.Close)
	defer cancel()
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		for range old.session.Events() { //nolint:revive // they belong to nobody any more
		}
	}()
	if err := old.session.Close(ctx); err != nil {
		return err
	}
	select {
	case <-drained:
		return nil
	case <-ctx.Done():
		return errors.New("the agent's connection did not end")
	}
}

// fence closes the chat for new work: something of it may still run.
func (a *actor) fence(left *agent, cause error) {
	a.chat.fenced, a.fenced = cause.Error(), left
	_ = a.write("fence a chat", func(tx *store.Tx) error {
		if _, err := tx.Exec("update chats set fenced = ? where id = ?", a.chat.fenced, a.chat.id); err != nil {
			return err
		}
		return a.s.log.Put(tx, a.notice(a.turn, "stop_unconfirmed", "error", "The stop could not be confirmed. Nothing new starts in this chat.", cause.Error(), ""))
	})
	r := StopResult{State: "fenced", Held: a.held(), Unconfirmed: []string{cause.Error()}}
	if a.turn != nil {
		r.Turn = a.turn.ID
	}
	a.endStop(r)
	a.changedNow()
}

// checkAgain tries once more to prove that a fenced chat's agent is gone.
func (a *actor) checkAgain(wait chan StopResult) {
	left := a.fenced
	if a.start != nil || a.closing {
		wait <- StopResult{State: "fenced", Held: a.held(), Unconfirmed: []string{a.chat.fenced}}
		return
	}
	beside(a, func() error {
		if left == nil {
			return nil
		}
		return a.end(left)
	}, func(err error) {
		if err != nil {
			wait <- StopResult{State: "fenced", Held: a.held(), Unconfirmed: []string{err.Error()}}
			return
		}
		a.liftFence()
		wait <- StopResult{State: "stopped", Held: a.held()}
	})
}

// liftFence opens a chat again whose agent is proven to be gone.
func (a *actor) liftFence() {
	a.chat.fenced, a.fenced = "", nil
	_ = a.write("lift a fence", func(tx *store.Tx) error {
		_, err := tx.Exec("update chats set fenced = '' where id = ?", a.chat.id)
		return err
	})
	a.stopConfirmed()
	a.startNext()
}

// evict ends an idle agent's process; the next message resumes the
// conversation.
func (a *actor) evict() {
	if a.turn == nil && a.agent != nil && !a.closing && len(a.agent.background) == 0 {
		a.release(func(error) {})
	}
}

// shutdown ends the actor within ctx: its agent is ended and its turn closed
// truthfully.
func (a *actor) shutdown(ctx context.Context) error {
	err := a.call(ctx, func(a *actor) error {
		a.ending = true
		if a.start != nil {
			a.start.cancel()
			return nil // opened goes on with windDown
		}
		a.windDown()
		return nil
	})
	if err != nil && !errors.Is(err, errGone) {
		return err
	}
	select {
	case <-a.gone:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// windDown ends the agent and then settles the turn.
func (a *actor) windDown() {
	if a.closing {
		return // the end of the agent comes back here
	}
	a.release(func(error) {
		t := a.turn
		if t == nil || t.State.Terminal() {
			a.turn = nil
			return
		}
		if a.stop != nil {
			a.finish(t, TurnStopped, "user", nil)
			return
		}
		_ = a.write("settle a turn", func(tx *store.Tx) error { return a.s.settle(tx, t, a.queue, "closed") })
		a.turn = nil
	})
}
