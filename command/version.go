package command

import (
	"encoding/json"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"berth/build"
)

func (sh *shell) versionCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		Example: "  berth version --json",
	}
	does(c, func(*cobra.Command, []string) error {
		if sh.json {
			return sh.print(map[string]any{
				"version": build.Version, "commit": build.Commit, "go": runtime.Version(),
				"os": runtime.GOOS, "arch": runtime.GOARCH, "window": sh.window != nil,
			})
		}
		fmt.Fprintf(sh.out, "berth %s\n", version())
		return nil
	})
	return c
}

// print writes a value as one line of JSON.
func (sh *shell) print(v any) error {
	e := json.NewEncoder(sh.out)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
