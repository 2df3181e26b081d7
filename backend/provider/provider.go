// Package provider is the contract between Berth and the agents it drives.
//
// A Driver speaks one agent's protocol. It describes the agent (installed,
// version, login, models, modes, capabilities) and opens Sessions. A Session
// is one conversation of one chat with one agent: it takes the user's input
// and yields an ordered stream of Events. What an agent cannot do is declared
// in its Capabilities; a driver never approximates, and never falls back to a
// mode with fewer approvals to get an answer.
//
// Delivery: Send and Steer say what is proven about the write. A session
// emits exactly one TurnEnded for each accepted Send, or one Closed when the
// agent went away first. Events are delivered in order on a channel of small
// capacity; a reader that stops reading stops the agent's pipe, nothing is
// dropped. After Closed the channel is closed.
package provider

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"berth/backend/process"
)

// Driver speaks one agent's protocol. Its methods may be called at the same
// time from several goroutines.
type Driver interface {
	// Name is the agent's id: claude, codex, cursor, opencode, demo, or the
	// id of an entry of the agents file.
	Name() string
	// Describe looks at the agent as installed, within ctx, and without a
	// network call where it can. It does not fail: what went wrong is in the
	// Description.
	Describe(ctx context.Context, host Host) Description
	// Open starts, resumes or forks a conversation. The spec is frozen for
	// the session. An *Error says why the agent could not be started.
	Open(ctx context.Context, host Host, spec Spec) (Session, error)
}

// Host is what the backend lends to a driver.
type Host struct {
	// Processes starts all children; a driver never uses os/exec itself.
	Processes *process.Supervisor
	// Executable overrides where the agent is found: an absolute path from
	// the settings, empty to look it up.
	Executable string
	// Env is added to the agent's environment (NAME=value), from the agents
	// file or the settings.
	Env []string
	// Self is Berth's own executable, for the demo agent.
	Self string
	// Scratch is a directory below the state directory in which a driver may
	// keep private files (0700).
	Scratch string
	// Version is Berth's, for client info.
	Version string
	// Clock bounds watchdogs; tests inject their own.
	Clock Clock
}

// Getenv is a variable as an agent sees it: as the host adds it, else
// Berth's own.
func (h Host) Getenv(name string) string {
	for i := len(h.Env) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(h.Env[i], name+"="); ok {
			return value
		}
	}
	return os.Getenv(name)
}

// Clock is time as drivers see it.
type Clock interface {
	Now() time.Time
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

// Status of an agent on this machine.
type Status string

// The statuses of an agent.
const (
	Ready           Status = "ready"
	Missing         Status = "missing"
	Unauthenticated Status = "signed_out"
	TooOld          Status = "too_old"
	Broken          Status = "broken"
	Unknown         Status = "unknown" // not looked at yet, or no evidence in time
)

// Description is an agent as installed.
type Description struct {
	Name       string `json:"name"`
	Title      string `json:"title" doc:"Claude Code, Codex, …"`
	Mark       string `json:"mark" doc:"Two letters for lists."`
	Status     Status `json:"status" enum:"ready,missing,signed_out,too_old,broken,unknown"`
	Version    string `json:"version,omitempty"`
	Executable string `json:"executable,omitempty"`
	Account    string `json:"account,omitempty" doc:"Who is signed in, if the agent says so locally."`
	Message    string `json:"message,omitempty" doc:"What is wrong, in one sentence."`
	Detail     string `json:"detail,omitempty" doc:"The machine's own last line."`
	// Commands that put things right, run in a terminal by the user: each is
	// one program with its arguments, as POST terminals takes it.
	Install []string `json:"install,omitempty" doc:"Program and arguments."`
	Login   []string `json:"login,omitempty" doc:"Program and arguments."`
	Update  []string `json:"update,omitempty" doc:"Program and arguments."`
	Demo    bool     `json:"demo,omitempty"`
	// Models, the first being the agent's own default.
	Models       []Model      `json:"models"`
	Modes        []Permission `json:"modes" doc:"Permission modes that this agent honours."`
	Capabilities Capabilities `json:"capabilities"`
	CheckedAt    time.Time    `json:"checked_at"`
}

// Model is one model of an agent. Value "" is the agent's own default.
type Model struct {
	Value         string   `json:"value"`
	Label         string   `json:"label"`
	Note          string   `json:"note,omitempty"`
	Efforts       []string `json:"efforts,omitempty" doc:"Reasoning efforts, least first."`
	DefaultEffort string   `json:"default_effort,omitempty"`
	Locked        string   `json:"locked,omitempty" doc:"Why it cannot be chosen."`
}

// Capabilities says what an agent can do; the UI offers nothing else.
type Capabilities struct {
	Approvals     bool `json:"approvals"`
	Questions     bool `json:"questions"`
	Steer         bool `json:"steer"`
	Fork          bool `json:"fork"`
	Resume        bool `json:"resume"`
	Images        bool `json:"images"`
	Files         bool `json:"files"`
	Thinking      bool `json:"thinking"`
	Plans         bool `json:"plans"`
	Subagents     bool `json:"subagents"`
	Commands      bool `json:"commands"`
	Instructions  bool `json:"instructions"`
	Usage         bool `json:"usage"`
	Cost          bool `json:"cost"`
	Interrupt     bool `json:"interrupt"`
	ModelPerTurn  bool `json:"model_per_turn"`
	EffortPerTurn bool `json:"effort_per_turn"`
}

// Permission is Berth's permission mode (CONTRACTS, Permission modes).
type Permission string

// The permission modes.
const (
	Ask         Permission = "ask"
	AcceptEdits Permission = "accept-edits"
	PlanOnly    Permission = "plan"
	Full        Permission = "full"
)

// Spec is what a session is opened with.
type Spec struct {
	Chat      string
	Execution string // BERTH_EXECUTION of the processes
	Cwd       string
	Model     string
	Effort    string
	Mode      Permission
	// Instructions of the chat; they travel by the agent's own channel.
	Instructions string
	// Resume is the agent's own conversation id, empty to start one.
	Resume string
	// Fork makes a new conversation out of Resume.
	Fork bool
	// RootBypass is the user's explicit choice to let Claude bypass
	// permissions as root (CONTRACTS).
	RootBypass bool
}

// Input is one message of the user. The text reaches the agent unchanged.
type Input struct {
	Turn        string // Berth's turn id, given to the agent as message id where it takes one
	Text        string
	Attachments []Attachment
	// Model, Effort and Mode are those of this turn; the driver switches if
	// they differ from the last turn's.
	Model  string
	Effort string
	Mode   Permission
}

// Attachment is a file beside the message; Path is readable by the agent.
type Attachment struct {
	Path string
	Name string
	Type string // media type
	Size int64
}

// Session is one conversation with an agent.
type Session interface {
	// Send delivers a message and starts a turn. It returns once the message
	// is written; acceptance is proven by the Accepted event.
	Send(ctx context.Context, in Input) (Delivery, error)
	// Steer puts a message into the running turn, if Capabilities.Steer.
	Steer(ctx context.Context, in Input) (Delivery, error)
	// Interrupt asks the agent to end its turn; the proof is TurnEnded.
	Interrupt(ctx context.Context) error
	// Answer answers the request of that key (Request.Key). An error
	// matching ErrNoRequest means that the agent no longer waits for it.
	Answer(ctx context.Context, key string, answer Answer) error
	// Close ends the conversation's process, or unsubscribes from a shared
	// one, within bounds. Idempotent.
	Close(ctx context.Context) error
	// Events is closed after the Closed event.
	Events() <-chan Event
	// Processes are the ids in the process registry that work for this
	// session alone; empty for a shared process.
	Processes() []string
}

// Delivery is what is proven about a write to an agent.
type Delivery int

// The proofs of delivery.
const (
	// NotSent: provably nothing of it reached the agent.
	NotSent Delivery = iota
	// Sent: it was written whole.
	Sent
	// Uncertain: some of it may have reached the agent.
	Uncertain
)

// Answer to a request: Option for an approval, Answers for a question.
// Cancelled means that the request ends without an answer (stop).
type Answer struct {
	Option    string
	Reason    string
	Answers   map[string][]string
	Cancelled bool
}

// ErrNoRequest says that the agent does not wait for that request.
var ErrNoRequest = errors.New("the agent no longer waits for this request")

// ErrUnsupported says that the agent cannot do what was asked.
var ErrUnsupported = errors.New("not supported by this agent")

// ErrReopen, from Send with NotSent, says that the session cannot take on
// what the input asks for (model, effort, mode): it must be opened anew with
// the new spec, resuming its conversation. The chat does that, once.
var ErrReopen = errors.New("the session must be opened anew for these settings")

// Error is a failure in plain words, with a stable code and a way on.
type Error struct {
	Code   string // missing, signed_out, too_old, broken, start_failed, rate_limited, overloaded, quota, context_full, refused, protocol, no_answer, agent_ended, cwd_missing, failed, …
	Text   string // one or two sentences for the user
	Detail string // the machine's own last line
	Action string // sign_in, install, send_again, open_settings, or empty
	// RetryAt is when the agent accepts requests again, if it said so.
	RetryAt time.Time
	Err     error
}

func (e *Error) Error() string {
	if e.Detail != "" {
		return e.Text + " (" + e.Detail + ")"
	}
	return e.Text
}

func (e *Error) Unwrap() error { return e.Err }
