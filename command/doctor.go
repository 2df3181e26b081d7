package command

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"berth/backend"
	"berth/backend/api/client"
	"berth/backend/instance"
	"berth/backend/provider"
)

// doctorPatience bounds all checks together; looking at an agent starts it.
const doctorPatience = 60 * time.Second

// finding is what one check found out.
type finding struct {
	Name   string `json:"name"`
	Level  level  `json:"level"`
	Text   string `json:"text"`
	Advice string `json:"advice,omitempty"` // what to do
}

type level string

// The levels of a finding: with failed Berth cannot work, with note
// something is absent that the user may want.
const (
	fine   level = "ok"
	note   level = "note"
	failed level = "failed"
)

func (sh *shell) doctorCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "doctor", Short: "Look whether everything is in place, and say what to do", Args: cobra.NoArgs,
		Long:    "Look whether everything is in place: the state directory and its database, the agents, git, the display, notifications, the sandbox. One line each, with what to do. It exits with 1 if Berth cannot work.",
		Example: "  berth doctor\n  berth doctor --json",
	}
	does(c, func(c *cobra.Command, _ []string) error {
		state, err := sh.stateDir()
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(c.Context(), doctorPatience)
		defer cancel()
		broken := false
		tell := func(f finding) error {
			broken = broken || f.Level == failed
			return sh.tell(f)
		}
		for _, f := range []finding{berthFinding(sh.window != nil), stateFinding(state)} {
			if err := tell(f); err != nil {
				return err
			}
		}
		found := append(sh.backendFindings(ctx, state), gitFinding(ctx), displayFinding(sh.window != nil), notificationFinding(), sandboxFinding())
		for _, f := range found {
			if err := tell(f); err != nil {
				return err
			}
		}
		if broken {
			return &ended{exitFailed, nil}
		}
		return nil
	})
	return c
}

func (sh *shell) tell(f finding) error {
	if sh.json {
		return sh.print(f)
	}
	line := fmt.Sprintf("%-7s %-14s %s", f.Level, f.Name, plain(f.Text))
	if f.Advice != "" {
		line += ". " + f.Advice
	}
	_, err := fmt.Fprintln(sh.out, line)
	return err
}

// backendFindings asks the running backend, or one that is started for it.
func (sh *shell) backendFindings(ctx context.Context, state string) []finding {
	b := client.New(state)
	defer b.Close()
	running := finding{Name: "backend", Level: fine, Text: "not running"}
	_, err := b.Health(ctx)
	switch {
	case errors.Is(err, instance.ErrNone):
		h, err := sh.host(ctx, hosting{state: state, kind: "ask", level: slog.LevelError + 1})
		var held *backend.HeldError
		if errors.As(err, &held) {
			return []finding{{"backend", failed, held.Error() + ", but it does not answer", "End that process"}}
		}
		if err != nil {
			text, advice, _ := strings.Cut(err.Error(), "\n")
			return []finding{{"database", failed, text, advice}}
		}
		defer func() {
			if err := h.close(); err != nil {
				h.log.Error("close after the checks", "error", err)
			}
		}()
	case err != nil:
		return []finding{{"backend", failed, "it does not answer: " + explain(err).Error(), "Restart Berth"}}
	default:
		if r, err := instance.Read(state); err == nil {
			running.Text = fmt.Sprintf("%s, process %d, version %s, since %s", r.Kind, r.Pid, r.Version, r.StartedAt.Local().Format(time.DateTime))
		}
	}
	return append([]finding{running, databaseFinding(ctx, b)}, agentFindings(ctx, b)...)
}

func databaseFinding(ctx context.Context, b *client.Client) finding {
	h, err := b.Health(ctx)
	switch {
	case err != nil:
		return finding{"database", failed, explain(err).Error(), ""}
	case h.Admission.State != "open":
		return finding{"database", failed, "closed: " + h.Admission.Reason, h.Admission.Detail}
	}
	return finding{"database", fine, "readable, " + h.State, ""}
}

func agentFindings(ctx context.Context, b *client.Client) []finding {
	agents, err := b.Agents(ctx, true)
	if err != nil {
		return []finding{{"agents", failed, explain(err).Error(), ""}}
	}
	found := make([]finding, len(agents))
	for i, d := range agents {
		found[i] = agentFinding(d)
	}
	return found
}

func agentFinding(d provider.Description) finding {
	f := finding{Name: d.Name, Level: note}
	parts := []string{d.Title}
	if d.Version != "" {
		parts = append(parts, d.Version)
	}
	parts = append(parts, strings.ReplaceAll(string(d.Status), "_", " "))
	if d.Account != "" {
		parts = append(parts, d.Account)
	}
	if d.Executable != "" {
		parts = append(parts, d.Executable)
	}
	if d.Message != "" {
		parts = append(parts, strings.TrimSuffix(d.Message, "."))
	}
	f.Text = strings.Join(parts, ", ")
	switch d.Status {
	case provider.Ready:
		f.Level = fine
	case provider.Missing:
		f.Advice = runThis(d.Install)
	case provider.Unauthenticated:
		f.Advice = runThis(d.Login)
	case provider.TooOld:
		f.Advice = runThis(d.Update)
	}
	return f
}

func runThis(command []string) string {
	if len(command) == 0 {
		return ""
	}
	words := slices.Clone(command)
	for i, word := range words {
		if strings.ContainsAny(word, " |") {
			words[i] = "'" + word + "'"
		}
	}
	return "Run: " + strings.Join(words, " ")
}
