package acp

import (
	"encoding/json"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"berth/backend/event"
	"berth/backend/provider"
	"berth/backend/provider/wire"
)

// handle takes the agent's requests and notifications, in order. It never
// writes to the agent itself: an agent that does not read while it writes
// would stop both.
func (s *session) handle(m wire.Message) {
	s.mu.Lock()
	s.garbage = 0
	quiet := s.phase != open
	s.mu.Unlock()
	s.dog.Alive()
	s.tellDenied()
	if !quiet {
		s.emit(provider.Event{Raw: rawLine(m.Raw)})
	}
	if m.ID == nil {
		s.notified(m)
		return
	}
	switch m.Method {
	case sdk.ClientMethodSessionRequestPermission:
		s.permission(m)
	case sdk.ClientMethodElicitationCreate:
		s.elicitation(m)
	case sdk.ClientMethodFsReadTextFile:
		s.readFile(m)
	case sdk.ClientMethodFsWriteTextFile:
		s.writeFile(m)
	case sdk.ClientMethodTerminalCreate:
		s.createTerminal(m)
	case sdk.ClientMethodTerminalOutput, sdk.ClientMethodTerminalWaitForExit, sdk.ClientMethodTerminalKill, sdk.ClientMethodTerminalRelease:
		s.terms.request(m)
	default:
		s.refuse(m.ID, wire.CodeNoMethod, "Berth does not know the method "+firstBytes(m.Method, 80))
	}
}

func (s *session) notified(m wire.Message) {
	switch m.Method {
	case sdk.ClientMethodSessionUpdate:
		s.updated(m.Params)
	case "$/cancel_request":
		var p struct {
			RequestID json.RawMessage `json:"requestId"`
		}
		if json.Unmarshal(m.Params, &p) == nil {
			s.withdraw(p.RequestID)
		}
	default:
		s.emit(provider.Event{Active: true})
	}
}

// reply answers a request without holding up the reader of lines.
func (s *session) reply(id json.RawMessage, result any) {
	go func() { _ = s.rpc.Reply(s.ctx, id, result) }()
}

func (s *session) refuse(id json.RawMessage, code int, message string) {
	go func() { _ = s.rpc.Refuse(s.ctx, id, code, message) }()
}

// updated takes a session/update.
func (s *session) updated(params json.RawMessage) {
	u, err := decodeUpdate(params)
	if err != nil {
		s.emit(provider.Event{Active: true})
		return
	}
	s.mu.Lock()
	foreign := s.id != "" && u.SessionID != s.id
	history := s.phase == loading && ofTurn(u.Kind)
	if history {
		s.replayed++
	}
	s.mu.Unlock()
	if foreign || history {
		s.emit(provider.Event{Active: true})
		return
	}
	switch u.Kind {
	case "agent_message_chunk":
		s.chunk(event.Answer, u)
	case "agent_thought_chunk":
		s.chunk(event.Thought, u)
	case "user_message_chunk": // the user's own words, or the echo of them
		s.accept()
	case "tool_call", "tool_call_update":
		s.toolUpdate(u)
	case "plan":
		s.plan(u)
	default:
		s.levelUpdate(u)
	}
}

// ofTurn says whether an update of this kind can only come from a turn: it
// proves that the prompt arrived, and while a conversation is loaded it is
// history.
func ofTurn(kind string) bool {
	switch kind {
	case "agent_message_chunk", "agent_thought_chunk", "user_message_chunk", "tool_call", "tool_call_update", "plan":
		return true
	}
	return false
}

// levelUpdate takes updates that replace what was known before, and those of
// an unknown kind.
func (s *session) levelUpdate(u update) {
	switch u.Kind {
	case "available_commands_update":
		s.commands(u)
	case "usage_update":
		s.usageUpdate(u)
	case "current_mode_update":
		var in struct {
			Mode string `json:"currentModeId"`
		}
		if json.Unmarshal(u.Raw, &in) == nil {
			s.modeChanged(in.Mode)
		}
	case "config_option_update":
		var in opened
		if json.Unmarshal(u.Raw, &in) == nil {
			s.mu.Lock()
			s.configure(in.ConfigOptions)
			s.mu.Unlock()
		}
	case "session_info_update": // the agent's title; the chat has its own
	default:
		s.unknown(u)
		return
	}
	s.emit(provider.Event{Active: true})
}

func (s *session) modeChanged(mode string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mode.current = mode
}

// accept proves the delivery of the running turn's message, once. It gives
// the turn that an update belongs to: the running one, or the last, whose
// stragglers these are; nil before the first.
func (s *session) accept() *turn {
	s.mu.Lock()
	t := s.turn
	if t == nil {
		t = s.last
	}
	first := t != nil && t == s.turn && !t.accepted
	if first {
		t.accepted = true
	}
	s.mu.Unlock()
	if first {
		s.emit(provider.Event{Accepted: &provider.Accepted{}})
	}
	return t
}

func (s *session) commands(u update) {
	var in struct {
		Commands []struct {
			Name        string `json:"name"`
			Description string `json:"description"`
			Input       *struct {
				Hint string `json:"hint"`
			} `json:"input"`
		} `json:"availableCommands"`
	}
	if json.Unmarshal(u.Raw, &in) != nil {
		return
	}
	list := make([]provider.Command, 0, min(len(in.Commands), maxCommands))
	for _, c := range in.Commands {
		if c.Name == "" || len(list) == maxCommands {
			continue
		}
		command := provider.Command{
			Name: firstBytes(strings.TrimPrefix(c.Name, "/"), maxDetail), Description: firstBytes(c.Description, maxDetail), Kind: "command",
		}
		if c.Input != nil {
			command.Hint = firstBytes(c.Input.Hint, maxDetail)
		}
		list = append(list, command)
	}
	s.emit(provider.Event{Commands: &list})
}

// maxCommands bounds the commands an agent may offer.
const maxCommands = 1000

func (s *session) usageUpdate(u update) {
	var in struct {
		Used *int64 `json:"used"`
		Size *int64 `json:"size"`
		Cost *struct {
			Amount   float64 `json:"amount"`
			Currency string  `json:"currency"`
		} `json:"cost"`
	}
	if json.Unmarshal(u.Raw, &in) != nil {
		return
	}
	s.mu.Lock()
	s.usage.ContextTokens = in.Used
	if in.Size != nil && *in.Size > 0 {
		s.usage.ContextWindow = in.Size
	}
	if in.Cost != nil && strings.EqualFold(in.Cost.Currency, "USD") {
		s.usage.CostUSD = &in.Cost.Amount
	}
	level := s.usage
	s.mu.Unlock()
	s.emit(provider.Event{Usage: &level})
}

// unknown shows that the agent reported something Berth has no word for: one
// row per kind and turn, the lines themselves being kept as Raw.
func (s *session) unknown(u update) {
	s.mu.Lock()
	t := s.turn
	seen := 0
	if t != nil {
		kind := firstBytes(u.Kind, 80)
		if t.unknown == nil {
			t.unknown = map[string]int{}
		}
		if len(t.unknown) < maxUnknownKinds {
			t.unknown[kind]++
			seen = t.unknown[kind]
		}
	}
	s.mu.Unlock()
	if seen != 1 {
		s.emit(provider.Event{Active: true})
		return
	}
	s.notice(t, "unknown_update", "info", s.entry.Title+" reported something Berth does not know: "+firstBytes(u.Kind, 80), u.Raw)
}

// maxUnknownKinds bounds the rows of that sort in one turn.
const maxUnknownKinds = 20

// notice adds a row of our own to a turn.
func (s *session) notice(t *turn, code, level, text string, raw json.RawMessage) {
	s.endMessage(t)
	item := &provider.Item{
		Key: s.key(t), Kind: event.Notice, Status: event.Completed,
		Body: event.Body{Text: text, Notice: &event.NoticeFact{Code: code, Level: level}},
	}
	if len(raw) > 0 {
		if ext, err := json.Marshal(map[string]json.RawMessage{s.entry.ID: rawLine(raw)}); err == nil {
			item.Body.Ext = ext
		}
	}
	s.emit(provider.Event{Item: item})
}
