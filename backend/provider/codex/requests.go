package codex

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"berth/backend/event"
	"berth/backend/provider"
	"berth/backend/provider/form"
	"berth/backend/provider/wire"
)

// The requests by which Codex asks the user.
const (
	methodCommand     = "item/commandExecution/requestApproval"
	methodFiles       = "item/fileChange/requestApproval"
	methodPermissions = "item/permissions/requestApproval"
	methodQuestion    = "item/tool/requestUserInput"
	methodElicitation = "mcpServer/elicitation/request"
	methodOldPatch    = "applyPatchApproval"
	methodOldCommand  = "execCommandApproval"
)

// request is something that waits for the user.
type request struct {
	id     json.RawMessage
	thread string
	asked  provider.Request
	// reply is the result for an answer; an error finds fault with it.
	reply func(provider.Answer) (any, error)
	// cancelled is the result for a request that ends without an answer.
	cancelled any
	// reason says that a reason given with a refusal is passed on.
	reason func(provider.Answer) bool
}

// ask is the parameters of a request, as far as they are used.
type ask struct {
	TurnID   string `json:"turnId"`
	ItemID   string `json:"itemId"`
	CallID   string `json:"callId"`
	Approval string `json:"approvalId"`
	Kind     string `json:"kind"`
	Reason   string `json:"reason"`
	Cwd      string `json:"cwd"`
	Network  *struct {
		Host     string `json:"host"`
		Protocol string `json:"protocol"`
	} `json:"networkApprovalContext"`
	Command     json.RawMessage      `json:"command"` // a string; of the older request a list
	Additional  json.RawMessage      `json:"additionalPermissions"`
	Decisions   []json.RawMessage    `json:"availableDecisions"`
	GrantRoot   string               `json:"grantRoot"`
	Permissions json.RawMessage      `json:"permissions"`
	Questions   []question           `json:"questions"`
	AutoMS      int64                `json:"autoResolutionMs"`
	OldChanges  map[string]oldChange `json:"fileChanges"`

	Server  string      `json:"serverName"`
	Mode    string      `json:"mode"`
	Message string      `json:"message"`
	Schema  form.Schema `json:"requestedSchema"`
	URL     string      `json:"url"`
	Meta    toolCallAsk `json:"_meta"`
}

type question struct {
	ID      string `json:"id"`
	Header  string `json:"header"`
	Text    string `json:"question"`
	Other   bool   `json:"isOther"`
	Secret  bool   `json:"isSecret"`
	Options []struct {
		Label       string `json:"label"`
		Description string `json:"description"`
	} `json:"options"`
}

// asked takes a request of Codex.
func (s *session) asked(thread string, m wire.Message) {
	var in ask
	if err := json.Unmarshal(m.Params, &in); err != nil {
		s.server.unroutable(m)
		return
	}
	r := &request{id: m.ID, thread: thread, cancelled: declined(m.Method)}
	var body event.Request
	kind := event.Approval
	switch m.Method {
	case methodCommand:
		body = s.commandRequest(r, &in)
	case methodFiles:
		body = s.filesRequest(r, &in)
	case methodPermissions:
		body = s.permissionsRequest(r, &in)
	case methodOldCommand, methodOldPatch:
		body = s.oldRequest(r, &in, m.Method)
	case methodQuestion:
		kind, body = event.Question, s.questionRequest(r, &in)
	case methodElicitation:
		var ok bool
		if kind, body, ok = s.elicitationRequest(r, &in); !ok {
			s.server.unroutable(m)
			return
		}
	default:
		s.server.unroutable(m)
		return
	}
	body.Reason = clip(body.Reason, maxInput)
	s.put(r, provider.Request{Kind: kind, Tool: s.keyOf(thread, &in), Body: body, AutoResolveMS: in.AutoMS})
}

// keyOf is the key of the tool call that waits, if it was told of. MCP
// servers' requests do not name it: it is the call of theirs that runs.
func (s *session) keyOf(thread string, in *ask) string {
	if e := s.entries[rawKey(in.TurnID, in.ItemID)]; e != nil && e.told {
		return e.key
	}
	for _, e := range s.entries {
		if in.Server != "" && e.thread == thread && !e.ended && e.item.Server == in.Server && (in.Meta.Tool == "" || e.item.Tool == in.Meta.Tool) {
			return e.key
		}
	}
	return ""
}

// put registers a request and asks the user. A turn that was interrupted asks
// nothing any more, and neither does one that asks too much.
func (s *session) put(r *request, out provider.Request) {
	// Process and request together: a late answer to a request of a process
	// that has ended finds nothing.
	out.Key = fmt.Sprintf("%d/%s", s.server.generation, r.id)
	s.mu.Lock()
	over := len(s.requests) >= maxRequests || s.turn != nil && (s.turn.interrupted || s.turn.failure != nil)
	r.asked = out
	if !over {
		s.requests[out.Key] = r
	}
	s.mu.Unlock()
	if over {
		s.server.reply(r.id, r.cancelled)
		return
	}
	s.dog.Wait()
	s.emit(provider.Event{Request: &out})
}

// Answer gives the user's answer to what waits for it.
func (s *session) Answer(ctx context.Context, key string, a provider.Answer) error {
	s.mu.Lock()
	r := s.requests[key]
	s.mu.Unlock()
	if r == nil {
		return provider.ErrNoRequest
	}
	result := r.cancelled
	if !a.Cancelled {
		var err error
		if result, err = r.reply(a); err != nil {
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
	if err := s.write(ctx, r.id, result); err != nil {
		return fmt.Errorf("answer Codex: %w", err)
	}
	if !a.Cancelled && a.Reason != "" && r.reason != nil && r.reason(a) {
		s.passReason(ctx, a.Reason)
	}
	return nil
}

// write answers a request of Codex, at most until ctx ends.
func (s *session) write(ctx context.Context, id json.RawMessage, result any) error {
	done := make(chan error, 1)
	go func() { done <- s.server.rpc.Reply(ctx, id, result) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// passReason tells the model why the user refused. The protocol has no field
// for it, so that it goes as a message into the turn.
func (s *session) passReason(ctx context.Context, reason string) {
	delivery, err := s.Steer(ctx, provider.Input{Text: reason})
	if delivery == provider.Sent {
		return
	}
	detail := ""
	if err != nil {
		detail = clip(err.Error(), maxText)
	}
	s.post(func() {
		s.notice("reason/"+reason[:min(len(reason), 16)], "reason_lost", "warning", "Codex did not take the reason for the refusal; only that it was refused.", detail)
	})
}

// resolved: Codex no longer waits for a request.
func (s *session) resolved(id json.RawMessage) {
	s.mu.Lock()
	var found string
	for key, r := range s.requests {
		if bytes.Equal(r.id, id) {
			found = key
			delete(s.requests, key)
		}
	}
	s.mu.Unlock()
	if found == "" {
		return // answered here
	}
	s.dog.Resume()
	s.emit(provider.Event{Withdrawn: found})
}

// endRequests withdraws what the turn that has ended still asked.
func (s *session) endRequests() {
	s.mu.Lock()
	var keys []string
	for key, r := range s.requests {
		if r.thread == s.thread {
			keys = append(keys, key)
			delete(s.requests, key)
		}
	}
	s.mu.Unlock()
	slices.Sort(keys)
	for _, key := range keys {
		s.dog.Resume()
		s.emit(provider.Event{Withdrawn: key})
	}
}

// askAgain puts the requests of sub-agents that go on without a turn anew:
// those of the turn that has ended no longer count.
func (s *session) askAgain() {
	s.mu.Lock()
	var left []provider.Request
	for _, r := range s.requests {
		left = append(left, r.asked)
	}
	s.mu.Unlock()
	slices.SortFunc(left, func(a, b provider.Request) int { return strings.Compare(a.Key, b.Key) })
	for _, r := range left {
		s.emit(provider.Event{Request: &r})
	}
}

// choice is one way to answer an approval, and what it means to Codex.
type choice struct {
	option event.Option
	result any
}

// choose offers the choices of an approval.
func (r *request) choose(choices []choice) []event.Option {
	options := make([]event.Option, len(choices))
	results := map[string]any{}
	reasons := map[string]bool{}
	for i, c := range choices {
		options[i], results[c.option.ID], reasons[c.option.ID] = c.option, c.result, c.option.Reason
	}
	r.reply = func(a provider.Answer) (any, error) {
		result, ok := results[a.Option]
		if !ok {
			return nil, fmt.Errorf("option: %q is not one of %s", a.Option, strings.Join(slices.Sorted(maps.Keys(results)), ", "))
		}
		return result, nil
	}
	r.reason = func(a provider.Answer) bool { return reasons[a.Option] }
	return options
}

func decision(d any) any { return map[string]any{"decision": d} }
