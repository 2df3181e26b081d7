package command

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"berth/backend/api/client"
	"berth/backend/chat"
	"berth/backend/provider"
)

// maxPrompt bounds a prompt read from standard input, in bytes; the API takes
// as many characters.
const maxPrompt = 4 << 20

// message is what the flags of ask and send say about a message.
type message struct {
	model, effort, permissions string
	attach                     []string
}

func (m *message) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&m.model, "model", "", "model of the agent (default its own)")
	f.StringVar(&m.effort, "effort", "", "reasoning effort, where the agent has a choice")
	f.StringVar(&m.permissions, "permissions", "", "ask, accept-edits, plan or full")
	f.StringArrayVar(&m.attach, "attach", nil, "file to attach; may be given again")
	_ = c.RegisterFlagCompletionFunc("permissions", cobra.FixedCompletions([]string{"ask", "accept-edits", "plan", "full"}, cobra.ShellCompDirectiveNoFileComp))
}

func (m *message) check() error {
	switch provider.Permission(m.permissions) {
	case "", provider.Ask, provider.AcceptEdits, provider.PlanOnly, provider.Full:
		return nil
	}
	return usage("--permissions is ask, accept-edits, plan or full, not %q", m.permissions)
}

// turn uploads the attachments and makes the turn to send.
func (m *message) turn(ctx context.Context, b *client.Client, text string) (chat.NewTurn, error) {
	n := chat.NewTurn{Text: text, Model: m.model, Effort: m.effort,
		Permissions: provider.Permission(m.permissions), ClientID: "cli-" + rand.Text()}
	for _, path := range m.attach {
		id, err := upload(ctx, b, path)
		if err != nil {
			return n, fmt.Errorf("attach %s: %w", path, err)
		}
		n.Attachments = append(n.Attachments, id)
	}
	return n, nil
}

func upload(ctx context.Context, b *client.Client, path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("it is not a file")
	}
	u, err := b.Upload(ctx, filepath.Base(path), "", info.Size(), f)
	return u.ID, err
}

// prompt joins the words of the command line, or reads standard input for
// "-".
func (sh *shell) prompt(args []string) (string, error) {
	text := strings.Join(args, " ")
	if text == "-" {
		data, err := io.ReadAll(io.LimitReader(sh.in, maxPrompt+1))
		if err != nil {
			return "", fmt.Errorf("read the prompt: %w", err)
		}
		if len(data) > maxPrompt {
			return "", usage("the prompt is longer than %d bytes", maxPrompt)
		}
		text = string(data)
	}
	if !utf8.ValidString(text) {
		return "", usage("the prompt is not UTF-8")
	}
	if strings.TrimSpace(text) == "" {
		return "", usage("the prompt is empty")
	}
	return text, nil
}

func (sh *shell) sendCommand() *cobra.Command {
	var m message
	c := &cobra.Command{
		Use: "send CHAT PROMPT", Short: "Send a message to a chat and return at once", Args: cobra.MinimumNArgs(2),
		Long:    "Send a message to a chat. It returns as soon as the message is kept; it runs now, or when what stands before it is done. PROMPT - reads standard input.",
		Example: "  berth send chat_01h… \"Now write the tests\"\n  git diff | berth send chat_01h… -",
	}
	m.flags(c)
	does(c, func(c *cobra.Command, args []string) error {
		if err := m.check(); err != nil {
			return err
		}
		text, err := sh.prompt(args[1:])
		if err != nil {
			return err
		}
		return sh.connected(func(b *client.Client) error {
			n, err := m.turn(c.Context(), b, text)
			if err != nil {
				return err
			}
			accepted, err := b.Send(c.Context(), args[0], n)
			if err != nil {
				return err
			}
			if sh.json {
				return sh.print(accepted)
			}
			fmt.Fprintf(sh.out, "%s %s", accepted.Turn, accepted.State)
			if accepted.Position > 0 {
				fmt.Fprintf(sh.out, " (number %d in the queue)", accepted.Position)
			}
			fmt.Fprintln(sh.out)
			return nil
		})
	})
	return c
}
