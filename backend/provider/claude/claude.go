// Package claude drives Claude Code: one process of the `claude` command for
// each conversation, kept between turns, spoken to in JSON lines on its
// standard streams (--input-format and --output-format stream-json with
// --permission-prompt-tool stdio). What is known of that protocol was seen
// with versions 2.1.300 and 2.1.332; its types stand in line.go.
//
// Delivery: a message carries a uuid made from the turn's id. The agent has
// taken it when it names that uuid as started or echoes it
// (--replay-user-messages); a successful write proves nothing more than Sent.
// The CLI takes no uuid twice in one conversation, also after it was resumed.
// A turn ends with the result that names the message's uuid; results of turns
// that the CLI begins by itself, when a background task has ended, end none.
// A steered message joins the turn: the turn ends when its answer has, too.
//
// Limits: output of tools comes when the tool has ended, not while it runs.
// Between turns the process may ask its service for the size of the context
// (about as many small requests as it has tools).
package claude

import (
	"berth/backend/provider"
)

// Driver is the driver of Claude Code.
type Driver struct{}

// New makes the driver.
func New() *Driver { return &Driver{} }

// Name implements provider.Driver.
func (*Driver) Name() string { return "claude" }

var capabilities = provider.Capabilities{
	Approvals: true, Questions: true, Steer: true, Fork: true, Resume: true, Images: true, Files: true, Thinking: true,
	Plans: true, Subagents: true, Commands: true, Instructions: true, Usage: true, Cost: true, Interrupt: true,
	ModelPerTurn: true, EffortPerTurn: true,
}

var modes = []provider.Permission{provider.Ask, provider.AcceptEdits, provider.PlanOnly, provider.Full}
