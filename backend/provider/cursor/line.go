package cursor

import (
	"encoding/json"
	"slices"
	"unicode/utf8"

	"berth/backend/event"
)

// line is one line of the CLI's output.
type line struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	Session string `json:"session_id"`
	// of system/init
	Model string `json:"model"`
	// of assistant
	Message struct {
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
	} `json:"message"`
	// A piece of a message has a time and no ModelCall; the whole one that
	// follows has a ModelCall, or no time.
	Time      *float64 `json:"timestamp_ms"`
	ModelCall string   `json:"model_call_id"`
	// of thinking
	Text string `json:"text"`
	// of tool_call
	Call string                     `json:"call_id"`
	Tool map[string]json.RawMessage `json:"tool_call"`
	// of result
	IsError bool   `json:"is_error"`
	Result  string `json:"result"`
	Usage   *usage `json:"usage"`
}

type usage struct {
	Input      *int64 `json:"inputTokens"`
	Output     *int64 `json:"outputTokens"`
	CacheRead  *int64 `json:"cacheReadTokens"`
	CacheWrite *int64 `json:"cacheWriteTokens"`
}

// said is the text of a message.
func (l *line) said() string {
	text := ""
	for _, c := range l.Message.Content {
		if c.Type == "text" {
			text += c.Text
		}
	}
	return text
}

// piece says whether an assistant line is a piece of a message.
func (l *line) piece() bool { return l.Time != nil && l.ModelCall == "" }

// cut shortens s to at most max bytes, at the border of a character.
func cut(s string, max int) string {
	if len(s) <= max {
		return s
	}
	for max > 0 && !utf8.RuneStart(s[max]) {
		max--
	}
	return s[:max]
}

// shape tells a line that is not understood without what it says: it may
// quote anything.
func shape(raw []byte) json.RawMessage {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(raw, &fields) // none where it is not an object
	var names []string
	for name := range fields {
		names = append(names, cut(name, maxWord))
	}
	slices.Sort(names)
	data, err := json.Marshal(map[string]any{"unreadable_bytes": len(raw), "fields": names[:min(len(names), 40)]})
	if err != nil {
		return nil
	}
	return data
}

// status is the event's word for a step's state in a list of steps.
func status(word string) event.Status {
	switch word {
	case "TODO_STATUS_COMPLETED", "completed":
		return event.Completed
	case "TODO_STATUS_IN_PROGRESS", "in_progress":
		return event.InProgress
	case "TODO_STATUS_CANCELLED", "cancelled":
		return event.Cancelled
	}
	return event.Pending
}
