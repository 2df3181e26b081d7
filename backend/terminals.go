package backend

import (
	"context"

	"berth/backend/api"
	"berth/backend/terminal"
)

// terminalDoor shows terminals as the API has them.
type terminalDoor struct{ *terminal.Terminals }

func (d terminalDoor) List() []api.Terminal {
	var list []api.Terminal
	for _, s := range d.Terminals.List() {
		list = append(list, shownTerminal(s))
	}
	return list
}

func (d terminalDoor) Open(ctx context.Context, n api.NewTerminal) (api.Terminal, error) {
	s, err := d.Terminals.Open(ctx, terminal.New{Command: n.Command, Cwd: n.Cwd, Title: n.Title, Columns: n.Columns, Rows: n.Rows})
	if err != nil {
		return api.Terminal{}, err
	}
	return shownTerminal(s), nil
}

func (d terminalDoor) Output(ctx context.Context, id string, after int64) (api.TerminalOutput, error) {
	out, err := d.Terminals.Output(ctx, id, after)
	return api.TerminalOutput(out), err
}

func shownTerminal(s terminal.Session) api.Terminal {
	shown := api.Terminal{ID: s.ID, Title: s.Title, Command: s.Command, Cwd: s.Cwd, Columns: s.Columns, Rows: s.Rows,
		State: "running", StartedAt: s.StartedAt}
	if s.Exit != nil {
		shown.State = "ended"
		if s.Exit.Signal == "" && s.Exit.Err == nil {
			shown.ExitCode = &s.Exit.Code
		}
	}
	return shown
}
