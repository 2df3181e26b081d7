package command

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"berth/backend/api/client"
)

func (sh *shell) stopCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "stop CHAT", Short: "Stop what runs in a chat", Args: cobra.ExactArgs(1),
		Long:    "Stop what runs in a chat. What is queued is held until it is released in the window.",
		Example: "  berth stop chat_01h…",
	}
	does(c, func(c *cobra.Command, args []string) error {
		return sh.connected(func(b *client.Client) error {
			r, err := b.Stop(c.Context(), args[0])
			if err != nil {
				return err
			}
			if sh.json {
				return sh.print(r)
			}
			fmt.Fprintln(sh.out, r.State)
			if r.Held > 0 {
				fmt.Fprintf(sh.out, "%d queued messages are held\n", r.Held)
			}
			if len(r.Unconfirmed) > 0 {
				return fmt.Errorf("not proven to be gone: %s", strings.Join(r.Unconfirmed, ", "))
			}
			return nil
		})
	})
	return c
}
