package codex

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"berth/backend/event"
	"berth/backend/provider"
)

// item is a thread item. Fields that mean different things in different kinds
// stay raw.
type item struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	StartedAt *int64 `json:"startedAtMs"`   // Unix time, milliseconds
	EndedAt   *int64 `json:"completedAtMs"` // Unix time, milliseconds
	Status    string `json:"status"`

	Text      string          `json:"text"`      // agentMessage, plan
	Phase     string          `json:"phase"`     // agentMessage
	Delivery  string          `json:"delivery"`  // agentMessage
	Questions json.RawMessage `json:"questions"` // agentMessage
	Client    string          `json:"clientId"`  // userMessage
	Summary   []string        `json:"summary"`   // reasoning
	Content   json.RawMessage `json:"content"`   // reasoning, userMessage

	Command    string          `json:"command"` // commandExecution
	Cwd        string          `json:"cwd"`
	Process    string          `json:"processId"`
	Actions    []commandAction `json:"commandActions"`
	Aggregated string          `json:"aggregatedOutput"`
	Exit       *int            `json:"exitCode"`

	Changes []fileChange `json:"changes"` // fileChange

	Server    string          `json:"server"` // mcpToolCall
	Namespace string          `json:"namespace"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Result    json.RawMessage `json:"result"`
	Problem   *struct {
		Message string `json:"message"`
	} `json:"error"`
	Parts   []contentItem `json:"contentItems"` // dynamicToolCall
	Success *bool         `json:"success"`

	Query  string `json:"query"` // webSearch
	Action *struct {
		Type    string   `json:"type"`
		Queries []string `json:"queries"`
		URL     string   `json:"url"`
		Pattern string   `json:"pattern"`
	} `json:"action"`
	Results json.RawMessage `json:"results"`

	Path     string          `json:"path"`          // imageView
	Saved    string          `json:"savedPath"`     // imageGeneration
	Revised  string          `json:"revisedPrompt"` // imageGeneration
	Failure  json.RawMessage `json:"failure"`       // imageGeneration
	Duration *int64          `json:"durationMs"`    // sleep
	Name     string          `json:"name"`          // functionCallOutput
	Output   json.RawMessage `json:"output"`        // functionCallOutput
	Review   string          `json:"review"`        // enteredReviewMode, exitedReviewMode

	Prompt    string                `json:"prompt"` // collabAgentToolCall
	Model     string                `json:"model"`
	Effort    string                `json:"reasoningEffort"`
	Receivers []string              `json:"receiverThreadIds"`
	States    map[string]agentState `json:"agentsStates"`
	Kind      string                `json:"kind"` // subAgentActivity
	Agent     string                `json:"agentThreadId"`
	AgentPath string                `json:"agentPath"`
}

type commandAction struct {
	Type string `json:"type"`
	Path string `json:"path"`
}

type contentItem struct {
	Type  string `json:"type"`
	Text  string `json:"text"`
	Image string `json:"imageUrl"`
}

// entry is an item that is open.
type entry struct {
	key    string // of the events
	turn   string // the native turn
	thread string
	item   item
	tool   *event.Tool
	images []provider.Image
	told   bool // an event of it was emitted
	parts  int  // pieces of a summary so far
	ended  bool
	killed bool // we ended the command
}

// rawKey names an item before repetitions are told apart. Ids of items are
// only unique within their turn: providers that number their messages begin
// anew with each answer.
func rawKey(turn, id string) string { return turn + "/" + id }

// entryOf gives the open entry of an item, made if need be; nil when too many
// are open.
func (s *session) entryOf(thread, turn, id string) *entry {
	raw := rawKey(turn, id)
	if e := s.entries[raw]; e != nil {
		return e
	}
	if len(s.entries) >= maxEntries {
		return nil
	}
	key := raw
	if n := s.attempt[raw]; n > 0 {
		key = fmt.Sprintf("%s~%d", raw, n)
	}
	e := &entry{key: key, turn: turn, thread: thread}
	s.entries[raw] = e
	return e
}

// itemStarted takes the beginning of an item. One that begins again (a stream
// that broke off and is tried again) is another item: what was said before
// stays, as cut off.
func (s *session) itemStarted(thread, turn string, raw json.RawMessage) {
	it, ok := decodeItem(raw)
	if !ok {
		return
	}
	if e := s.entries[rawKey(turn, it.ID)]; e != nil {
		if !e.ended {
			s.cancel(e)
		}
		delete(s.entries, rawKey(turn, it.ID))
		s.attempt[rawKey(turn, it.ID)]++
	}
	if it.Type == "userMessage" || it.Type == "hookPrompt" {
		return
	}
	s.said(turn)
	e := s.entryOf(thread, turn, it.ID)
	if e == nil {
		return
	}
	e.item = it
	s.demote(thread, turn, it)
	s.begin(e)
}

func decodeItem(raw json.RawMessage) (item, bool) {
	var it item
	err := json.Unmarshal(raw, &it)
	return it, err == nil && it.ID != "" && it.Type != ""
}

// begin tells of an item's beginning. Prose is told of with its first piece,
// so that none is shown empty.
func (s *session) begin(e *entry) {
	switch e.item.Type {
	case "agentMessage", "plan", "reasoning", "contextCompaction", "enteredReviewMode", "exitedReviewMode":
	case "subAgentActivity":
		s.agentActivity(e)
	case "collabAgentToolCall":
		s.agentCall(e, false)
	default:
		s.tool(e, event.InProgress)
	}
}

// itemEnded takes the end of an item, which states it whole.
func (s *session) itemEnded(thread, turn string, raw json.RawMessage) {
	it, ok := decodeItem(raw)
	if !ok || it.Type == "hookPrompt" {
		return
	}
	if it.Type == "userMessage" {
		return
	}
	s.said(turn)
	e := s.entryOf(thread, turn, it.ID)
	if e == nil {
		return
	}
	if !e.told && e.item.Type == "" {
		s.demote(thread, turn, it)
	}
	e.item, e.ended = it, true
	s.finish(e)
	// What was told need not be kept; the entry is, until its turn ends.
	e.item, e.tool = item{Type: it.Type, ID: it.ID, Phase: it.Phase, Delivery: it.Delivery, Questions: it.Questions}, nil
	if !s.runs(thread, turn) { // a command that outlived its turn
		delete(s.entries, rawKey(turn, it.ID))
		s.tellBackground()
	}
}

// runs says whether that native turn runs.
func (s *session) runs(thread, turn string) bool {
	if a := s.agents[thread]; a != nil {
		return a.turn == turn
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.turn != nil && s.turn.id == turn
}

// finish tells of an item's end.
func (s *session) finish(e *entry) {
	it := &e.item
	switch it.Type {
	case "agentMessage":
		s.answered(e)
	case "plan":
		s.prose(e, event.Answer, it.Text, false)
	case "reasoning":
		s.thought(e)
	case "contextCompaction":
		s.notice(e.key, "compacted", "info", "The conversation was summarised to make room in the model's context.", "")
	case "enteredReviewMode":
		s.notice(e.key, "review_started", "info", clip("Codex reviews: "+it.Review, maxText), "")
	case "exitedReviewMode":
		s.prose(e, event.Answer, it.Review, false)
	case "subAgentActivity":
		s.agentActivity(e)
	case "collabAgentToolCall":
		s.agentCall(e, true)
	default:
		s.tool(e, statusOf(e))
	}
}

// statusOf is a tool's status at its end.
func statusOf(e *entry) event.Status {
	switch e.item.Status {
	case "failed", "declined":
		if e.killed {
			return event.Cancelled
		}
		return event.Failed
	case "interrupted":
		return event.Cancelled
	case "inProgress":
		return event.InProgress
	}
	return event.Completed
}

// parentOf is the key of the sub-agent's tool call inside which a thread
// works, empty for the conversation itself.
func (s *session) parentOf(thread string) string {
	if a := s.agents[thread]; a != nil {
		return a.key
	}
	return ""
}

// prose tells of a text that stands whole.
func (s *session) prose(e *entry, kind event.Kind, text string, commentary bool) {
	if text == "" && !e.told {
		return
	}
	e.told = true
	s.emit(provider.Event{Item: &provider.Item{
		Key: e.key, Parent: s.parentOf(e.thread), Kind: kind, Status: event.Completed, ProviderID: e.item.ID,
		Body: event.Body{Text: text, Commentary: commentary},
	}})
}

// answered ends a message of the agent.
func (s *session) answered(e *entry) {
	it := &e.item
	s.prose(e, event.Answer, it.Text, commentary(it))
	if a := s.agents[e.thread]; a != nil {
		a.answer = it.Text
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn != nil && s.turn.id == e.turn && it.Phase == "" && it.Delivery == "" {
		s.turn.unphased = rawKey(e.turn, it.ID)
	}
}

// commentary says whether a message is said while the work goes on.
func commentary(it *item) bool {
	questions := len(it.Questions) > 0 && string(it.Questions) != "null"
	return it.Phase == "commentary" || it.Delivery == "async" && !questions
}

// demote makes commentary of an answer without a phase once more work
// follows: older models do not tell which message is the last.
func (s *session) demote(thread, turn string, next item) {
	if thread != s.thread || next.Type == "reasoning" {
		return
	}
	s.mu.Lock()
	t := s.turn
	if t == nil || t.id != turn || t.unphased == "" {
		s.mu.Unlock()
		return
	}
	raw := t.unphased
	t.unphased = ""
	s.mu.Unlock()
	if e := s.entries[raw]; e != nil && e.ended {
		s.prose(e, event.Answer, e.item.Text, true)
	}
}

// answerText takes a piece of an answer or plan.
func (s *session) answerText(thread string, n note) {
	e := s.entryOf(thread, n.TurnID, n.ItemID)
	if e == nil || n.Delta == "" || e.ended {
		return
	}
	s.said(n.TurnID)
	if !e.told {
		e.told = true
		s.emit(provider.Event{Item: &provider.Item{
			Key: e.key, Parent: s.parentOf(thread), Kind: event.Answer, Status: event.InProgress, ProviderID: n.ItemID,
			Body: event.Body{Commentary: commentary(&e.item)},
		}})
	}
	s.emit(provider.Event{Text: &provider.Text{Key: e.key, Parent: s.parentOf(thread), Kind: event.Answer, Text: n.Delta}})
}

// rawThought marks the entry of the thinking itself, beside its summary.
const rawThought = "#text"

// thoughtText takes a piece of a thought: of its summary, or of the thinking
// itself, which some models show.
func (s *session) thoughtText(thread string, n note, part string) {
	e := s.entryOf(thread, n.TurnID, n.ItemID+part)
	if e == nil || n.Delta == "" || e.ended {
		return
	}
	s.said(n.TurnID)
	delta := n.Delta
	if part == "" && n.SummaryIndex > e.parts {
		e.parts = n.SummaryIndex
		if e.told {
			delta = "\n\n" + delta
		}
	}
	e.told = true
	s.emit(provider.Event{Text: &provider.Text{Key: e.key, Parent: s.parentOf(thread), Kind: event.Thought, Text: delta}})
}

// thought ends a thought and its other half.
func (s *session) thought(e *entry) {
	var content []string
	_ = json.Unmarshal(e.item.Content, &content) // of other kinds it is something else
	s.prose(e, event.Thought, strings.Join(e.item.Summary, "\n\n"), false)
	other := s.entryOf(e.thread, e.turn, e.item.ID+rawThought)
	if other == nil {
		return
	}
	other.ended = true
	s.prose(other, event.Thought, strings.Join(content, "\n\n"), false)
}

// cancel closes an entry that will not go on.
func (s *session) cancel(e *entry) {
	e.ended = true
	s.dog.Working(e.key, false)
	if !e.told {
		return
	}
	out := &provider.Item{Key: e.key, Parent: s.parentOf(e.thread), Status: event.Cancelled, ProviderID: e.item.ID, Kind: event.Answer}
	switch {
	case e.tool != nil:
		out.Kind, out.Body.Tool = event.ToolCall, e.tool
	case e.item.Type == "reasoning", strings.HasSuffix(e.key, rawThought):
		out.Kind = event.Thought
	default:
		out.Body.Commentary = commentary(&e.item)
	}
	s.emit(provider.Event{Item: out})
}

// cutOff closes the prose of a turn whose stream broke off.
func (s *session) cutOff(turn string) {
	for raw, e := range s.entries {
		if e.turn == turn && !e.ended && e.tool == nil && e.told {
			s.cancel(e)
			delete(s.entries, raw)
			s.attempt[raw]++
		}
	}
}

// closeEntries forgets the items of a turn that has ended. Commands that go
// on without it are kept, as work in the background.
func (s *session) closeEntries(turn string, interrupted bool) {
	for raw, e := range s.entries {
		if e.turn != turn {
			continue
		}
		goesOn := !e.ended && e.item.Type == "commandExecution" && e.tool != nil && !interrupted
		switch {
		case goesOn:
			e.tool.Background = true
			s.emitTool(e, event.InProgress)
			continue
		case !e.ended:
			s.cancel(e)
			if e.killed {
				continue // its last output is still to come
			}
		}
		delete(s.entries, raw)
	}
	for raw := range s.attempt {
		if strings.HasPrefix(raw, turn+"/") && s.entries[raw] == nil {
			delete(s.attempt, raw)
		}
	}
}

// at is a time of the protocol.
func at(ms *int64) *time.Time {
	if ms == nil {
		return nil
	}
	t := time.UnixMilli(*ms).UTC()
	return &t
}
