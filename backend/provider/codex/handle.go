package codex

import (
	"context"
	"encoding/json"
	"fmt"

	"berth/backend/event"
	"berth/backend/provider"
	"berth/backend/provider/wire"
)

// note is the parameters of a notification, as far as any is used.
type note struct {
	Turn    nativeTurn      `json:"turn"`
	TurnID  string          `json:"turnId"`
	Item    json.RawMessage `json:"item"`
	ItemID  string          `json:"itemId"`
	Delta   string          `json:"delta"`
	Message string          `json:"message"`

	SummaryIndex int             `json:"summaryIndex"`
	Explanation  string          `json:"explanation"`
	Plan         []planStep      `json:"plan"`
	Usage        *tokenUsage     `json:"tokenUsage"`
	Changes      []fileChange    `json:"changes"`
	Error        *turnFailure    `json:"error"`
	WillRetry    bool            `json:"willRetry"`
	Request      json.RawMessage `json:"requestId"`
	FromModel    string          `json:"fromModel"`
	ToModel      string          `json:"toModel"`
}

// handle takes a message of the conversation, or of one of its sub-agents.
func (s *session) handle(thread string, m wire.Message) {
	s.dog.Alive()
	s.emit(provider.Event{Raw: rawLine(m.Raw)})
	if m.ID != nil {
		s.asked(thread, m)
		return
	}
	var n note
	if err := json.Unmarshal(m.Params, &n); err != nil {
		s.unreadable(thread, m.Method, err)
		return
	}
	root := thread == s.thread
	switch m.Method {
	case "turn/started":
		s.turnStarted(thread, n.Turn.ID)
	case "turn/completed":
		if root {
			s.turnEnded(n.Turn)
		} else {
			s.agentTurnEnded(thread, n.Turn)
		}
	case "item/started":
		s.itemStarted(thread, n.TurnID, n.Item)
	case "item/completed":
		s.itemEnded(thread, n.TurnID, n.Item)
	case "item/agentMessage/delta", "item/plan/delta":
		s.answerText(thread, n)
	case "item/reasoning/summaryTextDelta":
		s.thoughtText(thread, n, "")
	case "item/reasoning/textDelta":
		s.thoughtText(thread, n, rawThought)
	case "item/commandExecution/outputDelta":
		s.toolText(n)
	case "item/mcpToolCall/progress":
		n.Delta = n.Message + "\n"
		s.toolText(n)
	case "item/fileChange/patchUpdated":
		s.filesChanged(n)
	case "turn/plan/updated":
		s.planned(n)
	case "thread/tokenUsage/updated":
		if root && n.Usage != nil {
			s.used(n.Usage)
		}
	case "error":
		if root && n.Error != nil {
			s.troubled(n)
		}
	case "serverRequest/resolved":
		s.resolved(n.Request)
	case "thread/closed":
		if root { // by another client of the same Codex
			s.end(&provider.Closed{Err: &provider.Error{Code: "agent_ended", Text: "Codex closed this conversation.", Action: "send_again"}})
		}
	case "model/rerouted":
		s.notice(n.TurnID+"/rerouted", "model_rerouted", "warning", fmt.Sprintf("Codex answers with %s instead of %s.", clip(n.ToModel, 100), clip(n.FromModel, 100)), "")
	case "warning", "guardianWarning":
		s.warning(n)
	}
	// All others are signs of life, or told of in another way too.
}

// unreadable: a message of a shape that came later is let go, its line was
// told of. Only the end of a turn must never be missed.
func (s *session) unreadable(thread, method string, err error) {
	s.mu.Lock()
	t := s.turn
	s.mu.Unlock()
	if method == "turn/completed" && thread == s.thread && t != nil {
		s.turnEnded(nativeTurn{ID: t.id, Status: "failed", Error: &turnFailure{Message: "the end of the turn cannot be read: " + err.Error()}})
	}
}

// rawLine keeps a line for the debug view; of one that is too long, its
// beginning as a string.
func rawLine(line []byte) json.RawMessage {
	if len(line) <= maxRaw {
		return line
	}
	return mustJSON(clip(string(line), maxRaw))
}

// turnStarted: ours as a rule; it may come before the reply to turn/start. A
// turn that nobody sent is ended at once.
func (s *session) turnStarted(thread, id string) {
	if thread != s.thread {
		s.agentTurnStarted(thread, id)
		return
	}
	s.mu.Lock()
	p, t := s.pending, s.turn
	if p == nil && t == nil {
		s.foreign = id
	}
	s.mu.Unlock()
	switch {
	case t != nil:
	case p != nil:
		s.bind(p, id)
	default:
		s.notice(id+"/foreign", "foreign_turn", "warning", "Codex began to work by itself. Berth stopped it: nobody had asked for it.", "")
		go func() { _ = s.interruptNative(context.Background(), thread, id) }()
	}
}

// turnEnded ends the turn: what it left running is dealt with, what it left
// open is closed, and the end is told.
func (s *session) turnEnded(n nativeTurn) {
	s.mu.Lock()
	t := s.turn
	if t == nil || t.id != n.ID {
		if s.foreign == n.ID {
			s.foreign = ""
		}
		s.mu.Unlock()
		s.wake()
		return
	}
	interrupted := t.interrupted || n.Status == statusInterrupted
	s.mu.Unlock()
	if interrupted {
		s.stopWork(t)
	}
	s.closeEntries(n.ID, interrupted)
	s.endRequests()
	s.dog.Stop()
	end := s.ended(t, n)
	s.mu.Lock()
	s.turn = nil
	s.mu.Unlock()
	s.tellBackground()
	s.emit(provider.Event{TurnEnded: end})
	s.askAgain()
	s.wake()
}

// ended is how a turn ended.
func (s *session) ended(t *turn, n nativeTurn) *provider.TurnEnded {
	s.mu.Lock()
	failure, interrupted, said := t.failure, t.interrupted, t.said
	s.mu.Unlock()
	switch {
	case failure != nil:
		return &provider.TurnEnded{State: stateFailed, StopReason: n.Status, Err: failure}
	case n.Status == statusCompleted && !said && !interrupted:
		return &provider.TurnEnded{State: stateFailed, StopReason: "empty", Err: &provider.Error{
			Code: "no_answer", Text: "Codex ended the turn without an answer. If a provider of your own is configured, it may not stream answers as Codex needs it.", Action: "send_again",
		}}
	case n.Status == statusCompleted:
		return &provider.TurnEnded{State: stateCompleted, StopReason: "end_turn"}
	case n.Status == statusInterrupted:
		return &provider.TurnEnded{State: stateStopped, StopReason: "cancelled"}
	}
	problem := n.Error
	if problem == nil {
		problem = t.problem
	}
	if problem == nil {
		problem = &turnFailure{Message: "status " + n.Status}
	}
	return &provider.TurnEnded{State: stateFailed, StopReason: n.Status, Err: s.explain(problem)}
}

// troubled takes an error that Codex tells of during the turn. One after
// which it tries again is a notice; the last one explains the turn's end.
func (s *session) troubled(n note) {
	s.mu.Lock()
	t := s.turn
	s.mu.Unlock()
	if t == nil || t.id != n.TurnID {
		return
	}
	if !n.WillRetry {
		t.problem = n.Error
		return
	}
	t.retries++
	s.cutOff(n.TurnID)
	e := s.explain(n.Error)
	s.notice(n.TurnID+"/retry", e.Code, "warning", fmt.Sprintf("%s Codex tries again (%d).", e.Text, t.retries), clip(firstOf(n.Error.Details, n.Error.Message), maxText))
}

// notice tells of something in a row of its own.
func (s *session) notice(key, code, level, text, detail string) {
	s.emit(provider.Event{Item: noticeItem(key, event.Completed, code, level, text, detail)})
}

// warning is Codex's own sentence to the user.
func (s *session) warning(n note) {
	if n.Message == "" || s.warned[n.Message] {
		return
	}
	if len(s.warned) < maxWarnings {
		s.warned[n.Message] = true
	}
	s.notice(fmt.Sprintf("warning/%d", len(s.warned)), "agent_warning", "info", clip(n.Message, maxText), "")
}

// maxWarnings bounds the warnings remembered, so that each is shown once.
const maxWarnings = 100

// planStep is one step of turn/plan/updated.
type planStep struct {
	Step   string `json:"step"`
	Status string `json:"status"`
}

// maxPlan bounds the steps of a plan.
const maxPlan = 200

// planned shows the plan as it stands.
func (s *session) planned(n note) {
	s.said(n.TurnID)
	entries := make([]event.PlanEntry, 0, min(len(n.Plan), maxPlan))
	for _, step := range n.Plan[:min(len(n.Plan), maxPlan)] {
		status := event.Pending
		switch step.Status {
		case "inProgress":
			status = event.InProgress
		case "completed":
			status = event.Completed
		}
		entries = append(entries, event.PlanEntry{Text: clip(step.Step, maxText), Status: status})
	}
	s.emit(provider.Event{Item: &provider.Item{
		Key: n.TurnID + "/plan", Kind: event.Plan, Status: event.Completed, Summary: clip(firstLine(n.Explanation), maxText),
		Body: event.Body{Plan: entries},
	}})
}

// said notes that the agent did something in the turn.
func (s *session) said(turn string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn != nil && s.turn.id == turn {
		s.turn.said = true
	}
}
