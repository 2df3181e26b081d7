package command

import (
	"os"

	"github.com/spf13/cobra"

	"berth/backend/provider/demo"
)

func (sh *shell) demoAgentCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "demo-agent", Short: "The demo agent, speaking the Agent Client Protocol on standard input and output", Args: cobra.NoArgs,
		Long:    "The demo agent is offline and deterministic. Berth starts it itself; any client of the Agent Client Protocol can.",
		Example: "  berth ask --agent demo \"/tour\"",
	}
	does(c, func(*cobra.Command, []string) error {
		return demo.Main(os.Stdin, os.Stdout)
	})
	return c
}
