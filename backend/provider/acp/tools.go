package acp

import (
	"encoding/json"
	"mime"
	"path"
	"strings"
	"time"

	"berth/backend/event"
	"berth/backend/provider"
)

// tool is a tool call of the running turn. Updates replace single fields.
type tool struct {
	id        string
	kind      event.ToolKind
	title     string
	status    event.Status
	locations []event.Location
	input     json.RawMessage
	output    string
	files     []event.FileDiff
	images    []provider.Image
	terminal  string
	exit      *int
	failure   string
	paths     []string // absolute, as the agent names what it works on
	started   time.Time
	ended     time.Time
}

// toolCall is a tool_call or tool_call_update, or the call that a request
// for permission is about.
type toolCall struct {
	ID        string             `json:"toolCallId"`
	Title     *string            `json:"title"`
	Kind      *string            `json:"kind"`
	Status    *string            `json:"status"`
	Content   *[]json.RawMessage `json:"content"`
	Locations *[]struct {
		Path string `json:"path"`
		Line int    `json:"line"`
	} `json:"locations"`
	RawInput  json.RawMessage `json:"rawInput"`
	RawOutput json.RawMessage `json:"rawOutput"`
}

func (s *session) toolUpdate(u update) {
	t := s.accept()
	if t == nil {
		return
	}
	var in toolCall
	if json.Unmarshal(u.Raw, &in) != nil || in.ID == "" {
		s.unknown(u)
		return
	}
	s.endMessage(t)
	if call := s.merge(t, in); call != nil {
		s.emitTool(call)
		s.terms.publish(call.terminal)
	}
}

// merge takes what is told of a call into what is known of it; nil when the
// turn has too many calls.
func (s *session) merge(t *turn, in toolCall) *tool {
	call := t.tools[in.ID]
	if call == nil {
		if len(t.tools) == maxTools {
			return nil
		}
		call = &tool{id: in.ID, kind: event.ToolOther, status: event.Pending, started: s.host.Clock.Now()}
		t.tools[in.ID] = call
		t.order = append(t.order, in.ID)
	}
	if in.Title != nil {
		call.title = *in.Title
	}
	if in.Kind != nil {
		call.kind = toolKind(*in.Kind)
	}
	if in.Status != nil {
		call.status = toolStatus(*in.Status, call.status)
	}
	if in.Locations != nil {
		call.locations = nil
		for _, l := range *in.Locations {
			call.locations = append(call.locations, event.Location{Path: l.Path, Line: l.Line})
			call.paths = append(call.paths, l.Path)
		}
	}
	if len(in.RawInput) > 0 && string(in.RawInput) != "null" {
		call.input = bounded(in.RawInput)
	}
	if in.Content != nil {
		s.content(call, *in.Content)
	}
	call.result(in.RawOutput)
	if ended(call.status) && call.ended.IsZero() {
		call.ended = s.host.Clock.Now()
	}
	return call
}

// content replaces what a call shows.
func (s *session) content(call *tool, parts []json.RawMessage) {
	call.output, call.files, call.images = "", nil, nil
	var text []string
	for _, raw := range parts {
		var part struct {
			Type     string          `json:"type"`
			Content  json.RawMessage `json:"content"`
			Terminal string          `json:"terminalId"`
			Path     string          `json:"path"`
			Old      *string         `json:"oldText"`
			New      string          `json:"newText"`
			Meta     struct {
				Kind string `json:"kind"`
			} `json:"_meta"`
		}
		if json.Unmarshal(raw, &part) != nil {
			continue
		}
		switch part.Type {
		case "content":
			b := decodeBlock(part.Content)
			if image, ok := b.image(); ok && b.Kind == "image" {
				call.images = append(call.images, image)
			} else {
				text = append(text, b.plain())
			}
		case "diff":
			call.paths = append(call.paths, part.Path)
			call.files = append(call.files, fileDiff(s.relative(part.Path), part.Old, part.New, part.Meta.Kind))
		case "terminal":
			call.terminal = part.Terminal
			s.terms.show(part.Terminal, call.id)
		default:
			text = append(text, "[content of an unknown kind: "+firstBytes(part.Type, 80)+"]")
		}
	}
	call.output = strings.Join(text, "\n")
}

// result takes the agent's own form of a result, where it is all there is.
// Which fields it has is not settled; these are what OpenCode, Gemini CLI and
// the protocol's examples use.
func (call *tool) result(raw json.RawMessage) {
	if len(raw) == 0 || string(raw) == "null" {
		return
	}
	var text string
	var fields struct {
		Output   string `json:"output"`
		Error    string `json:"error"`
		ExitCode *int   `json:"exitCode"`
		Exit     *int   `json:"exit_code"`
		Metadata struct {
			Exit *int `json:"exit"`
		} `json:"metadata"`
	}
	switch {
	case json.Unmarshal(raw, &text) == nil:
	case json.Unmarshal(raw, &fields) == nil:
		text = fields.Output
		call.failure = fields.Error
		for _, code := range []*int{fields.ExitCode, fields.Exit, fields.Metadata.Exit} {
			if code != nil {
				call.exit = code
			}
		}
	}
	if call.output == "" && len(call.files) == 0 {
		call.output = text
	}
}

// emitTool puts the call's item as it now stands.
func (s *session) emitTool(call *tool) {
	s.dog.Working(call.id, !ended(call.status))
	body := &event.Tool{
		Kind: call.kind, Title: call.title, Locations: call.locations, Input: call.input,
		Output: firstBytes(call.output, maxOutput), OutputBytes: int64(len(call.output)),
		ExitCode: call.exit, Files: call.files, StartedAt: &call.started,
	}
	if ended(call.status) {
		body.EndedAt = &call.ended
		if call.terminal != "" {
			out := s.terms.final(call.terminal)
			body.Output, body.OutputBytes = out.text, out.total
			if body.ExitCode == nil {
				body.ExitCode = out.exit
			}
		}
	}
	if call.status == event.Failed {
		body.Error = firstNonEmpty(call.failure, lastLine(body.Output))
	}
	s.emit(provider.Event{Item: &provider.Item{
		Key: call.id, Kind: event.ToolCall, Status: call.status, Body: event.Body{Tool: body},
		ProviderID: call.id, Images: call.images,
	}})
}

// tellDenied fails the calls that the user denied: many agents do not mention
// them again.
func (s *session) tellDenied() {
	s.mu.Lock()
	t := s.turn
	var denied []string
	if t != nil {
		denied, t.denied = t.denied, nil
	}
	s.mu.Unlock()
	for _, id := range denied {
		if call := t.tools[id]; call != nil && !ended(call.status) {
			call.status, call.failure, call.ended = event.Failed, "Denied.", s.host.Clock.Now()
			s.emitTool(call)
		}
	}
}

// sweep ends the calls of a turn that the agent did not end itself: a denied
// call is often not mentioned again, and some agents report no ends.
func (s *session) sweep(t *turn, state string) {
	for _, id := range t.order {
		call := t.tools[id]
		if ended(call.status) {
			continue
		}
		switch state {
		case stopped:
			call.status = event.Cancelled
		case failed:
			call.status = event.Failed
		default:
			call.status = event.Completed
		}
		call.ended = s.host.Clock.Now()
		s.emitTool(call)
	}
}

func ended(s event.Status) bool {
	return s == event.Completed || s == event.Failed || s == event.Cancelled
}

func toolStatus(s string, otherwise event.Status) event.Status {
	switch st := event.Status(s); st {
	case event.Pending, event.InProgress, event.Completed, event.Failed, event.Cancelled:
		return st
	}
	return otherwise
}

func toolKind(s string) event.ToolKind {
	switch k := event.ToolKind(s); k {
	case event.ToolRead, event.ToolEdit, event.ToolDelete, event.ToolMove, event.ToolSearch, event.ToolExecute, event.ToolThink, event.ToolFetch:
		return k
	}
	return event.ToolOther
}

// bounded keeps an input that is not too large; a note of its size stands for
// one that is.
func bounded(raw json.RawMessage) json.RawMessage {
	if len(raw) <= maxInput {
		return raw
	}
	note, err := json.Marshal(map[string]any{"omitted": "too_large", "bytes": len(raw)})
	if err != nil {
		return nil
	}
	return note
}

func baseName(uri string) string {
	name := path.Base(uri)
	if name == "." || name == "/" {
		return ""
	}
	return name
}

func extension(mediaType string) string {
	switch mediaType {
	case "image/png":
		return ".png"
	case "image/jpeg":
		return ".jpg"
	}
	if list, err := mime.ExtensionsByType(mediaType); err == nil && len(list) > 0 {
		return list[0]
	}
	return ""
}
