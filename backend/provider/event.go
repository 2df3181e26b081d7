package provider

import (
	"encoding/json"

	"berth/backend/event"
)

// Event is one thing an agent's session reports. Exactly one of the fields
// is set.
type Event struct {
	// Conversation is the agent's own conversation id, once known or changed.
	Conversation string
	// Accepted proves that the agent took the message sent last.
	Accepted *Accepted
	// Item puts or replaces an item; its streamed text is kept.
	Item *Item
	// Text appends to an item's text (answer, thought), or to a tool's live
	// output.
	Text *Text
	// Request asks the human. The turn waits.
	Request *Request
	// Withdrawn is the key of a request the agent no longer waits for.
	Withdrawn string
	// Usage is a level: the latest wins.
	Usage *Usage
	// Commands replaces what the agent offers after "/".
	Commands *[]Command
	// Active is any sign of life that has no other event; it feeds watchdogs.
	Active bool
	// Background reports the work of the agent (sub-agents, shells) that
	// outlives a turn.
	Background *[]BackgroundTask
	// TurnEnded ends the turn, exactly once.
	TurnEnded *TurnEnded
	// Closed is the last event of a session.
	Closed *Closed
	// Raw is the protocol line behind the next event, bounded, for the debug
	// view.
	Raw json.RawMessage
}

// Accepted proves delivery.
type Accepted struct {
	Turn         string // Input.Turn, where the agent echoes it, else empty
	ProviderTurn string
	Steered      bool
}

// Item is an item as a driver reports it. Key is unique and stable within
// the session: the agent's own id of the message or call where there is one,
// else made by the driver.
type Item struct {
	Key    string
	Parent string // key of the sub-agent's tool call, if any
	Kind   event.Kind
	Status event.Status
	// Summary is one line for lists; empty lets the chat derive it.
	Summary    string
	Body       event.Body
	ProviderID string
	// Images are files that a tool produced or showed, by path or by bytes,
	// to be kept by Berth and put into Body.Tool.Images or Body.Artifact.
	Images []Image
}

// Image is a picture an agent showed.
type Image struct {
	Name string
	Type string // media type
	Path string // either a readable path
	Data []byte // or the bytes
}

// Text is a piece of streaming text. An item that is not known yet is
// created with the given kind.
type Text struct {
	Key    string
	Parent string
	Kind   event.Kind // Answer or Thought, or ToolCall for live tool output
	Text   string     // valid UTF-8: drivers hold back split characters
}

// Request is something the agent asks. Key is the driver's handle for
// Answer.
type Request struct {
	Key  string
	Kind event.Kind // Approval or Question
	Tool string     // key of the tool call that waits, if any
	Body event.Request
	// AutoResolveMS is when the agent goes on by itself, 0 never.
	AutoResolveMS int64
}

// Usage is how much of the context is used and what was spent. Figures the
// agent did not state are nil.
type Usage struct {
	ContextTokens *int64   `json:"context_tokens,omitempty"`
	ContextWindow *int64   `json:"context_window,omitempty"`
	InputTokens   *int64   `json:"input_tokens,omitempty" doc:"Not from a cache."`
	CachedTokens  *int64   `json:"cached_tokens,omitempty"`
	OutputTokens  *int64   `json:"output_tokens,omitempty"`
	CostUSD       *float64 `json:"cost_usd,omitempty" doc:"As stated by the agent, of this conversation."`
	Model         string   `json:"model,omitempty" doc:"The model that really answered."`
}

// Command is a slash command or skill of the agent.
type Command struct {
	Name        string `json:"name" doc:"Without the slash."`
	Description string `json:"description,omitempty"`
	Hint        string `json:"hint,omitempty" doc:"What may follow."`
	Kind        string `json:"kind,omitempty" doc:"command or skill."`
}

// BackgroundTask is work the agent goes on with outside its turn.
type BackgroundTask struct {
	ID     string `json:"id"`
	Title  string `json:"title"`
	Kind   string `json:"kind" doc:"subagent, shell."`
	Status string `json:"status" doc:"running, completed, failed, stopped."`
}

// TurnEnded is the end of a turn as the agent states it.
type TurnEnded struct {
	// State is completed, failed or stopped.
	State string
	// StopReason is the agent's word: end_turn, max_tokens, refusal, …
	StopReason string
	// Err is set when State is failed.
	Err *Error
}

// Closed is the end of a session.
type Closed struct {
	// Err is nil when we closed it.
	Err *Error
	// ExitCode of the process, if it had its own and it is known.
	ExitCode *int
	Stderr   string // bounded tail
}
