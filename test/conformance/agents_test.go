package conformance

import (
	"testing"
	"time"

	"berth/backend/provider"
	"berth/backend/provider/acp"
	"berth/backend/provider/claude"
	"berth/backend/provider/codex"
	"berth/backend/provider/opencode"
	"berth/test/modelserver"
)

// agent is one real agent under test and what its driver must declare.
type agent struct {
	name     string // of the driver
	command  string // of the agent, in package clis
	driver   func() provider.Driver
	settings func(*modelserver.Server, string) ([]string, error)
	// shared says that one process serves all chats.
	shared bool
	// mute says that the agent does not report what commands print.
	mute bool
	// settle waits until a conversation that was just left can be resumed.
	settle func(t *testing.T)
	can    provider.Capabilities
	modes  []provider.Permission
	// modeFor names the mode of cases that the agent holds only in another one
	// than the usual, and why is told beside it.
	modeFor map[string]provider.Permission
	// except names cases that do not hold for this agent, and why. It is for
	// what the agent itself does wrong, never for what Berth does.
	except map[string]string
}

// agents are those that conformance covers.
var agents = []agent{
	{
		name: "claude", command: "claude",
		driver:   func() provider.Driver { return claude.New() },
		settings: (*modelserver.Server).Claude,
		can: provider.Capabilities{
			Approvals: true, Questions: true, Steer: true, Fork: true, Resume: true, Images: true, Files: true, Thinking: true,
			Plans: true, Subagents: true, Commands: true, Instructions: true, Usage: true, Cost: true, Interrupt: true,
			ModelPerTurn: true, EffortPerTurn: true,
		},
		modes: []provider.Permission{provider.Ask, provider.AcceptEdits, provider.PlanOnly, provider.Full},
	},
	{
		name: "codex", command: "codex",
		driver:   func() provider.Driver { return codex.New() },
		settings: (*modelserver.Server).Codex,
		shared:   true,
		can: provider.Capabilities{
			Approvals: true, Questions: true, Steer: true, Resume: true, Images: true, Files: true, Thinking: true, Plans: true,
			Subagents: true, Commands: true, Instructions: true, Usage: true, Interrupt: true, ModelPerTurn: true, EffortPerTurn: true,
		},
		// Codex asks questions in its plan mode.
		modeFor: map[string]provider.Permission{"question": provider.PlanOnly},
		modes:   []provider.Permission{provider.Ask, provider.AcceptEdits, provider.PlanOnly, provider.Full},
	},
	{
		name: "opencode", command: "opencode",
		driver:   func() provider.Driver { return opencode.New() },
		settings: (*modelserver.Server).OpenCode,
		shared:   true,
		can: provider.Capabilities{
			Approvals: true, Questions: true, Steer: true, Fork: true, Resume: true, Images: true, Files: true, Thinking: true,
			Plans: true, Subagents: true, Commands: true, Instructions: true, Usage: true, Cost: true, Interrupt: true,
			ModelPerTurn: true, EffortPerTurn: true,
		},
		modes: []provider.Permission{provider.Ask, provider.AcceptEdits, provider.PlanOnly, provider.Full},
	},
	{
		name: "gemini", command: "gemini",
		driver:   func() provider.Driver { return acpDriver("gemini") },
		settings: (*modelserver.Server).Gemini,
		can: provider.Capabilities{
			Approvals: true, Resume: true, Images: true, Files: true, Thinking: true,
			Commands: true, Instructions: true, Usage: true, Interrupt: true, ModelPerTurn: true,
		},
		mute:   true,
		settle: nextMinute,
		modes:  []provider.Permission{provider.Ask, provider.AcceptEdits, provider.PlanOnly, provider.Full},
	},
}

// acpDriver is the driver of a built-in entry of package acp.
func acpDriver(id string) provider.Driver {
	for _, e := range acp.Builtin() {
		if e.ID == id {
			return acp.New(e)
		}
	}
	panic("no built-in agent is called " + id)
}

// nextMinute waits until the clock shows another minute: Gemini CLI 0.61.0
// names a conversation's file by the minute and loses the conversation when
// it is loaded in the one in which it was begun.
func nextMinute(t *testing.T) {
	next := time.Now().Truncate(time.Minute).Add(time.Minute)
	select {
	case <-time.After(time.Until(next)):
	case <-t.Context().Done():
	}
}
