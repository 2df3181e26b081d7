package command

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"berth/backend/api/client"
	"berth/backend/chat"
	"berth/backend/event"
)

func (sh *shell) watchCommand() *cobra.Command {
	var after string
	c := &cobra.Command{
		Use: "watch [CHAT...]", Short: "Print what happens, until Ctrl-C", Args: cobra.MaximumNArgs(16),
		Long:    "Print what happens in all chats, and the items of the chats named, until Ctrl-C. With --json, each event is a line, and each batch ends with a line that has the cursor to go on from (--after).",
		Example: "  berth watch --json\n  berth watch chat_01h…",
	}
	c.Flags().StringVar(&after, "after", "", "cursor to go on from")
	does(c, func(c *cobra.Command, chats []string) error {
		ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		return sh.connected(func(b *client.Client) error {
			stream := b.Follow("watch-"+rand.Text(), after, chats...)
			for {
				batch, err := stream.Next(ctx)
				if ctx.Err() != nil {
					return nil
				}
				if err != nil {
					return err
				}
				if batch.Reset != "" {
					return fmt.Errorf("events were missed (%s); start again without --after", batch.Reset)
				}
				if err := sh.printBatch(batch); err != nil {
					return err
				}
			}
		})
	})
	return c
}

func (sh *shell) printBatch(b event.Batch) error {
	var errs []error
	for _, e := range b.Events {
		if sh.json {
			errs = append(errs, sh.print(e))
		} else if line := eventLine(e); line != "" {
			fmt.Fprintln(sh.out, line)
		}
	}
	for _, it := range b.Items {
		if sh.json {
			errs = append(errs, sh.print(it))
		} else {
			fmt.Fprintf(sh.out, "%s  %s  %s\n", it.At.Local().Format("15:04:05"), it.Chat, plain(string(it.Kind)+" "+it.Summary))
		}
	}
	if sh.json && len(b.Events)+len(b.Items) > 0 {
		errs = append(errs, sh.print(map[string]string{"type": "cursor", "next": b.Next}))
	}
	return errors.Join(errs...)
}

func eventLine(e event.Event) string {
	var c chat.Chat
	switch e.Type {
	case event.TypeChat:
		if json.Unmarshal(e.Body, &c) == nil {
			return fmt.Sprintf("%s  %s  %s  %s", e.At.Local().Format("15:04:05"), c.ID, stateWords(c), plain(c.Title))
		}
	case event.TypeDeleted:
		return fmt.Sprintf("%s  %s  deleted", e.At.Local().Format("15:04:05"), e.Chat)
	}
	return ""
}
