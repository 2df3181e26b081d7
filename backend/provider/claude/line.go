package claude

import (
	"encoding/json"
	"fmt"
	"slices"
)

// The lines of the CLI, as seen from version 2.1.332 (--output-format
// stream-json). Fields that nothing here needs are left out.

// head is what tells lines apart.
type head struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	Session string `json:"session_id"`
}

// messageLine is a line of type assistant or user: one finished content
// block of the model, results of tools, or an echo of what we sent.
type messageLine struct {
	UUID    string  `json:"uuid"`
	Parent  string  `json:"parent_tool_use_id"` // the sub-agent's tool call
	Message message `json:"message"`
	Replay  bool    `json:"isReplay"` // an echo of our own message
	// ToolResult is a tool's result in its own form: an object that depends
	// on the tool, or a string where it failed.
	ToolResult json.RawMessage `json:"tool_use_result"`
	Meta       []resultMeta    `json:"tool_result_meta"`
	// Failure says that the message is not the model's words but an error.
	Failure     string `json:"error"`
	FailureType string `json:"api_error"` // usage_limit_reached
}

type resultMeta struct {
	ID string `json:"id"`
	// NotExecuted is permission-rule where the human denied the call, and
	// user-rejected where the turn was interrupted.
	NotExecuted string `json:"non_execution_kind"`
}

type message struct {
	ID      string  `json:"id"`
	Role    string  `json:"role"`
	Model   string  `json:"model"`
	Content content `json:"content"`
	Usage   usage   `json:"usage"`
}

// content is a string or a list of blocks.
type content []block

func (c *content) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '[' {
		return json.Unmarshal(data, (*[]block)(c))
	}
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	*c = content{{Type: "text", Text: text}}
	return nil
}

// block is one content block of the Messages API.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"` // of a tool_result: a string or blocks
	IsError   bool            `json:"is_error"`
	Source    *source         `json:"source"`
}

// source holds the bytes of an image.
type source struct {
	Type      string `json:"type"` // base64
	MediaType string `json:"media_type"`
	Data      string `json:"data"`
}

type usage struct {
	Input      int64 `json:"input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	Output     int64 `json:"output_tokens"`
}

// streamLine is a raw event of the model's stream
// (docs.anthropic.com/en/api/messages-streaming).
type streamLine struct {
	Parent string      `json:"parent_tool_use_id"`
	Event  streamEvent `json:"event"`
	// Abandoned is set on message_stop when the CLI threw away what the
	// stream had said from a block on.
	Abandoned *struct {
		From int `json:"from_block_index"`
	} `json:"abandoned_blocks"`
}

type streamEvent struct {
	Type         string  `json:"type"`
	Index        int     `json:"index"`
	Message      message `json:"message"`
	ContentBlock block   `json:"content_block"`
	Delta        struct {
		Type string `json:"type"`
		// Text and Thinking stay raw: half of a surrogate pair survives only
		// in its escaped form.
		Text     json.RawMessage `json:"text"`
		Thinking json.RawMessage `json:"thinking"`
	} `json:"delta"`
	Usage *usage `json:"usage"`
}

// systemLine is any line of type system.
type systemLine struct {
	Subtype string `json:"subtype"`
	UUID    string `json:"uuid"`
	// of init and status
	Model    string   `json:"model"`
	Mode     string   `json:"permissionMode"`
	Skills   []string `json:"skills"`
	Messages []string `json:"user_message_uuids"`
	// of api_retry
	Attempt     int     `json:"attempt"`
	MaxRetries  int     `json:"max_retries"`
	RetryDelay  float64 `json:"retry_delay_ms"`
	ErrorStatus int     `json:"error_status"`
	Error       string  `json:"error"`
	// of informational
	Content string `json:"content"`
	Level   string `json:"level"`
	// of compact_boundary
	Compact struct {
		Trigger string `json:"trigger"` // manual, auto
		Before  int64  `json:"pre_tokens"`
		After   int64  `json:"post_tokens"`
	} `json:"compact_metadata"`
	// of task_started, task_notification and background_tasks_changed
	Tasks   []task `json:"tasks"`
	ToolUse string `json:"tool_use_id"`
	Status  string `json:"status"`
	Summary string `json:"summary"`
}

// task is work that goes on beside the conversation.
type task struct {
	ID          string `json:"task_id"`
	Kind        string `json:"task_type"` // local_agent, local_bash
	Description string `json:"description"`
}

// resultLine ends a turn of the CLI's own.
type resultLine struct {
	Subtype        string              `json:"subtype"` // success, error_during_execution, error_max_turns, …
	IsError        bool                `json:"is_error"`
	Result         string              `json:"result"`
	Errors         []string            `json:"errors"`
	StopReason     string              `json:"stop_reason"`
	TerminalReason string              `json:"terminal_reason"` // completed, aborted_streaming, aborted_tools, api_error, prompt_too_long
	Status         int                 `json:"api_error_status"`
	Turns          int                 `json:"num_turns"`
	CostUSD        *float64            `json:"total_cost_usd"`
	Usage          usage               `json:"usage"`
	Models         map[string]modelUse `json:"modelUsage"`
	// Message and Messages name the user messages that this turn answered;
	// a turn that the CLI began by itself has none.
	Message  string   `json:"user_message_uuid"`
	Messages []string `json:"user_message_uuids"`
}

type modelUse struct {
	ContextWindow int64 `json:"contextWindow"`
}

// lifecycleLine tells how far a message of ours has come.
type lifecycleLine struct {
	Message string `json:"command_uuid"`
	State   string `json:"state"` // queued, started, completed, cancelled
}

// controlLine is a request, a reply or a cancelled request of the control
// protocol.
type controlLine struct {
	ID       string       `json:"request_id"` // of requests and of cancellations
	Request  canUseTool   `json:"request"`
	Response controlReply `json:"response"`
}

type controlReply struct {
	ID       string          `json:"request_id"`
	Subtype  string          `json:"subtype"` // success, error
	Response json.RawMessage `json:"response"`
	Error    string          `json:"error"`
}

// rateLimitLine tells how much of a subscription is used.
type rateLimitLine struct {
	Info rateLimit `json:"rate_limit_info"`
}

type rateLimit struct {
	Status   string                     `json:"status"`   // allowed, allowed_warning, rejected
	ResetsAt int64                      `json:"resetsAt"` // seconds since 1970
	Kind     string                     `json:"rateLimitType"`
	Windows  map[string]rateLimitWindow `json:"unifiedWindows"`
}

type rateLimitWindow struct {
	Utilization float64 `json:"utilization"` // 0 to 1
}

// maxShapeKeys bounds the names that shape keeps of a line.
const maxShapeKeys = 40

// shape describes a line that is not understood without what it says: it may
// quote anything. Type names and field names are the protocol's.
func shape(raw []byte) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return json.RawMessage(fmt.Sprintf(`{"unreadable_bytes":%d}`, len(raw)))
	}
	out := struct {
		Type    string            `json:"type"`
		Subtype string            `json:"subtype,omitempty"`
		Bytes   int               `json:"bytes"`
		Fields  map[string]string `json:"fields"`
	}{Bytes: len(raw), Fields: map[string]string{}}
	out.Type, out.Subtype = word(fields["type"]), word(fields["subtype"])
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names[:min(len(names), maxShapeKeys)] {
		out.Fields[cut(name, maxWord)] = jsonKind(fields[name])
	}
	data, err := json.Marshal(out)
	if err != nil {
		return nil
	}
	return data
}

// maxWord bounds a name of the protocol, in bytes.
const maxWord = 64

// word reads a short string, empty when it is none.
func word(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return cut(s, maxWord)
}

func jsonKind(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "nothing"
	}
	switch raw[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}
