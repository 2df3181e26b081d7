package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"berth/backend/event"
	"berth/backend/provider"
	"berth/backend/provider/form"
	"berth/backend/provider/wire"
)

// maxRequests bounds what waits for the user at once.
const maxRequests = 128

// request is something that waits for the user: asked by the agent, or by us
// about what the agent does through the protocol.
type request struct {
	key string
	id  json.RawMessage // of the agent's own request
	// answer writes the user's answer; check finds fault with it before it
	// counts as given.
	check     func(provider.Answer) error
	answer    func(provider.Answer) error
	cancelled func()
}

// put registers a request and asks the user.
func (s *session) put(r *request, ask provider.Request) {
	s.mu.Lock()
	full := len(s.requests) >= maxRequests
	over := s.turn != nil && (s.turn.interrupted || s.turn.failure != nil)
	if !full && !over {
		s.made++
		r.key = fmt.Sprintf("%s-q%d", s.id, s.made)
		s.requests[r.key] = r
	}
	s.mu.Unlock()
	if full || over {
		go r.cancelled()
		return
	}
	s.dog.Wait()
	ask.Key = r.key
	s.emit(provider.Event{Request: &ask})
}

// takeRequests takes all that waits. Called with mu held.
func (s *session) takeRequests() []*request {
	all := make([]*request, 0, len(s.requests))
	for key, r := range s.requests {
		all = append(all, r)
		delete(s.requests, key)
		if s.turn != nil {
			s.turn.withdrawn = append(s.turn.withdrawn, key)
		}
	}
	return all
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
	return s.bounded(ctx, func() error {
		if a.Cancelled {
			r.cancelled()
			return nil
		}
		return r.answer(a)
	})
}

// withdraw takes back a request that the agent cancelled.
func (s *session) withdraw(id json.RawMessage) {
	s.mu.Lock()
	var found *request
	for key, r := range s.requests {
		if r.id != nil && bytes.Equal(r.id, id) {
			found = r
			delete(s.requests, key)
		}
	}
	s.mu.Unlock()
	if found == nil {
		return
	}
	s.dog.Resume()
	go found.cancelled()
	s.emit(provider.Event{Withdrawn: found.key})
}

// permission takes session/request_permission.
func (s *session) permission(m wire.Message) {
	var in struct {
		Options []struct {
			ID   string `json:"optionId"`
			Name string `json:"name"`
			Kind string `json:"kind"`
		} `json:"options"`
		Call toolCall `json:"toolCall"`
	}
	if err := json.Unmarshal(m.Params, &in); err != nil || len(in.Options) == 0 || in.Call.ID == "" {
		s.refuse(m.ID, wire.CodeInvalidParams, "a request for permission needs a toolCall with an id, and options")
		return
	}
	t := s.accept()
	if t == nil {
		s.reply(m.ID, permissionCancelled)
		return
	}
	s.endMessage(t)
	call := s.merge(t, in.Call)
	if call == nil {
		s.refuse(m.ID, wire.CodeInternal, "too many tool calls in one turn")
		return
	}
	s.emitTool(call)
	options := make([]event.Option, 0, len(in.Options))
	for _, o := range in.Options {
		options = append(options, event.Option{ID: o.ID, Kind: event.OptionKind(o.Kind), Label: firstNonEmpty(o.Name, o.ID)})
	}
	if own := s.decides(call.kind, options); own != "" {
		s.allowed(t, call, event.AllowOnce)
		s.reply(m.ID, permissionSelected(own))
		return
	}
	s.put(s.permissionRequest(m.ID, t, call, options), provider.Request{
		Kind: event.Approval, Tool: call.id,
		Body: event.Request{
			Title: firstNonEmpty(call.title, string(call.kind)), Reason: firstBytes(call.output, maxInput), Command: call.command(),
			Cwd: s.spec.Cwd, ToolKind: call.kind, Input: call.input, Files: call.files, Options: options,
		},
	})
}

func (s *session) permissionRequest(id json.RawMessage, t *turn, call *tool, options []event.Option) *request {
	kinds := map[string]event.OptionKind{}
	for _, o := range options {
		kinds[o.ID] = o.Kind
	}
	callID := call.id
	grant := *call // as it stood when the user saw it
	return &request{
		id: id,
		check: func(a provider.Answer) error {
			if _, ok := kinds[a.Option]; !ok {
				return fmt.Errorf("option: %q is not one of those offered", a.Option)
			}
			return nil
		},
		answer: func(a provider.Answer) error {
			if kind := kinds[a.Option]; kind == event.RejectOnce || kind == event.RejectAlways {
				s.mu.Lock()
				t.denied = append(t.denied, callID)
				s.mu.Unlock()
			} else {
				s.allowed(t, &grant, kind)
			}
			return s.rpc.Reply(s.ctx, id, permissionSelected(a.Option))
		},
		cancelled: func() { _ = s.rpc.Reply(s.ctx, id, permissionCancelled) },
	}
}

// permissionCancelled and permissionSelected are the two outcomes of
// session/request_permission.
var permissionCancelled = map[string]any{"outcome": map[string]any{"outcome": "cancelled"}}

func permissionSelected(option string) any {
	return map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": option}}
}

// decides gives the option to take without asking the user: where the agent
// has no mode of its own for what the permission mode allows.
func (s *session) decides(kind event.ToolKind, options []event.Option) string {
	s.mu.Lock()
	p := s.policy
	s.mu.Unlock()
	if p.native || p.permission != provider.Full && (p.permission != provider.AcceptEdits || kind != event.ToolEdit) {
		return ""
	}
	for _, o := range options {
		if o.Kind == event.AllowOnce {
			return o.ID
		}
	}
	return ""
}

// command is the command line that a call is about, where it tells.
func (call *tool) command() string {
	if call.kind != event.ToolExecute {
		return ""
	}
	var in struct {
		Command json.RawMessage `json:"command"`
	}
	_ = json.Unmarshal(call.input, &in)
	var line string
	var words []string
	switch {
	case json.Unmarshal(in.Command, &line) == nil:
		return line
	case json.Unmarshal(in.Command, &words) == nil:
		return strings.Join(words, " ")
	}
	return call.title
}

// elicitation takes elicitation/create, the protocol's questions, as a form.
func (s *session) elicitation(m wire.Message) {
	var in struct {
		Mode    string      `json:"mode"`
		Message string      `json:"message"`
		Tool    string      `json:"toolCallId"`
		Schema  form.Schema `json:"requestedSchema"`
	}
	if err := json.Unmarshal(m.Params, &in); err != nil || in.Mode != "form" {
		s.refuse(m.ID, wire.CodeInvalidParams, "Berth answers questions put as a form")
		return
	}
	if t := s.accept(); t != nil {
		s.endMessage(t)
	}
	fields := in.Schema.Questions()
	reply := func(v any) error { return s.rpc.Reply(s.ctx, m.ID, v) }
	r := &request{
		id:        m.ID,
		check:     func(a provider.Answer) error { _, err := in.Schema.Content(a.Answers); return err },
		cancelled: func() { _ = reply(sdk.UnstableCreateElicitationCancel{Action: "cancel"}) },
	}
	r.answer = func(a provider.Answer) error {
		content, err := in.Schema.Content(a.Answers)
		if err != nil {
			return err
		}
		if len(content) == 0 && len(fields) > 0 {
			return reply(sdk.UnstableCreateElicitationDecline{Action: "decline"})
		}
		return reply(sdk.UnstableCreateElicitationAccept{Action: "accept", Content: content})
	}
	s.put(r, provider.Request{Kind: event.Question, Tool: in.Tool, Body: event.Request{Title: in.Message, Questions: fields}})
}
