// Package demo is an agent that needs no account and no network: it lets a
// new user see all of Berth in a minute, and drives screenshots and tests.
//
// The agent is a program of its own, `berth demo-agent`, which speaks the
// Agent Client Protocol and is started through the ordinary driver and
// supervisor: its pid, its crash and its permission requests are real. What
// it says is fixed: the same input gives the same items. It works on real
// files, inside the chat's folder only, through the protocol's methods.
package demo

import (
	"context"
	"path/filepath"

	"berth/backend/provider"
	"berth/backend/provider/acp"
)

// Driver drives the demo agent inside Berth's own executable.
type Driver struct{ acp *acp.Driver }

// New makes the driver.
func New() *Driver {
	return &Driver{acp: acp.New(acp.Entry{
		ID: Name, Title: "Demo agent", Mark: "De", Command: "berth", Args: []string{"demo-agent"}, Demo: true,
	})}
}

// Name is the demo agent's id.
const Name = "demo"

// Name is the demo agent's id.
func (d *Driver) Name() string { return Name }

// Describe knows everything beforehand: the agent is this program.
func (d *Driver) Describe(_ context.Context, host provider.Host) provider.Description {
	desc := provider.Description{
		Name: Name, Title: "Demo agent", Mark: "De", Demo: true, Status: provider.Ready,
		Version: host.Version, Executable: host.Self,
		Message: "A demonstration: it answers with fixed text and needs no account.",
		Models:  []provider.Model{{Label: "Default"}},
		Modes:   []provider.Permission{provider.Ask, provider.AcceptEdits, provider.PlanOnly, provider.Full},
		Capabilities: provider.Capabilities{
			Approvals: true, Questions: true, Resume: true, Images: true, Files: true, Thinking: true, Plans: true,
			Commands: true, Instructions: true, Usage: true, Interrupt: true, ModelPerTurn: true,
		},
		CheckedAt: host.Clock.Now(),
	}
	for _, m := range models {
		desc.Models = append(desc.Models, provider.Model{Value: m.value, Label: m.label, Note: m.note})
	}
	return desc
}

// Open starts the agent.
func (d *Driver) Open(ctx context.Context, host provider.Host, spec provider.Spec) (provider.Session, error) {
	host.Executable = host.Self
	host.Env = append(host.Env[:len(host.Env):len(host.Env)], stateVariable+"="+filepath.Join(host.Scratch, Name))
	return d.acp.Open(ctx, host, spec)
}

// stateVariable names the folder in which the agent keeps its conversations.
const stateVariable = "BERTH_DEMO_STATE"

// model is one of the two ways in which the agent plays its part.
type model struct{ value, label, note string }

var models = []model{
	{"demo-quick", "Demo quick", "Answers at once."},
	{"demo-thorough", "Demo thorough", "Thinks first, and speaks more slowly."},
}
