package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"berth/backend/event"
	"berth/backend/fault"
	"berth/backend/provider"
	"berth/backend/store"
)

// titleLength bounds a title taken from the first message, in characters.
const titleLength = 60

// startNext begins the first turn of the queue that may go, if the slot is
// free. Held rows are passed over; an uncertain one keeps those behind it.
func (a *actor) startNext() {
	if a.turn != nil || a.stop != nil || a.closing || a.ending || a.chat.fenced != "" {
		return
	}
	for _, t := range a.queue {
		switch t.State {
		case TurnUncertain:
			return
		case TurnQueued:
			a.begin(t)
			return
		}
	}
}

// begin gives the slot to a turn and starts its agent where needed.
func (a *actor) begin(t *turnRow) {
	fault.Point("turn.begin")
	message, err := a.message(t)
	if err != nil {
		a.s.logger.Error("read the message of a turn", "chat", a.chat.id, "turn", t.ID, "err", err)
		return
	}
	before := *t
	now := store.Now()
	t.delivery = deliveryNone
	t.State, t.StartedAt, t.place, t.Reason = TurnStarting, &now, nil, ""
	title := a.chat.title
	if title == "" {
		title = beginning(firstLine(t.Text), titleLength)
	}
	err = a.write("begin a turn", func(tx *store.Tx) error {
		if err := a.s.saveTurn(tx, t); err != nil {
			return err
		}
		if _, err := tx.Exec("update chats set turn_id = ?, title = ?, updated_at = ? where id = ?", t.ID, title, now.UnixMilli(), a.chat.id); err != nil {
			return err
		}
		fault.Point("turn.begin.commit")
		return a.s.log.Put(tx, message)
	})
	if err != nil {
		*t = before // it stays in the queue; the next change of the queue tries again
		return
	}
	fault.Point("turn.begun")
	a.chat.title = title
	a.queue = slices.DeleteFunc(a.queue, func(q *turnRow) bool { return q == t })
	a.turn, t.message, t.delivery, t.reopened = t, message, deliveryNone, false
	a.publishState()
	a.changedNow()
	a.ensureAgent(t)
}

// message is the user's words in the timeline; a turn that was begun before
// has them there already.
func (a *actor) message(t *turnRow) (*event.Entry, error) {
	if t.message != nil {
		return t.message, nil
	}
	if t.StartedAt != nil {
		items, err := a.s.log.Select(a.s.ctx, "turn_id = ? and kind = 'user_message' order by seq limit 1", t.ID)
		if err != nil {
			return nil, err
		}
		if len(items) == 1 {
			items[0].Status = event.Pending
			return event.NewEntry(items[0], false), nil
		}
	}
	return event.NewEntry(event.Item{Chat: a.chat.id, Turn: t.ID, Kind: event.UserMessage, Status: event.Pending,
		Summary: firstLine(t.Text), Body: event.Body{Text: t.Text, Attachments: t.Attachments}}, false), nil
}

// spec is what this turn needs its agent to be opened with.
func (a *actor) spec(t *turnRow) provider.Spec {
	return provider.Spec{Chat: a.chat.id, Execution: store.NewID("exec"), Cwd: a.chat.cwd, Model: t.Model, Effort: t.Effort, Mode: t.Permissions,
		Instructions: a.chat.instructions, Resume: a.chat.conversation, RootBypass: a.chat.rootBypass}
}

// ensureAgent delivers the turn to the agent that is held, or starts one.
func (a *actor) ensureAgent(t *turnRow) {
	if info, err := os.Stat(a.chat.cwd); err != nil || !info.IsDir() {
		a.fail(t, &provider.Error{Code: "cwd_missing", Text: "The folder of this chat is not there.", Detail: a.chat.cwd, Action: "choose_folder"})
		return
	}
	want := a.spec(t)
	if a.agent == nil || a.agent.closed {
		a.agent = nil
		a.open(t, want)
		return
	}
	have := a.agent.spec
	if have.Cwd != want.Cwd || have.Instructions != want.Instructions || have.RootBypass != want.RootBypass ||
		(have.Mode != want.Mode && (have.Mode == provider.Full || want.Mode == provider.Full)) {
		a.replaceAgent(t)
		return
	}
	a.deliver(t)
}

// replaceAgent ends the agent that is held and starts it anew for this turn,
// in the same conversation.
func (a *actor) replaceAgent(t *turnRow) {
	a.release(func(err error) {
		if a.turn != t || a.stop != nil || a.chat.fenced != "" && err == nil {
			a.stopIfAsked(t)
			return
		}
		if err != nil {
			a.fail(t, &provider.Error{Code: "start_failed", Text: "The agent could not be restarted with the new settings.", Detail: err.Error()})
			return
		}
		a.open(t, a.spec(t))
	})
}

type opened struct {
	session provider.Session
	err     error
}

func (a *actor) open(t *turnRow, spec provider.Spec) {
	driver, host, ok := a.s.agents.Driver(a.chat.agent)
	if !ok {
		a.fail(t, &provider.Error{Code: "missing", Text: "This agent is not known to Berth any more.", Detail: a.chat.agent, Action: "open_settings"})
		return
	}
	ctx, cancel := context.WithTimeout(a.s.ctx, a.s.bounds.Open)
	a.start = &starting{cancel: cancel}
	fault.Point("agent.start")
	beside(a, func() opened {
		session, err := driver.Open(ctx, host, spec)
		return opened{session, err}
	}, func(o opened) {
		cancel()
		a.start = nil
		a.opened(t, spec, o)
	})
}

func (a *actor) opened(t *turnRow, spec provider.Spec, o opened) {
	fault.Point("agent.started")
	if o.session != nil {
		a.agent = &agent{session: o.session, spec: spec, entries: map[string]*event.Entry{}, ids: map[string]string{}, outputs: map[string]*output{},
			dirty: map[string]bool{}, full: map[string]bool{}, requests: map[string]*request{}}
		a.publishState()
	}
	if a.turn != t || a.stop != nil || a.ending || a.chat.fenced != "" {
		a.stopIfAsked(t)
		return
	}
	if o.err != nil {
		a.fail(t, asProviderError(o.err, "start_failed", "The agent did not start."))
		return
	}
	a.deliver(t)
}

// deliver writes the message to the agent. What is proven of the write is
// kept before and after, so that a crash in between is never resent.
func (a *actor) deliver(t *turnRow) {
	in := provider.Input{Turn: t.ID, Text: t.Text, Model: t.Model, Effort: t.Effort, Mode: t.Permissions}
	for _, at := range t.Attachments {
		_, path, err := a.s.files.Locate(a.s.ctx, at.File)
		if err != nil {
			a.fail(t, &provider.Error{Code: "attachment_missing", Text: "An attachment is not there any more.", Detail: at.Name})
			return
		}
		in.Attachments = append(in.Attachments, provider.Attachment{Path: path, Name: at.Name, Type: at.Type, Size: at.Size})
	}
	t.delivery = deliveryWriting
	if err := a.write("mark a delivery", func(tx *store.Tx) error { return a.s.saveTurn(tx, t) }); err != nil {
		t.delivery = deliveryNone
		a.fail(t, &provider.Error{Code: "disk_full", Text: "The delivery could not be recorded, so nothing was sent.", Detail: err.Error()})
		return
	}
	fault.Point("delivery.writing")
	type sent struct {
		delivery provider.Delivery
		err      error
	}
	agent := a.agent
	beside(a, func() sent {
		d, err := agent.session.Send(a.s.ctx, in)
		fault.Point("delivery.written")
		return sent{d, err}
	}, func(r sent) { a.sent(t, agent, r.delivery, r.err) })
}

func (a *actor) sent(t *turnRow, agent *agent, d provider.Delivery, err error) {
	if a.turn != t || a.agent != agent {
		return
	}
	switch {
	case d == provider.Uncertain:
		a.uncertain(t, err)
	case a.stop != nil:
		// The stop under way ends the turn; an agent that got nothing has
		// nothing to stop.
		if d == provider.NotSent {
			a.stopConfirmed()
		}
	case errors.Is(err, provider.ErrReopen) && d == provider.NotSent && !t.reopened:
		t.reopened, t.delivery = true, deliveryNone
		a.replaceAgent(t)
	case err != nil:
		a.fail(t, asProviderError(err, "failed", "The message could not be delivered."))
	case t.delivery == deliveryWriting:
		t.delivery = deliverySent
		if t.State == TurnStarting {
			t.State = TurnRunning
		}
		_ = a.write("mark a delivery", func(tx *store.Tx) error { return a.s.saveTurn(tx, t) })
	}
	fault.Point("delivery.sent") // also when the agent's word that it has it was quicker
}

// accepted: the agent has the message.
func (a *actor) accepted(steered bool) {
	t := a.turn
	if t == nil || t.delivery == deliveryAccepted || steered {
		return
	}
	fault.Point("delivery.accepting")
	t.delivery = deliveryAccepted
	if t.State == TurnStarting {
		t.State = TurnRunning
	}
	t.message.Status = event.Completed
	t.message.ProviderID = t.ID
	_ = a.write("record the acceptance", func(tx *store.Tx) error {
		if err := a.s.saveTurn(tx, t); err != nil {
			return err
		}
		return a.s.log.Put(tx, t.message)
	})
	fault.Point("delivery.accepted")
}

// fail ends a turn with a reason; the messages behind it wait for the user,
// since they would most likely meet the same.
func (a *actor) fail(t *turnRow, e *provider.Error) {
	a.dead = ""
	if e.Code == "not_resumable" {
		a.dead = e.Text
	}
	a.finish(t, TurnFailed, "failed", e)
}

// uncertain puts a turn back at the head of the queue, held: whether the
// agent got it cannot be told.
func (a *actor) uncertain(t *turnRow, cause error) {
	detail := ""
	if cause != nil {
		detail = cause.Error()
	}
	open := a.closeItems()
	t.State, t.place, t.Reason = TurnUncertain, front(a.queue), "delivery_unknown"
	t.message.Status = event.Pending
	_ = a.write("hold an uncertain message", func(tx *store.Tx) error {
		if err := a.s.saveTurn(tx, t); err != nil {
			return err
		}
		if err := a.putAll(tx, open); err != nil {
			return err
		}
		return a.s.log.Put(tx, a.notice(t, "delivery_unknown", "warning", noticeText["delivery_unknown"], detail, ""))
	})
	a.turn = nil
	a.queue = append([]*turnRow{t}, a.queue...)
	a.endStop(StopResult{State: "stopped", Turn: t.ID, Held: a.held()})
	a.release(func(error) {})
	a.publishState()
	a.changedNow()
}

// finish ends the turn that has the slot: exactly one terminal event, in the
// transaction that closes all it left open, before the next turn begins.
func (a *actor) finish(t *turnRow, state TurnState, reason string, cause *provider.Error) {
	fault.Point("turn.finish")
	now := store.Now()
	t.State, t.EndedAt, t.Reason = state, &now, reason
	open := a.closeItems()
	if t.message != nil && t.message.Status == event.Pending {
		t.message.Status = event.Completed
		if t.delivery == deliveryNone || t.delivery == deliveryWriting {
			t.message.Status = event.Failed
		}
		open = append(open, t.message)
	}
	if cause != nil {
		t.Error = turnError(cause)
		open = append(open, a.notice(t, cause.Code, "error", cause.Text, cause.Detail, cause.Action))
	} else if state == TurnStopped || state == TurnInterrupted {
		open = append(open, a.notice(t, string(state), "info", noticeText[reason], "", ""))
	}
	var held []*turnRow
	switch {
	case a.stop != nil: // it has held what waited when it was pressed
		held = a.stop.unsaved
	case state != TurnCompleted && reason != "user":
		held = hold(a.queue, reason)
	}
	a.recordEnd(t, open, held)
}

// finishRetry is how long a turn's end waits for the disk to take it.
const finishRetry = 2 * time.Second

// recordEnd writes the end of a turn and frees the slot. Until the end is on
// record nothing new starts; it is tried again while the disk refuses it. Who
// waits for a stop is told so at once: that may last.
func (a *actor) recordEnd(t *turnRow, open []*event.Entry, held []*turnRow) {
	err := a.write("end a turn", func(tx *store.Tx) error {
		if err := a.putAll(tx, open); err != nil {
			return err
		}
		fault.Point("turn.finish.items")
		for _, row := range append([]*turnRow{t}, held...) {
			if err := a.s.saveTurn(tx, row); err != nil {
				return err
			}
		}
		_, err := tx.Exec("update chats set content_seq = seq, updated_at = ? where id = ?", t.EndedAt.UnixMilli(), a.chat.id)
		return err
	})
	if err != nil && !a.ending {
		a.endStop(StopResult{State: "stopping", Turn: t.ID, Held: a.held(), Unconfirmed: []string{"The turn has ended, which is not on record yet: " + err.Error()}})
		time.AfterFunc(finishRetry, func() { a.later(func() { a.recordEnd(t, open, held) }) })
		return
	}
	fault.Point("turn.finished")
	a.turn = nil
	a.endStop(StopResult{State: "stopped", Turn: t.ID, Held: a.held()})
	a.publishState()
	a.changedNow()
	a.startNext()
}

// noticeText is what a notice says when the view has no word for its code.
var noticeText = map[string]string{
	"user":             "You stopped it.",
	"agent":            "The agent stopped.",
	"closed":           "Berth was closed while this ran. What was done so far is kept.",
	"restart":          "Berth ended without closing. What was done so far is kept; nothing is sent again.",
	"delivery_unknown": "It is not known whether the agent got this message. It is held and will not be sent again by itself.",
}

func (a *actor) notice(t *turnRow, code, level, text, detail, action string) *event.Entry {
	status := event.Completed
	if level == "error" {
		status = event.Failed
	}
	it := event.Item{Chat: a.chat.id, Kind: event.Notice, Status: status, Summary: beginning(text, summaryLength),
		Body: event.Body{Text: text, Notice: &event.NoticeFact{Code: code, Level: level, Detail: beginning(detail, maxDetail), Action: action}}}
	if t != nil {
		it.Turn = t.ID
	}
	return event.NewEntry(it, false)
}

// putAll writes items, and of requests among them that no longer wait, that
// they have ended.
func (a *actor) putAll(tx *store.Tx, entries []*event.Entry) error {
	for _, en := range entries {
		if err := a.s.log.Put(tx, en); err != nil {
			return err
		}
		r := en.Body.Request
		if r == nil || r.Answer == nil {
			continue
		}
		encoded, err := json.Marshal(r.Answer)
		if err != nil {
			return err
		}
		if err := saveRequest(tx, r.ID, r.Answer.Outcome, encoded, *r.Answer); err != nil {
			return err
		}
	}
	return nil
}

func turnError(e *provider.Error) *TurnError {
	te := &TurnError{Code: e.Code, Text: e.Text, Detail: beginning(e.Detail, maxDetail), Action: e.Action}
	if !e.RetryAt.IsZero() {
		at := e.RetryAt.UTC().Truncate(time.Millisecond)
		te.RetryAt = &at
	}
	return te
}

func asProviderError(err error, code, text string) *provider.Error {
	var pe *provider.Error
	if errors.As(err, &pe) {
		return pe
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &provider.Error{Code: "no_answer", Text: "The agent did not answer in time.", Detail: err.Error(), Err: err}
	}
	return &provider.Error{Code: code, Text: text, Detail: fmt.Sprint(err), Err: err}
}

func firstLine(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.IndexAny(s, "\r\n"); i >= 0 {
		s = strings.TrimSpace(s[:i])
	}
	return beginning(s, summaryLength)
}
