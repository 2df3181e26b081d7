package opencode

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"berth/backend/event"
	"berth/backend/provider"
)

// view is what is known of messages and their parts, as far as late events
// may still speak of them: this turn's and the one's before. It belongs to
// the emitting goroutine.
type view struct {
	turns    int
	children map[string]string   // session of a sub-agent → key of the call that started it
	messages map[string]string   // id → role
	turnOf   map[string]int      // user's message → turn
	parentOf map[string]string   // answer → the user's message
	parts    map[string]*partial // part id → what was told of it
	calls    map[string]string   // message/call → part id
	before   []string            // parts of the turn before, to be forgotten
}

// partial is what was told of a part.
type partial struct {
	kind    event.Kind
	session string
	told    int    // bytes streamed
	output  string // of a tool, as last told
	ended   bool
	tool    *toolPart
}

func newView() view {
	return view{
		children: map[string]string{}, messages: map[string]string{}, turnOf: map[string]int{},
		parentOf: map[string]string{}, parts: map[string]*partial{}, calls: map[string]string{},
	}
}

// nextTurn begins a turn and forgets what is older than the last.
func (v *view) nextTurn() int {
	v.turns++
	for _, id := range v.before {
		delete(v.parts, id)
	}
	v.before = v.before[:0]
	for id := range v.parts {
		v.before = append(v.before, id)
	}
	for id, turn := range v.turnOf {
		if turn < v.turns-1 {
			delete(v.turnOf, id)
		}
	}
	for id := range v.messages {
		_, asked := v.turnOf[id]
		if _, answers := v.turnOf[v.parentOf[id]]; !asked && !answers {
			delete(v.messages, id)
			delete(v.parentOf, id)
		}
	}
	clear(v.calls)
	return v.turns
}

func (v *view) isChild(session string) bool {
	_, ok := v.children[session]
	return ok
}

func (v *view) addChild(session string) {
	if len(v.children) < maxItems && session != "" {
		v.children[session] = ""
	}
}

func (v *view) addMessage(id, role, parent string) {
	if len(v.messages) < maxItems {
		v.messages[id] = role
		v.parentOf[id] = parent
	}
}

func (v *view) addQuestion(id string, turn int) { v.turnOf[id] = turn }

// answers says whether a message answers the user's message of a turn.
func (v *view) answers(parent string, turn int) bool {
	n, ok := v.turnOf[parent]
	return ok && n == turn
}

// key makes a key for an item OpenCode has no id for.
func (v *view) key(session string, turn int, what string) string {
	return fmt.Sprintf("%s-t%d-%s", session, turn, what)
}

// parent is the key of the call below which a session's items stand.
func (v *view) parent(session string) string { return v.children[session] }

// part is a part of a message with its kind looked at first.
type part struct {
	ID        string `json:"id"`
	MessageID string `json:"messageID"`
	Type      string `json:"type"`
	Text      string `json:"text"`
	Synthetic bool   `json:"synthetic"`
	Ignored   bool   `json:"ignored"`
	Time      struct {
		End int64 `json:"end"`
	} `json:"time"`
	Mime     string  `json:"mime"`
	Filename string  `json:"filename"`
	URL      string  `json:"url"`
	Tokens   tokens  `json:"tokens"`
	Cost     float64 `json:"cost"`
	toolPart
}

func (s *session) partUpdated(session string, properties json.RawMessage) {
	var in struct {
		Part part `json:"part"`
	}
	if json.Unmarshal(properties, &in) != nil || in.Part.ID == "" || s.view.messages[in.Part.MessageID] != "assistant" {
		return
	}
	p := in.Part
	switch p.Type {
	case "text":
		s.textPart(session, event.Answer, p)
	case "reasoning":
		s.textPart(session, event.Thought, p)
	case "tool":
		s.toolUpdated(session, p.ID, p.MessageID, p.toolPart)
	case "file":
		s.fileShown(session, p)
	case "step-finish":
		s.stepFinished(session == s.id, p.Tokens, p.Cost)
	case "step-start", "snapshot", "patch", "agent", "subtask", "retry", "compaction":
	default:
		if t := s.current(); t != nil {
			s.notice(t, "unknown:"+firstBytes(p.Type, 40), "info", title+" reported something Berth does not know: "+firstBytes(p.Type, 80))
		}
	}
}

// textPart takes the state of a text. Its pieces come as deltas; the end has
// the whole.
func (s *session) textPart(session string, kind event.Kind, p part) {
	if p.Synthetic || p.Ignored {
		return
	}
	known := s.view.parts[p.ID]
	if known == nil {
		if len(s.view.parts) == maxItems {
			return
		}
		known = &partial{kind: kind, session: session}
		s.view.parts[p.ID] = known
	}
	if known.ended || p.Time.End == 0 || p.Text == "" {
		return
	}
	known.ended = true
	s.emit(provider.Event{Item: &provider.Item{
		Key: p.ID, Parent: s.view.parent(session), Kind: kind, Status: event.Completed, ProviderID: p.ID, Body: event.Body{Text: p.Text},
	}})
}

func (s *session) partDelta(session string, properties json.RawMessage) {
	var in struct {
		PartID string `json:"partID"`
		Field  string `json:"field"`
		Delta  string `json:"delta"`
	}
	if json.Unmarshal(properties, &in) != nil || in.Field != "text" || in.Delta == "" {
		return
	}
	known := s.view.parts[in.PartID]
	if known == nil || known.ended || known.tool != nil {
		return
	}
	known.told += len(in.Delta)
	s.emit(provider.Event{Text: &provider.Text{Key: in.PartID, Parent: s.view.parent(session), Kind: known.kind, Text: in.Delta}})
}

// fileShown shows a picture that the model made.
func (s *session) fileShown(session string, p part) {
	image, ok := dataImage(p.Mime, p.Filename, p.URL)
	if !ok || s.view.parts[p.ID] != nil {
		return
	}
	s.view.parts[p.ID] = &partial{kind: event.Artifact, session: session, ended: true}
	s.emit(provider.Event{Item: &provider.Item{
		Key: p.ID, Parent: s.view.parent(session), Kind: event.Artifact, Status: event.Completed, Summary: image.Name,
		ProviderID: p.ID, Images: []provider.Image{image},
	}})
}

// dataImage decodes a picture in a data URL.
func dataImage(mime, name, url string) (provider.Image, bool) {
	encoded, ok := strings.CutPrefix(url, "data:"+mime+";base64,")
	if !ok || !strings.HasPrefix(mime, "image/") {
		return provider.Image{}, false
	}
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(data) == 0 {
		return provider.Image{}, false
	}
	return provider.Image{Name: firstNonEmpty(name, "image"), Type: mime, Data: data}, true
}

// spent is what a conversation has used so far, its sub-agents included.
type spent struct {
	cost   float64
	tokens tokens
}

// stepFinished tells what was spent, and how full the context is.
func (s *session) stepFinished(main bool, t tokens, cost float64) {
	total := &s.spent.tokens
	total.Input += t.Input
	total.Output += t.Output
	total.Reasoning += t.Reasoning
	total.Cache.Read += t.Cache.Read
	s.spent.cost += cost
	input, cached, output, sum := total.Input, total.Cache.Read, total.Output+total.Reasoning, s.spent.cost
	s.usage.InputTokens, s.usage.CachedTokens, s.usage.OutputTokens = &input, &cached, &output
	if sum > 0 { // 0 stands also for a price that is not known
		s.usage.CostUSD = &sum
	}
	if used := t.Input + t.Output + t.Reasoning + t.Cache.Read + t.Cache.Write; main && used > 0 {
		s.usage.ContextTokens = &used
		if window, ok := s.known.windows[s.usage.Model]; ok {
			s.usage.ContextWindow = &window
		}
	}
	level := s.usage
	s.emit(provider.Event{Usage: &level})
}
