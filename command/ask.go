package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"berth/backend/api/client"
	"berth/backend/chat"
	"berth/backend/instance"
	"berth/backend/provider"
)

func (sh *shell) askCommand() *cobra.Command {
	var a asking
	c := &cobra.Command{
		Use: "ask PROMPT", Short: "Ask an agent and watch the answer", Args: cobra.MinimumNArgs(1),
		Long: "Ask an agent and watch the answer. It uses the running Berth of the state directory, or is one itself while the work lasts.\n" +
			"The answer goes to standard output, all else to standard error. PROMPT - reads standard input.\n" +
			"Exit codes: 0 completed, 1 failed or interrupted, 2 wrong command line, 3 stopped.",
		Example: "  berth ask --agent claude --cwd . \"What does this project do?\"\n" +
			"  git diff | berth ask --agent codex --permissions plan -\n" +
			"  berth ask --chat chat_01h… --approve all \"Go on\"",
	}
	a.message.flags(c)
	f := c.Flags()
	f.StringVar(&a.agent, "agent", "", "agent for a new chat (default the one used last)")
	f.StringVar(&a.cwd, "cwd", ".", "folder for a new chat")
	f.StringVar(&a.chat, "chat", "", "go on with this chat instead")
	f.StringVar(&a.approve, "approve", "", "all, none (denies) or prompt (default prompt on a terminal, else none)")
	_ = c.RegisterFlagCompletionFunc("approve", cobra.FixedCompletions([]string{"all", "none", "prompt"}, cobra.ShellCompDirectiveNoFileComp))
	c.MarkFlagsMutuallyExclusive("chat", "agent")
	c.MarkFlagsMutuallyExclusive("chat", "cwd")
	does(c, func(c *cobra.Command, args []string) error {
		return sh.ask(c.Context(), &a, args)
	})
	return c
}

// asking is one use of ask.
type asking struct {
	message
	agent, cwd, chat, approve string

	sh   *shell
	b    *client.Client
	turn string
	show transcript
	// asks are the requests that wait for the user at the terminal.
	asks   chan asked
	failed error // why the turn had to be stopped by us
}

// patience for one call of the command itself, not for the agent.
const callPatience = 30 * time.Second

func (sh *shell) ask(ctx context.Context, a *asking, args []string) (err error) {
	if err := a.prepare(sh); err != nil {
		return err
	}
	text, err := sh.prompt(args)
	if err != nil {
		return err
	}
	state, err := sh.stateDir()
	if err != nil {
		return err
	}
	a.b = client.New(state)
	defer a.b.Close()
	// Ctrl-C is ours from here: the turn is on its way.
	interrupts := make(chan os.Signal, 4)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(interrupts)

	if _, err := a.b.Health(ctx); errors.Is(err, instance.ErrNone) {
		h, err := sh.host(ctx, hosting{state: state, kind: "ask", level: slog.LevelWarn})
		if err != nil {
			return err
		}
		defer func() {
			a.b.Close() // our own connection needs it no longer
			err = errors.Join(err, h.linger(ctx))
		}()
	} else if err != nil {
		return err
	}
	if err := a.begin(ctx, text); err != nil {
		return err
	}
	turn, err := a.follow(ctx, interrupts)
	if err != nil {
		return err
	}
	return a.end(turn)
}

func (a *asking) prepare(sh *shell) error {
	a.sh = sh
	if err := a.check(); err != nil {
		return err
	}
	switch a.approve {
	case "all", "none", "prompt":
	case "":
		a.approve = "none"
		if isTerminal(sh.in) && isTerminal(sh.err) {
			a.approve = "prompt"
		}
	default:
		return usage("--approve is all, none or prompt, not %q", a.approve)
	}
	a.asks = make(chan asked, maxAsked)
	a.show = transcript{out: sh.out, err: sh.err, safe: isTerminal(sh.out), items: map[string]*shown{}}
	return nil
}

// begin makes the chat, if need be, and sends the message; nothing of the
// answer is missed.
func (a *asking) begin(ctx context.Context, text string) error {
	ctx, cancel := context.WithTimeout(ctx, callPatience)
	defer cancel()
	if a.chat == "" {
		n, err := a.newChat(ctx)
		if err != nil {
			return err
		}
		c, err := a.b.CreateChat(ctx, n)
		if err != nil {
			return err
		}
		a.chat = c.ID
	}
	n, err := a.message.turn(ctx, a.b, text)
	if err != nil {
		return err
	}
	a.show.stream = a.b.Follow(n.ClientID, "", a.chat)
	if _, err := a.show.stream.Next(ctx); err != nil {
		return err
	}
	accepted, err := a.b.Send(ctx, a.chat, n)
	if err != nil {
		return err
	}
	a.turn, a.show.turn = accepted.Turn, accepted.Turn
	if !a.sh.json && accepted.Position > 0 {
		fmt.Fprintf(a.sh.err, "queued, number %d\n", accepted.Position)
	}
	return nil
}

func (a *asking) newChat(ctx context.Context) (chat.NewChat, error) {
	cwd, err := filepath.Abs(a.cwd)
	if err != nil {
		return chat.NewChat{}, fmt.Errorf("find the folder: %w", err)
	}
	n := chat.NewChat{Agent: a.agent, Cwd: cwd, Model: a.model, Effort: a.effort, Permissions: provider.Permission(a.permissions)}
	if n.Agent == "" {
		n.Agent, err = a.lastAgent(ctx)
	}
	return n, err
}

// lastAgent is the agent used last.
func (a *asking) lastAgent(ctx context.Context) (string, error) {
	set, err := a.b.Settings(ctx)
	if err != nil {
		return "", err
	}
	if set.DefaultAgent != "" {
		return set.DefaultAgent, nil
	}
	chats, err := a.b.Chats(ctx, false)
	if err != nil {
		return "", err
	}
	if len(chats) > 0 {
		return slices.MaxFunc(chats, func(x, y chat.Chat) int { return x.UpdatedAt.Compare(y.UpdatedAt) }).Agent, nil
	}
	agents, err := a.b.Agents(ctx, false)
	if err != nil {
		return "", err
	}
	names := make([]string, len(agents))
	for i, d := range agents {
		names[i] = d.Name
	}
	return "", usage("no agent was used yet; name one with --agent: %s", strings.Join(names, ", "))
}

// end gives the exit code that the turn's state calls for.
func (a *asking) end(t chat.Turn) error {
	if a.sh.json {
		if err := a.sh.print(turnEnded{Type: "turn_ended", State: t.State, Chat: a.chat, Turn: t.ID, Reason: t.Reason, Error: t.Error}); err != nil {
			return err
		}
	} else {
		a.show.finish()
	}
	why := a.failed
	if why == nil && t.Error != nil {
		why = errors.New(strings.TrimSpace(plain(t.Error.Text) + " " + plain(t.Error.Detail)))
	}
	switch {
	case t.State == chat.TurnCompleted:
		return nil
	case t.State == chat.TurnStopped && a.failed == nil:
		return &ended{exitStopped, errors.New("stopped")}
	case why == nil:
		why = fmt.Errorf("the turn ended as %s %s", t.State, t.Reason)
	}
	return &ended{exitFailed, why}
}

// turnEnded is the last line that ask prints with --json.
type turnEnded struct {
	Type   string          `json:"type"`
	State  chat.TurnState  `json:"state"`
	Chat   string          `json:"chat"`
	Turn   string          `json:"turn"`
	Reason string          `json:"reason,omitempty"`
	Error  *chat.TurnError `json:"error,omitempty"`
}

func isTerminal(f any) bool {
	file, ok := f.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && file.Name() != os.DevNull
}

func newTerminal(in io.Reader, out io.Writer) *terminal {
	return &terminal{in: bufio.NewReader(in), out: out}
}
