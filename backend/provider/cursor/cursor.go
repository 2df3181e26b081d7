// Package cursor drives Cursor's command-line agent in its headless mode: one
// process of `cursor-agent` (or `agent`) for each turn, the prompt on its
// standard input, JSON lines on its standard output (--print --output-format
// stream-json). The format is the published one
// (https://cursor.com/docs/cli/reference/output-format) with what is known of
// newer fields; it was never run against the real program, which cannot be
// had as a package.
//
// Delivery: the prompt is Sent when it was written whole and the input was
// closed. The agent has taken it when it says so (system/init). A turn ends
// when the process has ended: an answer counts only with the agent's own
// result and an exit code of 0. The conversation's id is told then, and not
// before: of a turn that was interrupted or failed the agent may not have
// kept anything, and the next message goes on from the last good one.
//
// The agent cannot ask: it has no approvals in this mode, so that only
// planning (read only) and full access are offered, never anything in
// between. A request for an approval that appears all the same ends the turn.
package cursor

import (
	"context"
	"sync"
	"time"

	"berth/backend/provider"
	"berth/backend/provider/watch"
)

// Driver is the driver of Cursor.
type Driver struct {
	mu  sync.Mutex
	fit map[string]bool // executables that are known to be a Cursor CLI we can use
}

// New makes the driver.
func New() *Driver { return &Driver{fit: map[string]bool{}} }

// Name implements provider.Driver.
func (*Driver) Name() string { return "cursor" }

var capabilities = provider.Capabilities{
	Resume: true, Thinking: true, Plans: true, Usage: true, Interrupt: true, ModelPerTurn: true,
}

var modes = []provider.Permission{provider.PlanOnly, provider.Full}

// limits are how long silence is borne: from the start to the agent's first
// word, between two words, and while a tool runs.
var limits = watch.Limits{First: 2 * time.Minute, Idle: 15 * time.Minute, Tool: 6 * time.Hour}

// Open implements provider.Driver. No process is started before the first
// turn.
func (d *Driver) Open(ctx context.Context, host provider.Host, spec provider.Spec) (provider.Session, error) {
	if err := checkFolder(spec.Cwd); err != nil {
		return nil, err
	}
	if spec.Fork {
		return nil, &provider.Error{Code: "unsupported", Text: "Cursor cannot fork a conversation."}
	}
	if _, err := modeArguments(spec.Mode); err != nil {
		return nil, err
	}
	path, err := d.find(ctx, host)
	if err != nil {
		return nil, err
	}
	return newSession(host.Processes, host.Clock, path, host.Env, spec), nil
}
