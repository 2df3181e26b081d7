package command

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"berth/backend"
	"berth/backend/api/client"
	"berth/build"
)

func (sh *shell) serveCommand() *cobra.Command {
	var listen string
	var rotate bool
	c := &cobra.Command{
		Use: "serve", Short: "Serve Berth to browsers and commands, without a window", Args: cobra.NoArgs,
		Long: "Serve Berth to browsers and commands, without a window, until SIGTERM or Ctrl-C.\n" +
			"When it is ready it prints one line of JSON: url, token, state, pid and version. Open the url in a browser and give the token.\n" +
			"Only addresses of this machine are listened on; from elsewhere, use a tunnel such as ssh -L.",
		Example: "  berth serve\n  berth serve --state ~/berth-work --listen 127.0.0.1:7850",
	}
	c.Flags().StringVar(&listen, "listen", "127.0.0.1:0", "address to listen on; port 0 takes a free one")
	c.Flags().BoolVar(&rotate, "rotate-token", false, "make a new token; pages and tools that hold the old one are shut out")
	does(c, func(c *cobra.Command, _ []string) error {
		state, err := sh.stateDir()
		if err != nil {
			return err
		}
		ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		h, err := sh.host(ctx, hosting{state: state, kind: "serve", level: slog.LevelInfo})
		var held *backend.HeldError
		if errors.As(err, &held) {
			if held.By.URL != "" {
				return fmt.Errorf("%w; it listens on %s", err, held.By.URL)
			}
			return err
		}
		if err != nil {
			return err
		}
		url, token, err := h.Listen(listen, rotate)
		if err != nil {
			return errors.Join(err, h.close())
		}
		b := client.New(state)
		defer b.Close()
		done := make(chan struct{})
		go func() {
			defer close(done)
			h.notify(ctx, state, b)
		}()
		err = sh.print(ready{url, token, state, os.Getpid(), build.Version})
		if err == nil {
			<-ctx.Done()
			stop() // a second signal ends the program at once
		}
		<-done
		return errors.Join(err, h.close())
	})
	return c
}

// ready is the line that serve prints.
type ready struct {
	URL     string `json:"url"`
	Token   string `json:"token"`
	State   string `json:"state"`
	Pid     int    `json:"pid"`
	Version string `json:"version"`
}
