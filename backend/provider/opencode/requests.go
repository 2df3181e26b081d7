package opencode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"berth/backend/event"
	"berth/backend/provider"
)

// request is something that waits for the user.
type request struct {
	key    string // OpenCode's id
	check  func(provider.Answer) error
	answer func(context.Context, provider.Answer) error
}

// put registers a request and asks the user.
func (s *session) put(r *request, ask provider.Request) {
	s.mu.Lock()
	drop := len(s.requests) >= maxRequests || s.turn != nil && (s.turn.interrupted || s.turn.failure != nil)
	if !drop {
		s.requests[r.key] = r
	}
	s.mu.Unlock()
	if drop {
		go func() { _ = r.answer(s.ctx, provider.Answer{Cancelled: true}) }()
		return
	}
	s.dog.Wait()
	ask.Key = r.key
	s.emit(provider.Event{Request: &ask})
}

// dropRequests forgets all that waits; the end of the turn tells so. Called
// with mu held.
func (s *session) dropRequests() {
	for key := range s.requests {
		delete(s.requests, key)
		if s.turn != nil {
			s.turn.withdrawn = append(s.turn.withdrawn, key)
		}
	}
}

// Answer gives the user's answer to what waits for it.
func (s *session) Answer(ctx context.Context, key string, a provider.Answer) error {
	s.mu.Lock()
	r := s.requests[key]
	s.mu.Unlock()
	if r == nil {
		return provider.ErrNoRequest
	}
	if !a.Cancelled {
		if err := r.check(a); err != nil {
			return &provider.Error{Code: "invalid", Text: err.Error(), Err: err}
		}
	}
	s.mu.Lock()
	if s.requests[key] != r {
		s.mu.Unlock()
		return provider.ErrNoRequest
	}
	delete(s.requests, key)
	s.mu.Unlock()
	s.dog.Resume()
	err := r.answer(ctx, a)
	if isStatus(err, http.StatusNotFound) {
		return provider.ErrNoRequest
	}
	return err
}

// replied takes back a request that was answered elsewhere, or that OpenCode
// rejected along with another.
func (s *session) replied(properties json.RawMessage) {
	var in struct {
		RequestID string `json:"requestID"`
	}
	if json.Unmarshal(properties, &in) != nil {
		return
	}
	s.mu.Lock()
	_, waits := s.requests[in.RequestID]
	delete(s.requests, in.RequestID)
	s.mu.Unlock()
	if waits {
		s.dog.Resume()
		s.emit(provider.Event{Withdrawn: in.RequestID})
	}
}

// permission is what OpenCode asks to be allowed.
type permission struct {
	ID         string          `json:"id"`
	Permission string          `json:"permission"`
	Patterns   []string        `json:"patterns"`
	Always     []string        `json:"always"`
	Metadata   json.RawMessage `json:"metadata"`
	Tool       struct {
		MessageID string `json:"messageID"`
		CallID    string `json:"callID"`
	} `json:"tool"`
}

// The options of a permission. OpenCode's own "always" holds for every chat
// of the folder until the server ends; here it holds for this chat.
const (
	optionOnce   = "once"
	optionChat   = "chat"
	optionReject = "reject"
)

func (s *session) permissionAsked(properties json.RawMessage) {
	var p permission
	if json.Unmarshal(properties, &p) != nil || p.ID == "" {
		return
	}
	reply := func(ctx context.Context, word, message string) error {
		body := map[string]any{"reply": word}
		if message != "" {
			body["message"] = message
		}
		return s.srv.post(ctx, "/permission/"+p.ID+"/reply", s.spec.Cwd, body, nil)
	}
	if s.decides(p.Permission, p.Patterns) {
		go func() { _ = reply(s.ctx, "once", "") }()
		return
	}
	options := []event.Option{{ID: optionOnce, Kind: event.AllowOnce, Label: "Allow once"}}
	if len(p.Always) > 0 {
		options = append(options, event.Option{ID: optionChat, Kind: event.AllowSession, Label: "Allow in this chat: " + firstBytes(p.always(), maxDetail)})
	}
	options = append(options, event.Option{ID: optionReject, Kind: event.RejectOnce, Label: "Deny", Reason: true})
	body := s.approval(p)
	body.Options = options
	s.put(&request{
		key: p.ID,
		check: func(a provider.Answer) error {
			if !slices.ContainsFunc(options, func(o event.Option) bool { return o.ID == a.Option }) {
				return fmt.Errorf("option: %q is not one of those offered", a.Option)
			}
			return nil
		},
		answer: func(ctx context.Context, a provider.Answer) error {
			switch {
			case a.Cancelled || a.Option == optionReject:
				return reply(ctx, "reject", a.Reason)
			case a.Option == optionChat:
				s.grant(p)
			}
			return reply(ctx, "once", "")
		},
	}, provider.Request{Kind: event.Approval, Tool: s.view.calls[p.Tool.MessageID+"/"+p.Tool.CallID], Body: body})
}

// grant remembers what was allowed for this chat, sub-agents included.
func (s *session) grant(p permission) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, pattern := range p.Always {
		if r := (rule{p.Permission, pattern, allow}); len(s.granted) < maxRules && !slices.Contains(s.granted, r) {
			s.granted = append(s.granted, r)
		}
	}
}

// always says in words what is allowed from then on.
func (p permission) always() string {
	if len(p.Always) == 1 && p.Always[0] == "*" {
		return "every " + p.Permission
	}
	return strings.Join(p.Always, ", ")
}

// approval shows what is asked.
func (s *session) approval(p permission) event.Request {
	var meta struct {
		Command  string `json:"command"`
		FilePath string `json:"filepath"`
		Diff     string `json:"diff"`
		URL      string `json:"url"`
	}
	_ = json.Unmarshal(p.Metadata, &meta)
	patterns := strings.Join(p.Patterns, ", ")
	body := event.Request{Title: p.Permission + ": " + patterns, Cwd: s.spec.Cwd, ToolKind: kindOf(p.Permission), Input: bounded(p.Metadata)}
	switch p.Permission {
	case "bash":
		body.Command = firstNonEmpty(meta.Command, patterns)
		body.Title = body.Command
	case "edit":
		body.Title = "Edit " + firstNonEmpty(s.relative(meta.FilePath), patterns)
		if meta.Diff != "" {
			body.Files = []event.FileDiff{patchOf(s.relative(meta.FilePath), meta.Diff)}
		}
	case "webfetch":
		body.Title, body.Host = "Fetch "+firstNonEmpty(meta.URL, patterns), hostOf(firstNonEmpty(meta.URL, patterns))
	case "external_directory":
		body.Title = "Work outside the folder: " + patterns
	case "doom_loop":
		body.Title = "Go on, although the same call was made again and again: " + patterns
	}
	body.Title = firstBytes(body.Title, maxInput)
	return body
}

// questionAsked puts OpenCode's questions.
func (s *session) questionAsked(properties json.RawMessage) {
	var in struct {
		ID        string `json:"id"`
		Questions []struct {
			Question string `json:"question"`
			Header   string `json:"header"`
			Multiple bool   `json:"multiple"`
			Custom   *bool  `json:"custom"`
			Options  []struct {
				Label       string `json:"label"`
				Description string `json:"description"`
			} `json:"options"`
		} `json:"questions"`
	}
	if json.Unmarshal(properties, &in) != nil || in.ID == "" || len(in.Questions) > maxQuestions {
		return
	}
	body := event.Request{Title: "A question"}
	for i, q := range in.Questions {
		field := event.QuestionField{
			ID: strconv.Itoa(i + 1), Header: q.Header, Text: q.Question, Multiple: q.Multiple, FreeText: q.Custom == nil || *q.Custom,
		}
		for _, o := range q.Options {
			field.Choices = append(field.Choices, event.Choice{Value: o.Label, Label: o.Label, Note: o.Description})
		}
		body.Questions = append(body.Questions, field)
	}
	if len(in.Questions) == 1 {
		body.Title = in.Questions[0].Question
	}
	path := "/question/" + in.ID
	s.put(&request{
		key:   in.ID,
		check: func(a provider.Answer) error { return checkAnswers(body.Questions, a.Answers) },
		answer: func(ctx context.Context, a provider.Answer) error {
			if a.Cancelled || len(a.Answers) == 0 {
				return s.srv.post(ctx, path+"/reject", s.spec.Cwd, map[string]any{}, nil)
			}
			answers := make([][]string, len(body.Questions))
			for i, q := range body.Questions {
				answers[i] = append([]string{}, a.Answers[q.ID]...)
			}
			return s.srv.post(ctx, path+"/reply", s.spec.Cwd, map[string]any{"answers": answers}, nil)
		},
	}, provider.Request{Kind: event.Question, Body: body})
}

// maxQuestions bounds the questions asked at once.
const maxQuestions = 50

func checkAnswers(questions []event.QuestionField, answers map[string][]string) error {
	for id, given := range answers {
		i := slices.IndexFunc(questions, func(q event.QuestionField) bool { return q.ID == id })
		if i < 0 {
			return fmt.Errorf("answers.%s: there is no such question", id)
		}
		q := questions[i]
		if len(given) > 1 && !q.Multiple {
			return fmt.Errorf("answers.%s: one answer, not %d", id, len(given))
		}
		for _, g := range given {
			if !q.FreeText && !slices.ContainsFunc(q.Choices, func(c event.Choice) bool { return c.Value == g }) {
				return errors.New("answers." + id + ": " + strconv.Quote(g) + " is not one of the choices")
			}
		}
	}
	return nil
}
