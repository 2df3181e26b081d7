package chat

import (
	"time"

	"berth/backend/event"
	"berth/backend/provider"
)

// State is what is known of a chat's agent.
type State string

// The states of a chat (CONTRACTS).
const (
	NotLoaded     State = "not_loaded" // no process; the next message starts or resumes it
	Idle          State = "idle"
	Running       State = "running"
	AwaitingInput State = "awaiting_input"
	Fenced        State = "fenced" // a stop could not be confirmed; nothing new starts
	Dead          State = "dead"   // the agent is gone and the conversation cannot be resumed
)

// Chat is one conversation with one agent in one folder.
type Chat struct {
	ID           string                    `json:"id"`
	Agent        string                    `json:"agent"`
	Cwd          string                    `json:"cwd"`
	CwdRaw       []byte                    `json:"cwd_raw,omitempty" doc:"The bytes of cwd, where it is not UTF-8; base64."`
	Title        string                    `json:"title"`
	Folder       string                    `json:"folder,omitempty" doc:"The user's own folder in the sidebar; without one, chats are grouped by cwd."`
	Model        string                    `json:"model,omitempty"`
	Effort       string                    `json:"effort,omitempty"`
	Permissions  provider.Permission       `json:"permissions" enum:"ask,accept-edits,plan,full"`
	Instructions string                    `json:"instructions,omitempty"`
	RootBypass   bool                      `json:"root_bypass,omitempty"`
	State        State                     `json:"state" enum:"not_loaded,idle,running,awaiting_input,fenced,dead"`
	Reason       string                    `json:"reason,omitempty" doc:"Why fenced or dead."`
	Pinned       bool                      `json:"pinned,omitempty"`
	Archived     bool                      `json:"archived,omitempty"`
	Position     float64                   `json:"position" doc:"Order within its group, least first."`
	Unread       bool                      `json:"unread,omitempty"`
	ReadSeq      int64                     `json:"read_seq" doc:"Items up to this seq were seen."`
	LastSeq      int64                     `json:"last_seq" doc:"Seq of the newest item that counts for unread."`
	Turn         *Turn                     `json:"turn,omitempty" doc:"The turn that runs, or else the last one."`
	Queued       int                       `json:"queued" doc:"Rows in the queue."`
	Held         int                       `json:"held" doc:"Rows of the queue that wait for a release."`
	Waiting      []Waiting                 `json:"waiting,omitempty" doc:"Requests that wait for the human, oldest first."`
	Background   []provider.BackgroundTask `json:"background,omitempty" doc:"What the agent goes on with outside its turn."`
	LastLine     string                    `json:"last_line,omitempty" doc:"What happened last, for lists."`
	Usage        *provider.Usage           `json:"usage,omitempty"`
	Conversation string                    `json:"conversation,omitempty" doc:"The agent's own conversation id."`
	CreatedAt    time.Time                 `json:"created_at"`
	UpdatedAt    time.Time                 `json:"updated_at"`
}

// Waiting is a pending request in a list.
type Waiting struct {
	Request string     `json:"request"`
	Item    string     `json:"item"`
	Kind    event.Kind `json:"kind"`
	Title   string     `json:"title"`
	At      time.Time  `json:"at"`
}

// TurnState is where a turn stands. The last four are terminal.
type TurnState string

// The states of a turn (CONTRACTS).
const (
	TurnQueued        TurnState = "queued"
	TurnHeld          TurnState = "held"
	TurnStarting      TurnState = "starting"
	TurnRunning       TurnState = "running"
	TurnAwaitingInput TurnState = "awaiting_input"
	TurnStopping      TurnState = "stopping"
	TurnUncertain     TurnState = "uncertain"
	TurnCompleted     TurnState = "completed"
	TurnFailed        TurnState = "failed"
	TurnStopped       TurnState = "stopped"
	TurnInterrupted   TurnState = "interrupted"
)

// Terminal says whether a turn in this state has ended.
func (s TurnState) Terminal() bool {
	switch s {
	case TurnCompleted, TurnFailed, TurnStopped, TurnInterrupted:
		return true
	}
	return false
}

// Turn is one input of the user and all that follows from it. A queue row is
// a turn that is queued, held or uncertain.
type Turn struct {
	ID          string              `json:"id"`
	Chat        string              `json:"chat"`
	State       TurnState           `json:"state" enum:"queued,held,starting,running,awaiting_input,stopping,uncertain,completed,failed,stopped,interrupted"`
	Position    int                 `json:"position,omitempty" doc:"Place in the queue, from 1."`
	ClientID    string              `json:"client_id"`
	Text        string              `json:"text"`
	Attachments []event.Attachment  `json:"attachments,omitempty"`
	Model       string              `json:"model,omitempty"`
	Effort      string              `json:"effort,omitempty"`
	Permissions provider.Permission `json:"permissions,omitempty"`
	Reason      string              `json:"reason,omitempty" doc:"Why held, stopped or interrupted: a stable word."`
	Error       *TurnError          `json:"error,omitempty"`
	CreatedAt   time.Time           `json:"created_at"`
	StartedAt   *time.Time          `json:"started_at,omitempty"`
	EndedAt     *time.Time          `json:"ended_at,omitempty"`
}

// TurnError is why a turn failed, and the way on.
type TurnError struct {
	Code    string     `json:"code"`
	Text    string     `json:"text"`
	Detail  string     `json:"detail,omitempty" doc:"The machine's own last line."`
	Action  string     `json:"action,omitempty"`
	RetryAt *time.Time `json:"retry_at,omitempty"`
}

// Attention is one thing that waits for the human.
type Attention struct {
	Chat    string    `json:"chat"`
	Title   string    `json:"title" doc:"Of the chat."`
	Agent   string    `json:"agent"`
	Kind    string    `json:"kind" enum:"approval,question,failed,held,uncertain,fenced,finished"`
	Text    string    `json:"text" doc:"What is asked, or what happened."`
	Item    string    `json:"item,omitempty"`
	Request string    `json:"request,omitempty"`
	Turn    string    `json:"turn,omitempty"`
	At      time.Time `json:"at"`
}

// NewChat is what a chat is made from.
type NewChat struct {
	Agent        string              `json:"agent" minLength:"1"`
	Cwd          string              `json:"cwd" minLength:"1" doc:"Absolute path of a folder that exists; ~ is expanded."`
	CwdRaw       []byte              `json:"cwd_raw,omitempty" doc:"Goes before cwd: the bytes of a path that is not UTF-8, base64."`
	Title        string              `json:"title,omitempty" maxLength:"240"`
	Folder       string              `json:"folder,omitempty" maxLength:"120"`
	Model        string              `json:"model,omitempty" maxLength:"240"`
	Effort       string              `json:"effort,omitempty" maxLength:"240"`
	Permissions  provider.Permission `json:"permissions,omitempty" enum:"ask,accept-edits,plan,full"`
	Instructions string              `json:"instructions,omitempty" maxLength:"65536"`
	RootBypass   bool                `json:"root_bypass,omitempty"`
}

// Change of a chat; absent fields stay.
type Change struct {
	Title        *string              `json:"title,omitempty" maxLength:"240"`
	Folder       *string              `json:"folder,omitempty" maxLength:"120"`
	Cwd          *string              `json:"cwd,omitempty"`
	CwdRaw       []byte               `json:"cwd_raw,omitempty" doc:"Goes before cwd: the bytes of a path that is not UTF-8, base64."`
	Agent        *string              `json:"agent,omitempty" doc:"Only before the first turn."`
	Model        *string              `json:"model,omitempty" maxLength:"240"`
	Effort       *string              `json:"effort,omitempty" maxLength:"240"`
	Permissions  *provider.Permission `json:"permissions,omitempty" enum:"ask,accept-edits,plan,full"`
	Instructions *string              `json:"instructions,omitempty" maxLength:"65536"`
	RootBypass   *bool                `json:"root_bypass,omitempty"`
	Pinned       *bool                `json:"pinned,omitempty"`
	Archived     *bool                `json:"archived,omitempty"`
	Position     *float64             `json:"position,omitempty"`
	// NewConversation lets the next message begin a new conversation with
	// the agent, where the old one cannot be resumed. The timeline stays.
	NewConversation *bool `json:"new_conversation,omitempty" doc:"The next message begins a new conversation with the agent; the timeline stays."`
}

// NewTurn is one message to send.
type NewTurn struct {
	Text        string              `json:"text" maxLength:"4194304"`
	Attachments []string            `json:"attachments,omitempty" maxItems:"32" doc:"Ids of uploaded files."`
	Model       string              `json:"model,omitempty" maxLength:"240"`
	Effort      string              `json:"effort,omitempty" maxLength:"240"`
	Permissions provider.Permission `json:"permissions,omitempty" enum:"ask,accept-edits,plan,full"`
	ClientID    string              `json:"client_id" minLength:"1" maxLength:"128" doc:"Made by the client; the same id again gives the same turn."`
}

// Accepted is the reply to a NewTurn.
type Accepted struct {
	Turn     string    `json:"turn"`
	State    TurnState `json:"state"`
	Position int       `json:"position,omitempty" doc:"Place in the queue, from 1."`
}

// GivenAnswer is the human's answer to a request.
type GivenAnswer struct {
	Option  string              `json:"option,omitempty"`
	Reason  string              `json:"reason,omitempty" maxLength:"8000"`
	Answers map[string][]string `json:"answers,omitempty"`
}

// Page of items, oldest first.
type Page struct {
	Items     []event.Item `json:"items"`
	HasBefore bool         `json:"has_before"`
	HasAfter  bool         `json:"has_after"`
}

// Draft is what stands in a chat's composer.
type Draft struct {
	Text        string             `json:"text" maxLength:"4194304"`
	Attachments []event.Attachment `json:"attachments,omitempty" maxItems:"32"`
}

// StopResult says how far a stop has come.
type StopResult struct {
	State       string   `json:"state" enum:"stopped,idle,stopping,fenced"`
	Turn        string   `json:"turn,omitempty"`
	Held        int      `json:"held" doc:"Rows of the queue that wait for a release."`
	Unconfirmed []string `json:"unconfirmed,omitempty" doc:"What is not proven gone."`
}

// Error is a refusal with a stable code; Field names what was wrong with the
// input.
type Error struct {
	Code   string
	Field  string
	Text   string
	Winner *event.RequestAnswer // of already_answered
}

func (e *Error) Error() string { return e.Text }
