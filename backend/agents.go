package backend

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"berth/backend/chat"
	"berth/backend/event"
	"berth/backend/process"
	"berth/backend/provider"
	"berth/backend/provider/acp"
	"berth/backend/provider/claude"
	"berth/backend/provider/codex"
	"berth/backend/provider/cursor"
	"berth/backend/provider/demo"
	"berth/backend/provider/opencode"
	"berth/backend/settings"
	"berth/backend/store"
)

// addAgents fills the catalogue: the drivers that Berth has, the agents it
// knows to speak ACP, and those of the user's agents file.
func (b *Backend) addAgents(log *event.Log, prefs *settings.Store) error {
	scratch := filepath.Join(b.options.State, "agents")
	if err := os.MkdirAll(scratch, 0o700); err != nil {
		return fmt.Errorf("make a folder for the agents' private files: %w", err)
	}
	host := provider.Host{Processes: b.processes, Self: b.options.Self, Scratch: scratch, Version: b.options.Version, Clock: clock{}}
	chosen := func(agent string) (string, []string) {
		s := prefs.Get().Agents[agent]
		return s.Executable, s.Env
	}
	changed := func() {
		err := b.db.Write(b.ctx, func(tx *store.Tx) error { return log.Append(tx, event.Event{Type: event.TypeAgents}) })
		if err != nil && b.ctx.Err() == nil {
			b.log.Error("tell that agents changed", "err", err)
		}
	}
	b.agents = provider.NewCatalog(host, chosen, changed)
	for _, d := range []provider.Driver{claude.New(), codex.New(), cursor.New(), opencode.New()} {
		b.add(d)
	}
	file, err := acp.LoadAgentsFile(filepath.Join(b.options.State, "agents.json"))
	if err != nil {
		// One wrong entry must not keep the others, or Berth, from starting.
		b.log.Error("entries of the agents file are not used", "err", err)
	}
	for _, e := range file.Registry() {
		b.add(acp.New(e))
	}
	b.add(demo.New())
	return nil
}

func (b *Backend) add(d provider.Driver) {
	b.agents.Add(d)
	if c, ok := d.(closer); ok {
		b.drivers = append(b.drivers, c)
	}
}

// clock is real time.
type clock struct{}

func (clock) Now() time.Time { return time.Now() }
func (clock) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	return time.AfterFunc(d, f).Stop
}

// demoStart sets up what a new user tries first.
type demoStart struct {
	chats     *chat.Service
	processes *process.Supervisor
	dir       string
}

func (d demoStart) Start(ctx context.Context) (chat.Chat, error) {
	if err := demo.SampleFolder(ctx, d.processes, d.dir); err != nil {
		return chat.Chat{}, err
	}
	return d.chats.Create(ctx, chat.NewChat{Agent: demo.Name, Cwd: d.dir})
}
