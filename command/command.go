// Package command is Berth's command line: one file for each command.
//
// Commands are doors like the window: they ask the running backend of a state
// directory over its local socket. Only serve, ask and doctor start a backend
// themselves, in process, and ask and doctor only where none runs. Results go
// to standard output, all else to standard error. Exit codes: 0 done, 1
// failed, 2 the command line was wrong, 3 the turn was stopped.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"berth/app"
	"berth/backend/api"
	"berth/backend/instance"
	"berth/build"
)

// Exit codes.
const (
	exitFailed  = 1
	exitUsage   = 2
	exitStopped = 3
)

// ended is the error of a command that ran; any other error of the command
// line is one of usage. An empty text prints nothing.
type ended struct {
	code int
	err  error
}

func (e *ended) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *ended) Unwrap() error { return e.err }

// usage is a wrong command line that only the command itself could see.
func usage(format string, args ...any) error {
	return &ended{exitUsage, fmt.Errorf(format, args...)}
}

// Window shows the native window and returns when it is closed (app.Run). A
// program without a window has none.
type Window func(ctx context.Context, o app.Options) error

// shell is what all commands share.
type shell struct {
	window Window
	state  string // the flag
	json   bool
	in     io.Reader
	out    io.Writer
	err    io.Writer
}

// Main runs the command line and returns the exit code.
func Main(window Window, args []string) int {
	sh := &shell{window: window, in: os.Stdin, out: os.Stdout, err: os.Stderr}
	return sh.run(context.Background(), args)
}

func (sh *shell) run(ctx context.Context, args []string) int {
	root := sh.root()
	root.SetArgs(args)
	root.SetIn(sh.in)
	root.SetOut(sh.out)
	root.SetErr(sh.err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	var e *ended
	if !errors.As(err, &e) {
		fmt.Fprintf(sh.err, "berth: %v\n", err)
		return exitUsage
	}
	if e.err != nil {
		fmt.Fprintf(sh.err, "berth: %v\n", explain(e.err))
	}
	return e.code
}

func (sh *shell) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "berth [berth://LINK]",
		Short: "Work with many coding agents at once",
		Long: "Berth works with coding agents on your own machine.\n" +
			"Without a command it opens its window.",
		Example:           "  berth\n  berth serve\n  berth ask --agent claude --cwd . \"What does this project do?\"",
		Version:           version(),
		Args:              cobra.MaximumNArgs(1),
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
	}
	root.SetVersionTemplate("berth {{.Version}}\n")
	root.PersistentFlags().StringVar(&sh.state, "state", "", "state directory (default $BERTH_STATE, else the place for application data)")
	root.PersistentFlags().BoolVar(&sh.json, "json", false, "print JSON")
	does(root, sh.openWindow)
	root.AddCommand(
		sh.serveCommand(), sh.askCommand(), sh.chatsCommand(), sh.sendCommand(), sh.stopCommand(),
		sh.approveCommand(), sh.watchCommand(), sh.doctorCommand(), sh.demoAgentCommand(), sh.versionCommand(),
	)
	return root
}

// does gives a command its work. An error of the work is told from one of
// usage by its type.
func does(c *cobra.Command, work func(c *cobra.Command, args []string) error) {
	c.RunE = func(c *cobra.Command, args []string) error {
		err := work(c, args)
		var e *ended
		if err == nil || errors.As(err, &e) {
			return err
		}
		return &ended{exitFailed, err}
	}
}

// explain says what to do about errors that a user meets often.
func explain(err error) error {
	var p *api.Problem
	switch {
	case errors.Is(err, instance.ErrNone):
		return errors.New("no Berth runs for this state directory; open its window or run: berth serve")
	case errors.As(err, &p) && len(p.Errors) > 0:
		return fmt.Errorf("%s (%s: %s)", p.Detail, p.Errors[0].Location, p.Errors[0].Message)
	}
	return err
}

func version() string { return build.Version + " (" + build.Commit + ")" }
