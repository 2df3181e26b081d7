package opencode

import (
	"encoding/json"
	"time"

	"berth/backend/event"
	"berth/backend/provider"
)

// envelope is an event with its kind looked at first.
type envelope struct {
	Type       string          `json:"type"`
	Properties json.RawMessage `json:"properties"`
}

// handle takes one event of the folder.
func (s *session) handle(data []byte) {
	var e envelope
	if json.Unmarshal(data, &e) != nil {
		return
	}
	var about struct {
		SessionID string `json:"sessionID"`
	}
	_ = json.Unmarshal(e.Properties, &about)
	if e.Type == "session.created" {
		s.sessionCreated(e.Properties)
		return
	}
	if about.SessionID == "" || about.SessionID != s.id && !s.view.isChild(about.SessionID) {
		return // another chat's, or the folder's
	}
	s.dog.Alive()
	s.emit(provider.Event{Raw: rawLine(data)})
	main := about.SessionID == s.id
	switch e.Type {
	case "message.updated":
		s.messageUpdated(main, e.Properties)
	case "message.part.updated":
		s.partUpdated(about.SessionID, e.Properties)
	case "message.part.delta":
		s.partDelta(about.SessionID, e.Properties)
	case "permission.asked":
		s.permissionAsked(e.Properties)
	case "question.asked":
		s.questionAsked(e.Properties)
	case "permission.replied", "question.replied", "question.rejected":
		s.replied(e.Properties)
	default:
		if main {
			s.mainEvent(e)
		}
	}
}

// mainEvent takes what matters only of the conversation itself.
func (s *session) mainEvent(e envelope) {
	switch e.Type {
	case "session.idle":
		s.idle()
	case "session.status":
		s.status(e.Properties)
	case "session.error":
		s.sessionError(e.Properties)
	case "todo.updated":
		s.todos(e.Properties)
	case "session.compacted":
		if t := s.current(); t != nil {
			s.notice(t, "compacted", "info", title+" shortened the conversation to make room in the model's context.")
		}
	}
}

// current is the running turn, or nil.
func (s *session) current() *turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.turn
}

// sessionCreated notes sub-agents: conversations below ours.
func (s *session) sessionCreated(properties json.RawMessage) {
	var in struct {
		Info info `json:"info"`
	}
	if json.Unmarshal(properties, &in) != nil {
		return
	}
	if in.Info.ParentID == s.id || s.view.isChild(in.Info.ParentID) {
		s.view.addChild(in.Info.ID)
	}
}

// message is what message.updated tells.
type message struct {
	ID        string   `json:"id"`
	SessionID string   `json:"sessionID"`
	Role      string   `json:"role"`
	ParentID  string   `json:"parentID"`
	Finish    string   `json:"finish"`
	Error     *problem `json:"error"`
	Provider  string   `json:"providerID"`
	Model     string   `json:"modelID"`
	Time      struct {
		Completed int64 `json:"completed"`
	} `json:"time"`
}

func (s *session) messageUpdated(main bool, properties json.RawMessage) {
	var in struct {
		Info message `json:"info"`
	}
	if json.Unmarshal(properties, &in) != nil || in.Info.ID == "" {
		return
	}
	m := in.Info
	s.view.addMessage(m.ID, m.Role, m.ParentID)
	if !main {
		return
	}
	s.mu.Lock()
	t, fresh := s.turn, m.ID > s.lastID
	if fresh {
		s.lastID = m.ID
	}
	s.mu.Unlock()
	if t == nil {
		return
	}
	if m.Role == "user" {
		if fresh {
			s.accepted(t, m.ID)
		}
		return
	}
	if !s.view.answers(m.ParentID, t.number) {
		return // of an earlier turn, late
	}
	if fresh {
		s.abortAgain(t)
	}
	if m.Model != "" {
		s.usage.Model = m.Provider + "/" + m.Model
	}
	if m.Error != nil {
		t.problem = m.Error
	}
	if m.Time.Completed > 0 || m.Error != nil {
		t.answered, t.finish = true, m.Finish
	}
}

// accepted proves the delivery of the turn's message, or of one put into it.
func (s *session) accepted(t *turn, id string) {
	s.mu.Lock()
	steered := t.accepted
	if steered {
		if t.steering == 0 {
			s.mu.Unlock()
			return // not ours: a task that ended in the background, for one
		}
		t.steering--
	}
	t.accepted = true
	s.mu.Unlock()
	if !steered {
		t.loose = nil // it was of the turn before
		t.number = s.view.nextTurn()
	}
	s.view.addQuestion(id, t.number)
	s.emit(provider.Event{Accepted: &provider.Accepted{ProviderTurn: id, Steered: steered}})
}

// abortAgain repeats an interrupt that came before OpenCode had begun.
func (s *session) abortAgain(t *turn) {
	s.mu.Lock()
	late := t.interrupted
	s.mu.Unlock()
	if late {
		go func() { _ = s.abort(s.ctx) }()
	}
}

// idleChecks and idleEvery are how often and how far apart an idle that came
// without an answer is looked at before it is believed. A message that was
// not even taken up (errorChecks) is given longer: the first of a folder was
// seen to take four seconds.
const (
	idleChecks  = 3
	errorChecks = 20
	idleEvery   = 500 * time.Millisecond
)

// idle ends the turn. OpenCode may say "idle" once more for a turn that was
// aborted or failed, even after the next has begun: an idle without an answer
// of this turn is checked.
func (s *session) idle() {
	t := s.current()
	if t == nil {
		return
	}
	s.mu.Lock()
	accepted, interrupted, steering := t.accepted, t.interrupted, t.steering
	s.mu.Unlock()
	switch {
	case !accepted:
	case (t.answered || interrupted) && steering == 0:
		s.endTurn(t)
	default:
		s.checkIdle(t, true, idleChecks)
	}
}

// checkIdle asks the server a few times whether the conversation rests, and
// then ends the turn; accepted is whether its message was when that began.
func (s *session) checkIdle(t *turn, accepted bool, checks int) {
	s.host.Clock.AfterFunc(idleEvery, func() {
		var status map[string]struct {
			Type string `json:"type"`
		}
		if s.srv.get(s.ctx, "/session/status", s.spec.Cwd, &status) != nil {
			return // the stream tells what is wrong
		}
		s.later(func() {
			s.mu.Lock()
			other := s.turn != t || t.accepted != accepted
			s.mu.Unlock()
			if kind := status[s.id].Type; other || kind != "" && kind != "idle" {
				return
			}
			if checks > 1 {
				s.checkIdle(t, accepted, checks-1)
				return
			}
			s.endTurn(t)
		})
	})
}

// endTurn tells the end of the turn, once.
func (s *session) endTurn(t *turn) {
	s.mu.Lock()
	if s.turn != t {
		s.mu.Unlock()
		return
	}
	interrupted, failure := t.interrupted, t.failure
	s.dropRequests()
	withdrawn := t.withdrawn
	s.turn = nil
	s.mu.Unlock()
	s.dog.Stop()
	end := t.ending(interrupted, failure)
	if t.finish == "length" && end.State == completed {
		s.notice(t, "max_tokens", "warning", "The answer ends early: the model's limit of tokens was reached.")
	}
	s.sweep(end.State)
	for _, key := range withdrawn {
		s.emit(provider.Event{Withdrawn: key})
	}
	s.emit(provider.Event{TurnEnded: end})
}

// The states of provider.TurnEnded.
const (
	completed = "completed"
	failed    = "failed"
	stopped   = "stopped"
)

func (t *turn) ending(interrupted bool, failure *provider.Error) *provider.TurnEnded {
	problem := t.problem
	if problem == nil && !t.answered {
		problem = t.loose
	}
	switch {
	case failure != nil:
		return &provider.TurnEnded{State: failed, StopReason: "no_answer", Err: failure}
	case interrupted, problem != nil && problem.Name == "MessageAbortedError":
		return &provider.TurnEnded{State: stopped, StopReason: "cancelled"}
	case problem != nil:
		return &provider.TurnEnded{State: failed, StopReason: "error", Err: problem.plain()}
	case t.finish == "content-filter":
		return &provider.TurnEnded{State: failed, StopReason: "refusal", Err: &provider.Error{Code: "refused", Text: "The model's provider withheld the answer."}}
	case t.finish == "length":
		return &provider.TurnEnded{State: completed, StopReason: "max_tokens"}
	case t.finish == "stop" || t.finish == "":
		return &provider.TurnEnded{State: completed, StopReason: "end_turn"}
	}
	return &provider.TurnEnded{State: completed, StopReason: t.finish}
}

// status shows that OpenCode waits before it asks the model again.
func (s *session) status(properties json.RawMessage) {
	var in struct {
		Status struct {
			Type    string `json:"type"`
			Attempt int    `json:"attempt"`
			Message string `json:"message"`
			Next    int64  `json:"next"` // ms since 1970
		} `json:"status"`
	}
	t := s.current()
	if json.Unmarshal(properties, &in) != nil || in.Status.Type != "retry" || t == nil {
		return
	}
	text := "The model's provider refused the request. OpenCode tries again"
	if in.Status.Next > 0 {
		text += " at " + time.UnixMilli(in.Status.Next).Local().Format(time.TimeOnly)
	}
	s.emit(provider.Event{Item: &provider.Item{
		Key: s.view.key(s.id, t.number, "retry"), Kind: event.Notice, Status: event.Completed,
		Body: event.Body{Text: text + ".", Notice: &event.NoticeFact{Code: "rate_limited", Level: "warning", Detail: firstBytes(in.Status.Message, maxDetail)}},
	}})
}

// sessionError is told without the message it belongs to.
func (s *session) sessionError(properties json.RawMessage) {
	var in struct {
		Error *problem `json:"error"`
	}
	t := s.current()
	if json.Unmarshal(properties, &in) != nil || in.Error == nil || t == nil {
		return
	}
	s.mu.Lock()
	accepted := t.accepted
	s.mu.Unlock()
	t.loose = in.Error
	if !accepted {
		s.checkIdle(t, false, errorChecks)
	}
}

type tokens struct {
	Input     int64 `json:"input"`
	Output    int64 `json:"output"`
	Reasoning int64 `json:"reasoning"`
	Cache     struct {
		Read  int64 `json:"read"`
		Write int64 `json:"write"`
	} `json:"cache"`
}

// todos is the plan.
func (s *session) todos(properties json.RawMessage) {
	var in struct {
		Todos []struct {
			Content  string `json:"content"`
			Status   string `json:"status"`
			Priority string `json:"priority"`
		} `json:"todos"`
	}
	t := s.current()
	if json.Unmarshal(properties, &in) != nil || t == nil {
		return
	}
	entries, status := make([]event.PlanEntry, 0, min(len(in.Todos), maxPlan)), event.Completed
	for _, todo := range in.Todos[:min(len(in.Todos), maxPlan)] {
		entry := event.PlanEntry{Text: todo.Content, Priority: todo.Priority, Status: event.Pending}
		switch st := event.Status(todo.Status); st {
		case event.InProgress, event.Completed, event.Cancelled:
			entry.Status = st
		}
		if entry.Status != event.Completed && entry.Status != event.Cancelled {
			status = event.InProgress
		}
		entries = append(entries, entry)
	}
	s.emit(provider.Event{Item: &provider.Item{
		Key: s.view.key(s.id, t.number, "plan"), Kind: event.Plan, Status: status, Body: event.Body{Plan: entries},
	}})
}

// maxPlan bounds the entries of a plan.
const maxPlan = 500

// notice adds a row of our own, once per turn and code.
func (s *session) notice(t *turn, code, level, text string) {
	if t.said[code] {
		return
	}
	t.said[code] = true
	s.emit(provider.Event{Item: &provider.Item{
		Key: s.view.key(s.id, t.number, code), Kind: event.Notice, Status: event.Completed,
		Body: event.Body{Text: text, Notice: &event.NoticeFact{Code: code, Level: level}},
	}})
}
