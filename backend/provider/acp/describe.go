package acp

import (
	"context"
	"os"
	"strings"

	"berth/backend/process"
	"berth/backend/provider"
	"berth/backend/provider/probe"
)

// Describe looks for the agent, asks its version and reads what it keeps
// about the account. It does not open a conversation: what only that tells
// (models, modes, some capabilities) is known once there was one.
func (d *Driver) Describe(ctx context.Context, host provider.Host) provider.Description {
	e := d.entry
	desc := provider.Description{
		Name: e.ID, Title: e.Title, Mark: e.mark(), Install: e.Install, Login: e.Login, Update: e.Update, Demo: e.Demo,
		Status: provider.Ready, Models: []provider.Model{{Label: "Default"}},
		Modes: []provider.Permission{provider.Ask, provider.AcceptEdits}, Capabilities: always,
		CheckedAt: host.Clock.Now(),
	}
	if e.Modes[provider.PlanOnly] != "" {
		desc.Modes = append(desc.Modes, provider.PlanOnly)
	}
	desc.Modes = append(desc.Modes, provider.Full)
	if e.correct != nil {
		e.correct(&desc.Capabilities)
	}
	path, err := d.executable(host)
	if err == nil && host.Executable != "" {
		_, err = os.Stat(path)
	}
	if err != nil {
		missing := d.missing(err)
		desc.Status, desc.Message, desc.Detail = provider.Missing, missing.Text, missing.Detail
		return desc
	}
	desc.Executable = path
	d.mu.Lock()
	known, spoken := d.learned[path]
	d.mu.Unlock()
	if spoken {
		desc.Version, desc.Modes, desc.Capabilities = known.version, known.modes, known.capabilities
		desc.Models = append(desc.Models, known.models...)
	}
	if desc.Version == "" {
		// One that answers without a number, or not as asked, has no known
		// version; one that cannot run at all is broken.
		result, err := probe.Run(ctx, host.Processes, process.Spec{Path: path, Args: []string{"--version"}, Dir: os.TempDir(), Env: host.Env, Label: e.ID + " --version"})
		desc.Version = probe.Version(result.Stdout)
		if err != nil {
			desc.Status, desc.Message, desc.Detail = provider.Broken, e.Title+" does not start.", firstBytes(err.Error(), maxDetail)
			if ctx.Err() != nil {
				desc.Status, desc.Message = provider.Unknown, e.Title+" did not answer in time."
			}
			return desc
		}
	}
	if e.account != nil {
		desc.Account, desc.Status = e.account(func(name string) string { return lookup(name, e, host) })
		if desc.Status == provider.Unauthenticated {
			desc.Message = e.Title + " is not signed in."
		}
	}
	return desc
}

// env gives a variable as the agent would see it.
func (s *session) env(name string) string { return lookup(name, s.entry, s.host) }

func lookup(name string, e Entry, host provider.Host) string {
	for i := len(host.Env) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(host.Env[i], name+"="); ok {
			return value
		}
	}
	if value, ok := e.Env[name]; ok {
		return value
	}
	return os.Getenv(name)
}
