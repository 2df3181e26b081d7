package command

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"berth/backend/api/client"
	"berth/backend/chat"
)

// pageSize is how many of a chat's newest items are shown.
const pageSize = 50

func (sh *shell) chatsCommand() *cobra.Command {
	var archived bool
	c := &cobra.Command{
		Use: "chats [CHAT]", Short: "List the chats, or show what was said in one", Args: cobra.MaximumNArgs(1),
		Example: "  berth chats\n  berth chats chat_01h…",
	}
	c.Flags().BoolVar(&archived, "archived", false, "list the archived chats instead")
	does(c, func(c *cobra.Command, args []string) error {
		return sh.connected(func(b *client.Client) error {
			if len(args) == 1 {
				return sh.showChat(c.Context(), b, args[0])
			}
			chats, err := b.Chats(c.Context(), archived)
			if err != nil {
				return err
			}
			return sh.listChats(chats)
		})
	})
	return c
}

func (sh *shell) listChats(chats []chat.Chat) error {
	if sh.json {
		for _, c := range chats {
			if err := sh.print(c); err != nil {
				return err
			}
		}
		return nil
	}
	w := tabwriter.NewWriter(sh.out, 0, 0, 2, ' ', 0)
	for _, c := range chats {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", c.ID, c.Agent, stateWords(c), plain(c.Title), c.Cwd)
	}
	return w.Flush()
}

// stateWords says what a chat does and what it waits for.
func stateWords(c chat.Chat) string {
	words := strings.ReplaceAll(string(c.State), "_", " ")
	if n := len(c.Waiting); n > 0 {
		words += fmt.Sprintf(", %d waiting for you", n)
	}
	if c.Queued > 0 {
		words += fmt.Sprintf(", %d queued", c.Queued)
	}
	return words
}

func (sh *shell) showChat(ctx context.Context, b *client.Client, id string) error {
	page, err := b.Items(ctx, id, 0, 0, pageSize)
	if err != nil {
		return err
	}
	for _, it := range page.Items {
		if sh.json {
			if err := sh.print(it); err != nil {
				return err
			}
			continue
		}
		if line := itemLine(it); line != "" {
			fmt.Fprintln(sh.out, line)
		}
		if it.Body.Text != "" {
			fmt.Fprintln(sh.out, plainText(it.Body.Text))
		}
	}
	return nil
}

// connected does work with the running backend.
func (sh *shell) connected(work func(*client.Client) error) error {
	state, err := sh.stateDir()
	if err != nil {
		return err
	}
	b := client.New(state)
	defer b.Close()
	return work(b)
}
