package chat

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"berth/backend/event"
	"berth/backend/fault"
	"berth/backend/provider"
	"berth/backend/store"
)

// Bounds of an answer.
const (
	maxAnswerValues = 20
	maxAnswerLength = 8000 // characters of one value
)

// request is something the agent asked and that waits.
type request struct {
	id    string
	key   string // the driver's handle
	entry *event.Entry
}

// ask puts a question of the agent to the human; the turn waits.
func (a *actor) ask(r *provider.Request) {
	if a.stop != nil || a.ending {
		return // the stop under way ends it
	}
	req := &request{id: store.NewID("req"), key: r.Key}
	body := r.Body
	body.ID, body.Tool = req.id, a.agent.ids[r.Tool]
	if r.AutoResolveMS > 0 {
		at := store.Now().Add(time.Duration(r.AutoResolveMS) * time.Millisecond)
		body.AutoResolveAt = &at
	}
	it := event.Item{Chat: a.chat.id, Turn: a.turnID(), Kind: r.Kind, Status: event.Pending, Body: event.Body{Request: &body}}
	boundBody(&it.Body)
	it.Summary = firstLine(body.Title)
	req.entry = event.NewEntry(it, false)
	t := a.turn
	err := a.write("record a request", func(tx *store.Tx) error {
		if err := a.s.log.Put(tx, req.entry); err != nil {
			return err
		}
		_, err := tx.Exec("insert into requests(id, chat_id, turn_id, item_id, kind, state, title, created_at) values(?,?,?,?,?,'pending',?,?)",
			req.id, a.chat.id, a.turnID(), req.entry.ID, r.Kind, it.Summary, req.entry.At.UnixMilli())
		if err != nil || t == nil || t.State != TurnRunning && t.State != TurnStarting {
			return err
		}
		t.State = TurnAwaitingInput
		return a.s.saveTurn(tx, t)
	})
	if err != nil {
		// A question nobody can see must not leave the agent waiting.
		ag := a.agent
		beside(a, func() error { return ag.session.Answer(a.s.ctx, r.Key, provider.Answer{Cancelled: true}) }, func(error) {})
		return
	}
	fault.Point("request.asked")
	a.agent.requests[req.id] = req
	a.changedNow()
}

// Answer answers a request of an agent. It is on disk before the agent gets
// it; a second answer is refused and names the first.
func (s *Service) Answer(ctx context.Context, id string, given GivenAnswer, by string) (event.RequestAnswer, error) {
	var chat string
	err := s.db.Read().QueryRowContext(ctx, "select chat_id from requests where id = ?", id).Scan(&chat)
	if errors.Is(err, sql.ErrNoRows) {
		return event.RequestAnswer{}, notFound("request")
	}
	if err != nil {
		return event.RequestAnswer{}, fmt.Errorf("read a request: %w", err)
	}
	var answer event.RequestAnswer
	err = s.do(ctx, chat, func(a *actor) error {
		answer, err = a.answer(ctx, id, given, by)
		return err
	})
	return answer, err
}

func (a *actor) answer(ctx context.Context, id string, given GivenAnswer, by string) (event.RequestAnswer, error) {
	var req *request
	if a.agent != nil && a.stop == nil {
		req = a.agent.requests[id]
	}
	if req == nil {
		return event.RequestAnswer{}, a.alreadyAnswered(ctx, id)
	}
	if err := checkAnswer(req.entry.Body.Request, given); err != nil {
		return event.RequestAnswer{}, err
	}
	answer := event.RequestAnswer{Option: given.Option, Reason: given.Reason, Answers: given.Answers, Outcome: "answered", By: by, At: store.Now()}
	if err := a.endRequest(req, answer, event.Completed); err != nil {
		return event.RequestAnswer{}, err
	}
	fault.Point("request.answered")
	ag, t := a.agent, a.turn
	beside(a, func() error {
		return ag.session.Answer(a.s.ctx, req.key, provider.Answer{Option: given.Option, Reason: given.Reason, Answers: given.Answers})
	}, func(err error) {
		if err == nil || a.agent != ag {
			return
		}
		_ = a.write("tell of an answer that did not arrive", func(tx *store.Tx) error {
			return a.s.log.Put(tx, a.notice(t, "answer_not_taken", "warning", "The agent did not take the answer.", err.Error(), ""))
		})
	})
	return answer, nil
}

// endRequest records how a request ended, and that the turn goes on when
// nothing else waits.
func (a *actor) endRequest(req *request, answer event.RequestAnswer, status event.Status) error {
	body := *req.entry.Body.Request
	body.Answer = &answer
	before := req.entry.Item
	req.entry.Body.Request, req.entry.Status = &body, status
	encoded, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	t := a.turn
	goesOn := t != nil && t.State == TurnAwaitingInput && len(a.agent.requests) == 1
	err = a.write("end a request", func(tx *store.Tx) error {
		if err := a.s.log.Put(tx, req.entry); err != nil {
			return err
		}
		if err := saveRequest(tx, req.id, answer.Outcome, encoded, answer); err != nil {
			return err
		}
		if !goesOn {
			return nil
		}
		running := *t
		running.State = TurnRunning
		return a.s.saveTurn(tx, &running)
	})
	if err != nil {
		req.entry.Item = before
		return err
	}
	if goesOn {
		t.State = TurnRunning
	}
	delete(a.agent.requests, req.id)
	a.changedNow()
	return nil
}

func saveRequest(tx *store.Tx, id, state string, encoded []byte, answer event.RequestAnswer) error {
	_, err := tx.Exec("update requests set state = ?, answer = ?, ended_at = ? where id = ?", state, string(encoded), answer.At.UnixMilli(), id)
	return err
}

// alreadyAnswered is the refusal of an answer that came too late.
func (a *actor) alreadyAnswered(ctx context.Context, id string) error {
	var encoded string
	err := a.s.db.Read().QueryRowContext(ctx, "select answer from requests where id = ?", id).Scan(&encoded)
	if err != nil {
		return fmt.Errorf("read a request: %w", err)
	}
	e := &Error{Code: "already_answered", Text: "This request no longer waits for an answer."}
	var winner event.RequestAnswer
	if json.Unmarshal([]byte(encoded), &winner) == nil {
		e.Winner = &winner
	}
	return e
}

func checkAnswer(r *event.Request, given GivenAnswer) error {
	if len(r.Questions) == 0 {
		i := slices.IndexFunc(r.Options, func(o event.Option) bool { return o.ID == given.Option })
		if i < 0 {
			return invalid("option", "The option must be one of those offered.")
		}
		if given.Reason != "" && !r.Options[i].Reason {
			return invalid("reason", "This option takes no reason.")
		}
		return nil
	}
	if len(given.Answers) == 0 {
		return invalid("answers", "The answers are missing.")
	}
	for id, values := range given.Answers {
		i := slices.IndexFunc(r.Questions, func(q event.QuestionField) bool { return q.ID == id })
		if i < 0 {
			return invalid("answers."+id, "There is no such question.")
		}
		if err := checkValues(r.Questions[i], values); err != nil {
			return err
		}
	}
	return nil
}

func checkValues(q event.QuestionField, values []string) error {
	field := "answers." + q.ID
	if len(values) == 0 || len(values) > maxAnswerValues || !q.Multiple && len(values) > 1 {
		return invalid(field, "This question takes one answer, or several where it says so.")
	}
	for _, v := range values {
		if len(v) > maxAnswerLength*4 {
			return invalid(field, fmt.Sprintf("An answer is at most %d characters.", maxAnswerLength))
		}
		offered := slices.ContainsFunc(q.Choices, func(c event.Choice) bool { return c.Value == v })
		if !offered && !q.FreeText {
			return invalid(field, "The answer must be one of the choices.")
		}
	}
	return nil
}

// withdrawn: the agent no longer waits for a request.
func (a *actor) withdrawn(key string) {
	for _, req := range a.agent.requests {
		if req.key == key {
			_ = a.endRequest(req, event.RequestAnswer{Outcome: "withdrawn", At: store.Now()}, event.Cancelled)
			return
		}
	}
}

// cancelRequests ends all that waits, for the transaction that ends the turn.
func (a *actor) cancelRequests() []*event.Entry {
	var open []*event.Entry
	for _, req := range a.agent.requests {
		answer := event.RequestAnswer{Outcome: "cancelled", At: store.Now()}
		body := *req.entry.Body.Request
		body.Answer = &answer
		req.entry.Body.Request, req.entry.Status = &body, event.Cancelled
		open = append(open, req.entry)
	}
	clear(a.agent.requests)
	return open
}

func (a *actor) pendingKeys() []string {
	var keys []string
	for _, req := range a.agent.requests {
		keys = append(keys, req.key)
	}
	return keys
}
