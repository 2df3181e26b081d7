// Package event is Berth's append-only log: every fact that the user may see
// is one event, written in the same transaction as the state it changes, and
// published in commit order after the commit. Items, the entries of a
// timeline, are a projection of the log kept in the items table.
//
// Delivery: a committed event reaches each subscriber once and in order, or
// the subscriber is told to fetch again (see Hub). Text deltas are ephemeral:
// they may be dropped, and the next snapshot of their item repairs the text.
package event

import (
	"encoding/json"
	"time"
)

// Kind says what an item is. The set is open: readers keep and plainly show
// kinds they do not know.
type Kind string

// The kinds of item (CONTRACTS, Bodies).
const (
	UserMessage Kind = "user_message"
	Answer      Kind = "answer"
	Thought     Kind = "thought"
	ToolCall    Kind = "tool_call"
	Diff        Kind = "diff"
	Approval    Kind = "approval"
	Question    Kind = "question"
	Plan        Kind = "plan"
	Artifact    Kind = "artifact"
	Notice      Kind = "notice"
	Alert       Kind = "alert"
)

// Status is the life cycle of an item; the words for tools are those of the
// Agent Client Protocol.
type Status string

// The statuses of an item. A request (approval, question) is Pending until it
// is answered (Completed), or no longer waits (Cancelled).
const (
	Pending    Status = "pending"
	InProgress Status = "in_progress"
	Completed  Status = "completed"
	Failed     Status = "failed"
	Cancelled  Status = "cancelled"
)

// Item is one entry of a timeline. It keeps the place (Seq) where it first
// appeared; later events replace its status, summary and body and raise its
// revision.
type Item struct {
	ID       string    `json:"id"`
	Chat     string    `json:"chat"`
	Turn     string    `json:"turn,omitempty"`
	Parent   string    `json:"parent,omitempty" doc:"The item (a sub-agent's tool call) inside which this one happened."`
	Kind     Kind      `json:"kind"`
	Status   Status    `json:"status"`
	Seq      int64     `json:"seq" doc:"Place in the chat; never reused."`
	Revision int64     `json:"revision" doc:"Grows with every change of this item."`
	At       time.Time `json:"at"`
	Summary  string    `json:"summary" doc:"One line for lists."`
	Body     Body      `json:"body"`

	// ProviderID is the agent's own id of the message or call, the key by
	// which imported history is matched. Empty when the agent gives none.
	ProviderID string `json:"provider_id,omitempty"`
}

// Body holds what an item says. One struct serves all kinds: the fields that
// a kind does not use are absent.
type Body struct {
	// Text of user_message, answer, thought, notice and alert, whole.
	Text string `json:"text,omitempty"`
	// Attachments of a user_message.
	Attachments []Attachment `json:"attachments,omitempty"`
	// Commentary marks an answer that is said while the work goes on.
	Commentary bool        `json:"commentary,omitempty"`
	Tool       *Tool       `json:"tool,omitempty"`
	Request    *Request    `json:"request,omitempty" doc:"Of approval and question."`
	Plan       []PlanEntry `json:"plan,omitempty"`
	Files      []FileDiff  `json:"files,omitempty" doc:"Of diff: what changed, file by file."`
	Notice     *NoticeFact `json:"notice,omitempty"`
	Artifact   *File       `json:"artifact,omitempty"`
	// Ext carries facts of one agent that have no common word, by agent name.
	Ext json.RawMessage `json:"ext,omitempty"`
}

// Attachment is a file the user sent along with a message.
type Attachment struct {
	File string `json:"file" doc:"Id of the file; GET files/{id} gives its bytes."`
	Name string `json:"name"`
	Type string `json:"type" doc:"Media type."`
	Size int64  `json:"size" doc:"Bytes."`
}

// File names bytes that Berth keeps.
type File struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Type   string `json:"type" doc:"Media type."`
	Size   int64  `json:"size" doc:"Bytes."`
	Width  int    `json:"width,omitempty" doc:"Pixels, of an image: the view keeps its room before it loads."`
	Height int    `json:"height,omitempty" doc:"Pixels, of an image."`
}

// ToolKind groups tools by what they do, in the words of the Agent Client
// Protocol.
type ToolKind string

// The kinds of tool.
const (
	ToolRead    ToolKind = "read"
	ToolEdit    ToolKind = "edit"
	ToolDelete  ToolKind = "delete"
	ToolMove    ToolKind = "move"
	ToolSearch  ToolKind = "search"
	ToolExecute ToolKind = "execute"
	ToolThink   ToolKind = "think"
	ToolFetch   ToolKind = "fetch"
	ToolAgent   ToolKind = "agent" // a sub-agent; Berth's own word
	ToolOther   ToolKind = "other"
)

// Tool is the body of a tool_call.
type Tool struct {
	Kind      ToolKind        `json:"kind"`
	Name      string          `json:"name" doc:"The agent's own name of the tool."`
	Title     string          `json:"title" doc:"What it works on: a path, a command, a query."`
	Locations []Location      `json:"locations,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	// Output is shortened to its beginning and end when it is long.
	Output      string     `json:"output,omitempty"`
	OutputBytes int64      `json:"output_bytes,omitempty" doc:"True size of the output."`
	OutputFile  string     `json:"output_file,omitempty" doc:"File with the whole output, where it was shortened."`
	ExitCode    *int       `json:"exit_code,omitempty"`
	Error       string     `json:"error,omitempty"`
	Files       []FileDiff `json:"files,omitempty" doc:"What an edit changes."`
	Images      []File     `json:"images,omitempty"`
	StartedAt   *time.Time `json:"started_at,omitempty"`
	EndedAt     *time.Time `json:"ended_at,omitempty"`
	Background  bool       `json:"background,omitempty" doc:"Goes on after its turn."`
}

// Location is a place in a file that a tool works on.
type Location struct {
	Path string `json:"path"`
	Line int    `json:"line,omitempty"`
}

// FileDiff is the change of one file as a unified patch.
type FileDiff struct {
	Path    string `json:"path"`
	OldPath string `json:"old_path,omitempty" doc:"Of a rename."`
	Change  string `json:"change" enum:"added,modified,deleted,renamed"`
	Added   int    `json:"added" doc:"Lines."`
	Removed int    `json:"removed" doc:"Lines."`
	Patch   string `json:"patch,omitempty" doc:"Unified hunks; absent when binary or too large."`
	Omitted string `json:"omitted,omitempty" doc:"Why there is no patch: binary, too_large."`
}

// PlanEntry is one step of an agent's plan.
type PlanEntry struct {
	Text     string `json:"text"`
	Status   Status `json:"status"`
	Priority string `json:"priority,omitempty"`
}

// NoticeFact says what a notice is about, for views that show more than text.
type NoticeFact struct {
	Code   string `json:"code" doc:"Stable, for example rate_limited, turn_failed, agent_ended."`
	Level  string `json:"level" enum:"info,warning,error"`
	Detail string `json:"detail,omitempty" doc:"The machine's own last line, unchanged."`
	Action string `json:"action,omitempty" doc:"A way on the view can offer: sign_in, install, send_again, open_settings."`
}

// Request is the body of an approval or question: something the agent asks
// the human.
type Request struct {
	ID      string `json:"id" doc:"For POST requests/{id}/answer."`
	Title   string `json:"title"`
	Reason  string `json:"reason,omitempty" doc:"The agent's own words."`
	Command string `json:"command,omitempty"`
	Cwd     string `json:"cwd,omitempty"`
	Host    string `json:"host,omitempty" doc:"Network target, where that is what is asked."`
	Tool    string `json:"tool,omitempty" doc:"Item of the tool call that waits."`
	// ToolKind is what the waiting tool does.
	ToolKind  ToolKind        `json:"tool_kind,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	Files     []FileDiff      `json:"files,omitempty"`
	Options   []Option        `json:"options,omitempty" doc:"Of an approval."`
	Questions []QuestionField `json:"questions,omitempty" doc:"Of a question."`
	// AutoResolveAt is when the agent goes on without an answer.
	AutoResolveAt *time.Time `json:"auto_resolve_at,omitempty" doc:"When the agent goes on without an answer."`
	// Answer is set once somebody answered, or the request ended.
	Answer *RequestAnswer `json:"answer,omitempty"`
}

// OptionKind tells the options of an approval apart, in the words of the
// Agent Client Protocol; allow_session is Berth's.
type OptionKind string

// The kinds of option.
const (
	AllowOnce    OptionKind = "allow_once"
	AllowSession OptionKind = "allow_session"
	AllowAlways  OptionKind = "allow_always"
	RejectOnce   OptionKind = "reject_once"
	RejectAlways OptionKind = "reject_always"
)

// Option is one way to answer an approval.
type Option struct {
	ID     string     `json:"id"`
	Kind   OptionKind `json:"kind"`
	Label  string     `json:"label"`
	Reason bool       `json:"reason,omitempty" doc:"A reason may be given, and reaches the agent."`
}

// QuestionField is one question of a request.
type QuestionField struct {
	ID       string   `json:"id"`
	Header   string   `json:"header,omitempty"`
	Text     string   `json:"text"`
	Choices  []Choice `json:"choices,omitempty"`
	Multiple bool     `json:"multiple,omitempty"`
	FreeText bool     `json:"free_text,omitempty"`
	Secret   bool     `json:"secret,omitempty"`
}

// Choice is one prepared answer to a question.
type Choice struct {
	Value string `json:"value"`
	Label string `json:"label"`
	Note  string `json:"note,omitempty"`
}

// RequestAnswer records how a request ended.
type RequestAnswer struct {
	Option  string              `json:"option,omitempty"`
	Reason  string              `json:"reason,omitempty"`
	Answers map[string][]string `json:"answers,omitempty"`
	// Outcome is answered, cancelled (the turn ended or was stopped) or
	// withdrawn (the agent no longer asks).
	Outcome string    `json:"outcome" enum:"answered,cancelled,withdrawn"`
	By      string    `json:"by,omitempty" doc:"Who answered: owner, or the name of a device."`
	At      time.Time `json:"at"`
}
