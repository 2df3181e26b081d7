package codex

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"berth/backend/process"
	"berth/backend/provider"
	"berth/backend/provider/probe"
)

const (
	// minVersion is the oldest Codex whose protocol was tried with this
	// driver.
	minVersion = "0.171.0"
	// describeLimit bounds the look at Codex.
	describeLimit = 6 * time.Second
	// catalogLimit bounds the model catalogue, which may ask the network;
	// the one that comes with the program needs none.
	catalogLimit = 4 * time.Second
	// maxModels bounds the models listed.
	maxModels = 200
)

// Describe asks the program for its version, its login state and its models,
// at the same time, and reads its configuration file.
func (d *Driver) Describe(ctx context.Context, host provider.Host) provider.Description {
	desc := provider.Description{
		Name: Name, Title: "Codex", Mark: "Cx", Status: provider.Ready,
		Install: []string{"npm", "install", "-g", "@openai/codex"},
		Models:  []provider.Model{{Label: "Default"}}, Modes: modes(),
		Capabilities: provider.Capabilities{
			Approvals: true, Questions: true, Steer: true, Resume: true, Images: true, Files: true, Thinking: true,
			Plans: true, Subagents: true, Commands: true, Instructions: true, Usage: true, Interrupt: true,
			ModelPerTurn: true, EffortPerTurn: true,
		},
		CheckedAt: host.Clock.Now(),
	}
	path, err := executable(host)
	if err != nil {
		var missing *provider.Error
		errors.As(err, &missing)
		desc.Status, desc.Message, desc.Detail = provider.Missing, missing.Text, missing.Detail
		return desc
	}
	desc.Executable, desc.Login, desc.Update = path, []string{path, "login"}, []string{path, "update"}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := host.Clock.AfterFunc(describeLimit, cancel)
	defer stop()
	judge(&desc, probing{host, path}.look(ctx))
	return desc
}

// probing asks one installation.
type probing struct {
	host provider.Host
	path string
}

// findings are what a probe learned.
type findings struct {
	version answer
	login   answer
	models  []catalogModel
	config  config
}

// answer is what became of a command.
type answer struct {
	probe.Result
	err  error
	late bool // err is that time ran out, which is no evidence
}

func (p probing) look(ctx context.Context) findings {
	var f findings
	var full, bundled answer
	var wg sync.WaitGroup
	wg.Go(func() { f.version = p.run(ctx, "--version") })
	wg.Go(func() { f.login = p.run(ctx, "login", "status") })
	wg.Go(func() {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		stop := p.host.Clock.AfterFunc(catalogLimit, cancel)
		defer stop()
		full = p.run(ctx, "debug", "models")
	})
	wg.Go(func() { bundled = p.run(ctx, "debug", "models", "--bundled") })
	wg.Go(func() { f.config = readConfig(p.host) })
	wg.Wait()
	f.models = models(full)
	if len(f.models) == 0 {
		f.models = models(bundled)
	}
	return f
}

// run runs a command of Codex.
func (p probing) run(ctx context.Context, args ...string) answer {
	r, err := probe.Run(ctx, p.host.Processes, process.Spec{
		Path: p.path, Args: args, Dir: workingDir(), Env: p.host.Env, Label: Name + " " + strings.Join(args, " "),
	})
	return answer{r, err, ctx.Err() != nil}
}
