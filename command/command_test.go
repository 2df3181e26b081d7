package command

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/cobra"
	"go.uber.org/goleak"

	"berth/app"
	"berth/backend/provider/demo"
)

// asProgram makes this test binary the program itself, for what only a
// process of its own can show.
const asProgram = "COMMAND_TEST_PROGRAM"

// TestMain is also the demo agent, as Berth's executable is.
func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" && (len(os.Args) < 2 || os.Args[1] != "demo-agent") {
		os.Exit(Main(nil, os.Args[1:]))
	}
	if len(os.Args) > 1 && os.Args[1] == "demo-agent" {
		if err := demo.Main(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("os/signal.loop"), goleak.IgnoreTopFunction("os/signal.signal_recv"))
}

// ran is what a command did.
type ran struct {
	code     int
	out, err string
}

// screen is a file that several goroutines write, as the real ones are.
type screen struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}

// berth runs a command line with a state directory.
func berth(t *testing.T, state, input string, args ...string) ran {
	t.Helper()
	return berthUntil(t.Context(), state, input, args...)
}

func berthUntil(ctx context.Context, state, input string, args ...string) ran {
	var out, errs screen
	sh := &shell{in: strings.NewReader(input), out: &out, err: &errs}
	code := sh.run(ctx, append(args, "--state", state))
	return ran{code, out.String(), errs.String()}
}

func TestEveryCommandExplainsItself(t *testing.T) {
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			if sub.Name() == "help" || sub.Name() == "completion" {
				continue
			}
			if sub.Short == "" || sub.Example == "" {
				t.Errorf("%s has no example", sub.CommandPath())
			}
			if sub.RunE == nil {
				t.Errorf("%s does nothing", sub.CommandPath())
			}
			walk(sub)
		}
	}
	walk((&shell{}).root())
}

func TestExitCodes(t *testing.T) {
	state := t.TempDir()
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"version", 0, ""},
		{"--help", 0, ""},
		{"nonsense", exitUsage, `no command "nonsense"`},
		{"--nonsense", exitUsage, "unknown flag"},
		{"serve extra", exitUsage, "unknown command"},
		{"ask", exitUsage, "requires at least 1 arg"},
		{"ask --approve maybe hello", exitUsage, "--approve is"},
		{"ask --permissions root hello", exitUsage, "--permissions is"},
		{"ask --chat chat_1 --agent demo hello", exitUsage, "chat"},
		{"ask -", exitUsage, "the prompt is empty"},
		{"send chat_1", exitUsage, "requires at least 2 arg"},
		{"approve req_1 --deny --option x", exitUsage, "deny"},
		{"chats", exitFailed, "no Berth runs"},
		{"send chat_1 hello", exitFailed, "no Berth runs"},
		{"stop chat_1", exitFailed, "no Berth runs"},
		{"approve", exitFailed, "no Berth runs"},
		{"watch", exitFailed, "no Berth runs"},
		{"", exitFailed, "built without a window"},
		{"berth://chat/chat_1", exitFailed, "built without a window"},
	} {
		t.Run(c.args, func(t *testing.T) {
			r := berth(t, state, "", strings.Fields(c.args)...)
			if r.code != c.code || !strings.Contains(r.err, c.says) {
				t.Errorf("code %d, says %q; want %d, %q", r.code, r.err, c.code, c.says)
			}
		})
	}
}

func TestWindowNeedsADisplay(t *testing.T) {
	t.Setenv("DISPLAY", "")
	t.Setenv("WAYLAND_DISPLAY", "")
	var errs bytes.Buffer
	sh := &shell{window: func(context.Context, app.Options) error {
		t.Error("a window was opened without a display")
		return nil
	}, in: strings.NewReader(""), out: &errs, err: &errs}
	if code := sh.run(t.Context(), []string{"--state", t.TempDir()}); hasDisplay() == (code == exitFailed) {
		t.Errorf("code %d: %s", code, errs.String())
	}
}

func TestCompletion(t *testing.T) {
	for _, name := range []string{"bash", "zsh", "fish", "powershell"} {
		if r := berth(t, t.TempDir(), "", "completion", name); r.code != 0 || !strings.Contains(r.out, "berth") {
			t.Errorf("%s: code %d, %s", name, r.code, r.err)
		}
	}
}
