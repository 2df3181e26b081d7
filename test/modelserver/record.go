package modelserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// Outcome is how an answer ended.
type Outcome string

// The outcomes of a request.
const (
	OutcomePending Outcome = "pending" // still being answered
	OutcomeDone    Outcome = "done"    // written whole
	OutcomeError   Outcome = "error"   // an error status, as scripted
	OutcomeCut     Outcome = "cut"     // broken off, as scripted
	OutcomeGone    Outcome = "gone"    // the agent went away in mid-answer
)

// Request is one call that the server received.
type Request struct {
	N       int       `json:"n"` // from 1, in order of arrival
	At      time.Time `json:"at"`
	API     string    `json:"api"` // anthropic, responses, completions, gemini, unknown
	Method  string    `json:"method"`
	Path    string    `json:"path"`
	Model   string    `json:"model,omitempty"`
	Outcome Outcome   `json:"outcome"`
	// Side says why this is no turn of the user (title, schema, probe, …);
	// empty for a turn.
	Side string `json:"side,omitempty"`
	// Prompt is the last text of the user, without what agents put around it.
	Prompt string `json:"prompt,omitempty"`
	// Opens is set when nothing follows the prompt yet: the first request of
	// a turn, or a repetition of it.
	Opens bool `json:"opens,omitempty"`
	// Texts are all texts of role user in the request, each as it came.
	Texts []string `json:"texts,omitempty"`
	// Results are the tool results that came after the prompt.
	Results []string `json:"results,omitempty"`
	// Images counts the pictures of role user in the request.
	Images int `json:"images,omitempty"`
	// Tools are the names of the tools offered.
	Tools []string        `json:"tools,omitempty"`
	Body  json.RawMessage `json:"body,omitempty"`
}

func (s *Server) record(api string, r *http.Request, body []byte, a *ask) (*Request, bool) {
	record := &Request{
		At: time.Now().UTC(), API: api, Method: r.Method, Path: r.URL.RequestURI(),
		Model: a.model, Outcome: OutcomePending, Side: a.side, Body: body,
		Texts: a.texts(), Images: a.images,
	}
	for _, t := range a.tools {
		record.Tools = append(record.Tools, t.name)
	}
	at := a.prompt()
	record.Prompt, record.Opens = at.text, at.calls == 0 && !at.answered
	for _, result := range at.results {
		record.Results = append(record.Results, result.text)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.records) >= maxRecords {
		return nil, false
	}
	record.N = len(s.records) + 1
	s.records = append(s.records, record)
	s.wake()
	return record, true
}

func (s *Server) finish(record *Request, outcome Outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	record.Outcome = outcome
	s.wake()
}

// wake tells those in Wait to look again. The lock is held.
func (s *Server) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Requests is a copy of what was received so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]Request, len(s.records))
	for i, r := range s.records {
		all[i] = *r
	}
	return all
}

// Wait returns once ok holds for what was received, or with the error of
// ctx.
func (s *Server) Wait(ctx context.Context, ok func([]Request) bool) error {
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if ok(s.Requests()) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("wait for the agent's request: %w", ctx.Err())
		}
	}
}

// Turns are the requests that belong to turns of the user.
func Turns(all []Request) []Request {
	var turns []Request
	for _, r := range all {
		if r.Side == "" {
			turns = append(turns, r)
		}
	}
	return turns
}

// DeliveredOnce is nil if the text reached the model as one message of the
// user, byte for byte, and once only: no request holds it twice, and just one
// request that was answered opens with it. A request that was refused with an
// error or cut off may have been repeated by the agent.
func (s *Server) DeliveredOnce(text string) error {
	opened, seen := 0, false
	for _, r := range Turns(s.Requests()) {
		count := 0
		for _, t := range r.Texts {
			if t == text {
				count++
			}
		}
		if count > 1 {
			return fmt.Errorf("request %d holds the text %d times: %.80q", r.N, count, text)
		}
		seen = seen || count == 1
		if r.Opens && r.Prompt == text && r.Outcome != OutcomeError && r.Outcome != OutcomeCut {
			opened++
		}
	}
	switch {
	case !seen:
		return fmt.Errorf("the text never reached the model unchanged: %.80q", text)
	case opened > 1:
		return fmt.Errorf("the text was sent %d times: %.80q", opened, text)
	}
	return nil
}

func (s *Server) showRequests(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, s.Requests())
}
