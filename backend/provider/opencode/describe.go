package opencode

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"berth/backend/process"
	"berth/backend/provider"
	"berth/backend/provider/probe"
)

// Describe looks for OpenCode and asks its version. Models are those of the
// last conversation: a server is not started for them. OpenCode works without
// an account (it has free models), so it is never signed out.
func (d *Driver) Describe(ctx context.Context, host provider.Host) provider.Description {
	desc := provider.Description{
		Name: Name, Title: title, Mark: "Oc", Status: provider.Ready,
		Install: []string{"npm install -g opencode-ai"},
		Login:   []string{"opencode auth login"},
		Update:  []string{"opencode upgrade"},
		Models:  []provider.Model{{Label: "Default"}},
		Modes:   []provider.Permission{provider.Ask, provider.AcceptEdits, provider.PlanOnly, provider.Full},
		Capabilities: provider.Capabilities{
			Approvals: true, Questions: true, Steer: true, Fork: true, Resume: true, Images: true, Files: true,
			Thinking: true, Plans: true, Subagents: true, Commands: true, Instructions: true, Usage: true, Cost: true,
			Interrupt: true, ModelPerTurn: true, EffortPerTurn: true,
		},
		CheckedAt: host.Clock.Now(),
	}
	path, err := executable(host)
	if err != nil {
		gone := missing(err)
		desc.Status, desc.Message, desc.Detail = provider.Missing, gone.Text, gone.Detail
		return desc
	}
	desc.Executable = path
	result, err := probe.Run(ctx, host.Processes, process.Spec{Path: path, Args: []string{"--version"}, Dir: os.TempDir(), Env: host.Env, Label: "opencode --version"})
	if err != nil || result.Code != 0 {
		desc.Status, desc.Message, desc.Detail = provider.Broken, title+" does not start.", firstBytes(result.LastLine(), maxDetail)
		if err != nil {
			desc.Detail = firstBytes(err.Error(), maxDetail)
		}
		if ctx.Err() != nil {
			desc.Status, desc.Message = provider.Unknown, title+" did not answer in time."
		}
		return desc
	}
	desc.Version = probe.Version(result.Stdout)
	if desc.Version != "" && probe.Older(desc.Version, oldest) {
		desc.Status, desc.Message = provider.TooOld, title+" "+desc.Version+" is older than "+oldest+", the oldest that Berth talks to."
		return desc
	}
	desc.Account = account(host)
	desc.Models = append(desc.Models, loadModels(filepath.Join(host.Scratch, Name))...)
	return desc
}

// oldest is the first version whose server has what this driver uses: rules
// per session, replies with a message, questions.
const oldest = "1.18.0"

// account names the providers that a key or login is kept for.
func account(host provider.Host) string {
	home := lookup(host, "HOME")
	if home == "" {
		home, _ = os.UserHomeDir()
	}
	data := firstNonEmpty(lookup(host, "XDG_DATA_HOME"), filepath.Join(home, ".local", "share"))
	file, err := os.Open(filepath.Join(data, "opencode", "auth.json"))
	if err != nil {
		return ""
	}
	defer file.Close()
	var logins map[string]json.RawMessage
	if json.NewDecoder(io.LimitReader(file, maxInput)).Decode(&logins) != nil {
		return ""
	}
	return firstBytes(strings.Join(slices.Sorted(maps.Keys(logins)), ", "), maxDetail)
}
