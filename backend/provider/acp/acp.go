// Package acp drives any agent that speaks the Agent Client Protocol, version
// 1, on its standard streams (https://agentclientprotocol.com; the types are
// those of github.com/coder/acp-go-sdk). Which agents there are is data: see
// Entry and AgentsFile.
//
// One process serves one conversation. Its lines are read in order by our own
// loop (package wire): the SDK's connection lets requests overtake earlier
// notifications, and its decoder turns an update of an unknown kind into one
// of another. Here the discriminator is looked at first; what is not known is
// kept and shown plainly.
//
// Delivery: the protocol has no acknowledgement of a prompt. A message counts
// as accepted with the first update, request or reply that can only come from
// a turn; until then its delivery is not proven.
//
// Safety: the protocol's file methods are served inside the conversation's
// folder only, without following links out of it; its terminal methods run
// supervised processes. What the agent did not ask the user about, we do,
// according to the permission mode. An agent also works with its own hands,
// which no client sees: of those it only asks by itself.
package acp

import (
	"context"
	"sync"
	"time"

	"berth/backend/provider"
	"berth/backend/provider/watch"
)

// Driver drives the agent of one Entry. It may be used from any goroutine.
type Driver struct {
	entry Entry

	mu      sync.Mutex
	learned map[string]learned // by executable
}

// New makes the driver of an entry that was validated.
func New(entry Entry) *Driver {
	return &Driver{entry: entry, learned: map[string]learned{}}
}

// Name is the id of the entry.
func (d *Driver) Name() string { return d.entry.ID }

// learned is what an agent said of itself when it was last spoken to.
type learned struct {
	version      string
	models       []provider.Model
	modes        []provider.Permission
	capabilities provider.Capabilities
}

func (d *Driver) learn(executable string, l learned) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.learned[executable] = l
}

// Open starts the agent and begins or resumes a conversation.
func (d *Driver) Open(ctx context.Context, host provider.Host, spec provider.Spec) (provider.Session, error) {
	path, err := d.executable(host)
	if err != nil {
		return nil, d.missing(err)
	}
	s, err := start(ctx, host, spec, d.entry, path)
	if err != nil {
		return nil, err
	}
	if err := s.open(ctx); err != nil {
		s.abandon()
		return nil, err
	}
	d.learn(path, s.learned())
	return s, nil
}

// executable finds the agent: the user's setting, else the command.
func (d *Driver) executable(host provider.Host) (string, error) {
	if host.Executable != "" {
		return host.Executable, nil
	}
	return host.Processes.LookPath(d.entry.Command)
}

func (d *Driver) missing(err error) *provider.Error {
	return &provider.Error{
		Code: "missing", Text: d.entry.Title + " is not installed, or not where programs are looked for.",
		Detail: err.Error(), Action: "install", Err: err,
	}
}

// The bounds of a conversation's life.
const (
	// startTimeout is for the start, initialize and session/new together:
	// agents started through npx may load themselves first.
	startTimeout = 120 * time.Second
	// signalGrace is left to an agent between closing its input, SIGTERM and
	// SIGKILL.
	signalGrace = 2 * time.Second
	// drainGrace is how long events wait for a reader after the end.
	drainGrace = 2 * time.Second
	// cancelGrace is left to an agent to end a turn that a watchdog cancelled.
	cancelGrace = 10 * time.Second
	// replayQuiet ends the replay of a loaded conversation: some agents
	// (Gemini CLI) reply first and go on replaying; it takes them
	// milliseconds. replayLimit bounds the wait.
	replayQuiet = 250 * time.Millisecond
	replayLimit = 10 * time.Second
	// eventsBuffer is the capacity of the events channel.
	eventsBuffer = 64
	// maxGarbage is how many lines that are not of the protocol are borne in
	// a row: banners and stray prints, but not a stream of something else.
	maxGarbage = 200
	// maxRaw bounds a protocol line kept for the debug view, in bytes.
	maxRaw = 16 << 10
	// maxInput bounds a tool's kept input, in bytes.
	maxInput = 64 << 10
	// maxOutput bounds the text a tool's item carries, in bytes; what Berth
	// keeps whole in a file is up to the chat.
	maxOutput = 8 << 20
	// maxTools bounds the tool calls remembered of one turn.
	maxTools = 10_000
	// maxDiffText bounds each side of a diff, in bytes: beyond it no patch
	// is computed.
	maxDiffText = 2 << 20
)

// silenceLimits are how long an agent may say nothing. The protocol
// acknowledges nothing, so acceptance and first activity are one, and a local
// model may load itself first.
var silenceLimits = watch.Limits{First: 10 * time.Minute, Idle: 20 * time.Minute, Tool: 6 * time.Hour}
