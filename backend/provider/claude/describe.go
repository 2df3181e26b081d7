package claude

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"sync"
	"time"

	"berth/backend/process"
	"berth/backend/provider"
	"berth/backend/provider/probe"
	"berth/backend/provider/wire"
)

const (
	// describeTimeout bounds the whole look at the CLI.
	describeTimeout = 6 * time.Second
	// minVersion is the oldest version that does all that the driver relies
	// on: 2.1.275 loses the chat's instructions and keeps an effort that was
	// taken back, and 2.1.250 does not start with our arguments.
	minVersion = "2.1.300"
)

// Describe implements provider.Driver. It starts the CLI up to three times:
// for its version, for its sign-in, and for the models that it offers to this
// account. None of them makes a request to the network.
func (d *Driver) Describe(ctx context.Context, host provider.Host) provider.Description {
	ctx, cancel := context.WithTimeout(ctx, describeTimeout)
	defer cancel()
	desc := provider.Description{
		Name: "claude", Title: "Claude Code", Mark: "Cl", Status: provider.Ready,
		Install: []string{"npm", "install", "--global", "@anthropic-ai/claude-code"},
		Models:  aliases, Modes: modes, Capabilities: capabilities, CheckedAt: host.Clock.Now().UTC(),
	}
	path, err := executable(host)
	if err != nil {
		var e *provider.Error
		errors.As(err, &e)
		desc.Status, desc.Message, desc.Detail = provider.Missing, e.Text, e.Detail
		return desc
	}
	desc.Executable, desc.Login, desc.Update = path, []string{path, "auth", "login"}, []string{path, "update"}
	if !describeVersion(ctx, host, path, &desc) {
		return desc
	}
	var models []provider.Model
	var both sync.WaitGroup
	both.Go(func() { describeLogin(ctx, host, path, &desc) })
	both.Go(func() { models = offeredModels(ctx, host, path) })
	both.Wait()
	if len(models) > 0 {
		desc.Models = models
	}
	return desc
}

// quiet keeps the CLI from the network while it is only looked at.
func quiet(host provider.Host) []string {
	return append(append([]string{}, host.Env...), "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1")
}

func look(ctx context.Context, host provider.Host, path string, args ...string) (probe.Result, error) {
	return probe.Run(ctx, host.Processes, process.Spec{Path: path, Args: args, Dir: os.TempDir(), Env: quiet(host), Label: "claude " + args[0]})
}

// describeVersion says whether the CLI can be used at all.
func describeVersion(ctx context.Context, host provider.Host, path string, desc *provider.Description) bool {
	r, err := look(ctx, host, path, "--version")
	switch {
	case err != nil && ctx.Err() != nil:
		desc.Status, desc.Message = provider.Unknown, "Claude Code did not answer in time."
		return false
	case err != nil:
		desc.Status, desc.Message, desc.Detail = provider.Broken, "Claude Code cannot be started.", cut(err.Error(), maxDetail)
		return false
	}
	desc.Version = probe.Version(r.Stdout)
	switch {
	case r.Code != 0 || desc.Version == "":
		desc.Status, desc.Message, desc.Detail = provider.Broken, "Claude Code does not work.", cut(r.LastLine(), maxDetail)
		return false
	case probe.Older(desc.Version, minVersion):
		desc.Status, desc.Message = provider.TooOld, "Claude Code "+desc.Version+" is older than "+minVersion+", the oldest that Berth was tried with."
		return false
	}
	return true
}

// authStatus is what `claude auth status --json` prints. Keys and other
// services in the environment count as signed in; the exit code is 1 where
// nobody is.
type authStatus struct {
	LoggedIn *bool  `json:"loggedIn"`
	Email    string `json:"email"`
	Org      string `json:"orgName"`
	Method   string `json:"authMethod"`
	Service  string `json:"apiProvider"`
}

func describeLogin(ctx context.Context, host provider.Host, path string, desc *provider.Description) {
	r, err := look(ctx, host, path, "auth", "status", "--json")
	if err != nil {
		if ctx.Err() != nil { // no evidence
			desc.Message = "Whether Claude Code is signed in is not known: it did not answer in time."
		}
		return
	}
	var s authStatus
	if readJSON(r.Stdout, &s) != nil || s.LoggedIn == nil {
		return // without this command the first turn tells
	}
	if !*s.LoggedIn {
		desc.Status, desc.Message = provider.Unauthenticated, "Claude Code is not signed in."
		return
	}
	desc.Account = cut(cmp.Or(s.Email, s.Org, accountWord(s)), maxWord)
}

// accountWord names an account that has no address.
func accountWord(s authStatus) string {
	switch s.Method {
	case "api_key":
		return "API key"
	case "oauth_token":
		return "token"
	case "third_party":
		return s.Service
	}
	return ""
}

// aliases are the models of a CLI that does not say which it offers.
var aliases = []provider.Model{
	{Value: "", Label: "Default"}, {Value: "opus", Label: "Opus"}, {Value: "sonnet", Label: "Sonnet"}, {Value: "haiku", Label: "Haiku"},
}

// offeredModel is a model in the reply to initialize.
type offeredModel struct {
	Value   string   `json:"value"`
	Name    string   `json:"displayName"`
	Note    string   `json:"description"`
	Efforts []string `json:"supportedEffortLevels"`
}

// offeredModels asks a process for its models. It gets no message, and none
// of the user's hooks, plugins and MCP servers (--safe-mode).
func offeredModels(ctx context.Context, host provider.Host, path string) []provider.Model {
	proc, err := host.Processes.Start(ctx, process.Spec{
		Path: path, Args: []string{"--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--safe-mode", "--no-session-persistence"},
		Dir: os.TempDir(), Env: quiet(host), Label: "claude models",
	})
	if err != nil {
		return nil
	}
	defer func() { _ = proc.Stop(context.WithoutCancel(ctx), time.Second) }()
	found := make(chan []provider.Model, 1)
	go func() {
		lines := wire.NewLines(proc.Stdout(), proc.Stdin(), probe.MaxOutput)
		_, _ = lines.Write(ctx, controlRequest("models", map[string]any{"subtype": "initialize", "hooks": nil}))
		for {
			raw, err := lines.Next()
			if err != nil {
				found <- nil
				return
			}
			var l struct {
				Response struct {
					ID       string `json:"request_id"`
					Response struct {
						Models []offeredModel `json:"models"`
					} `json:"response"`
				} `json:"response"`
			}
			if json.Unmarshal(raw, &l) == nil && l.Response.ID == "models" {
				found <- models(l.Response.Response.Models)
				return
			}
		}
	}()
	select {
	case m := <-found:
		return m
	case <-ctx.Done():
		return nil
	}
}

// maxModels bounds a list of models.
const maxModels = 100

// models makes our list of the CLI's: its own default comes first.
func models(offered []offeredModel) []provider.Model {
	var list []provider.Model
	for _, o := range offered[:min(len(offered), maxModels)] {
		m := provider.Model{Value: o.Value, Label: cmp.Or(o.Name, o.Value), Note: o.Note, Efforts: o.Efforts}
		if o.Value == "default" {
			m.Value = ""
			list = append([]provider.Model{m}, list...)
			continue
		}
		list = append(list, m)
	}
	if len(list) > 0 && list[0].Value != "" {
		list = append([]provider.Model{{Label: "Default"}}, list...)
	}
	return list
}
