package codex

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"berth/backend/provider/wire"
)

// address is what of a message's parameters says where it belongs. A
// sub-agent's thread is first named by an item of its parent, before any
// message of its own.
type address struct {
	Thread       string `json:"threadId"`
	Conversation string `json:"conversationId"` // of the older requests for approval
	Started      struct {
		ID     string `json:"id"`
		Parent string `json:"parentThreadId"`
	} `json:"thread"`
	Item struct {
		Type      string   `json:"type"`
		Agent     string   `json:"agentThreadId"`
		Receivers []string `json:"receiverThreadIds"`
	} `json:"item"`
}

// dispatch hands a message to the conversation it belongs to. It runs on the
// reading goroutine and must not write.
func (s *server) dispatch(m wire.Message) {
	s.mu.Lock()
	s.garbage = 0
	s.mu.Unlock()
	var a address
	if len(m.Params) > 0 && json.Unmarshal(m.Params, &a) != nil {
		s.unroutable(m)
		return
	}
	s.adopt(a)
	thread := a.Thread
	if thread == "" {
		thread = a.Conversation
	}
	if thread == "" {
		thread = a.Started.ID
	}
	session := s.session(thread)
	switch {
	case session != nil:
		session.post(func() { session.handle(thread, m) })
	case m.ID != nil:
		s.unroutable(m)
	case thread == "":
		s.broadcast(m)
	}
}

// adopt routes the threads of sub-agents to the conversation of their parent.
func (s *server) adopt(a address) {
	parent, children := a.Thread, a.Item.Receivers
	switch {
	case a.Item.Type == "subAgentActivity" && a.Item.Agent != "":
		children = []string{a.Item.Agent}
	case a.Item.Type == "collabAgentToolCall":
	case a.Started.Parent != "":
		parent, children = a.Started.Parent, []string{a.Started.ID}
	default:
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	owner := s.sessions[parent]
	if owner == nil {
		return
	}
	for _, child := range children {
		if s.sessions[child] == nil {
			s.sessions[child] = owner
		}
	}
}

// session is the conversation that a thread belongs to, if any.
func (s *server) session(thread string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions[thread]
}

// register gives a thread to a conversation; false means that another one
// has it.
func (s *server) register(thread string, c *session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if owner := s.sessions[thread]; owner != nil && owner != c {
		return false
	}
	s.sessions[thread] = c
	return true
}

// threads are those of a conversation: its own and its sub-agents'.
func (s *server) threads(c *session) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var threads []string
	for thread, owner := range s.sessions {
		if owner == c {
			threads = append(threads, thread)
		}
	}
	return threads
}

// forget takes all threads of a conversation away.
func (s *server) forget(c *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.sessions, func(_ string, owner *session) bool { return owner == c })
}

// all are the conversations, each once.
func (s *server) all() []*session {
	s.mu.Lock()
	defer s.mu.Unlock()
	set := map[*session]bool{}
	for _, c := range s.sessions {
		set[c] = true
	}
	return slices.Collect(maps.Keys(set))
}

// broadcast hands on what concerns the account or the program.
func (s *server) broadcast(m wire.Message) {
	switch m.Method {
	case "account/rateLimits/updated":
		var in struct {
			Limits rateLimits `json:"rateLimits"`
		}
		if json.Unmarshal(m.Params, &in) != nil {
			return
		}
		s.mu.Lock()
		s.limits.merge(in.Limits)
		limits := s.limits
		s.mu.Unlock()
		for _, c := range s.all() {
			c.post(func() { c.rateLimits(limits) })
		}
	case "skills/changed":
		for _, c := range s.all() {
			go c.loadSkills()
		}
	}
}

// unroutable declines a request that no conversation here has to do with.
func (s *server) unroutable(m wire.Message) {
	if m.ID == nil {
		return
	}
	if answer := declined(m.Method); answer != nil {
		s.reply(m.ID, answer)
		return
	}
	id, method := m.ID, m.Method
	go func() {
		_ = s.rpc.Refuse(context.Background(), id, wire.CodeNoMethod, "Berth does not serve "+clip(method, 100))
	}()
}

// declined is the answer that grants nothing, nil for requests that have
// none.
func declined(method string) any {
	switch method {
	case methodCommand, methodFiles:
		return map[string]any{"decision": "decline"}
	case methodPermissions:
		return map[string]any{"permissions": struct{}{}, "scope": "turn"}
	case methodQuestion:
		return map[string]any{"answers": struct{}{}}
	case methodElicitation:
		return map[string]any{"action": "decline", "content": nil, "_meta": nil}
	case methodOldPatch, methodOldCommand:
		return map[string]any{"decision": map[string]any{"denied": map[string]any{"rejection": "denied"}}}
	}
	return nil
}
