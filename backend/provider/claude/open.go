package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"berth/backend/process"
	"berth/backend/provider"
)

const (
	// startTimeout bounds the time from the start to the reply to initialize:
	// MCP servers of the user start before it.
	startTimeout = 30 * time.Second
	// stderrTail is what is kept of the CLI's stderr, in bytes.
	stderrTail = 64 << 10
)

// modeName is the CLI's name of a permission mode (CONTRACTS, Permission
// modes).
func modeName(mode provider.Permission) (string, bool) {
	switch mode {
	case provider.Ask:
		return "default", true
	case provider.AcceptEdits:
		return "acceptEdits", true
	case provider.PlanOnly:
		return "plan", true
	case provider.Full:
		return "bypassPermissions", true
	}
	return "", false
}

func unknownMode(mode provider.Permission) error {
	return &provider.Error{Code: "unsupported", Text: fmt.Sprintf("Claude Code has no permission mode %q.", mode)}
}

// schedulers are tools of the CLI that promise to wake it later. Berth ends
// an idle process, so they would break their promise without a word.
const schedulers = "CronCreate,CronDelete,CronList,ScheduleWakeup"

// arguments are those of a conversation's process. The chat's instructions
// are not among them: everybody on the machine can read a command line.
func arguments(spec provider.Spec) ([]string, error) {
	mode, ok := modeName(spec.Mode)
	if !ok {
		return nil, unknownMode(spec.Mode)
	}
	args := []string{
		"--input-format", "stream-json", "--output-format", "stream-json", "--verbose",
		"--include-partial-messages", "--replay-user-messages", "--forward-subagent-text",
		"--permission-prompt-tool", "stdio", "--permission-mode", mode,
		"--disallowedTools", schedulers,
		// Instructions may change between two processes of a conversation.
		"--system-prompt-snapshot", "off",
	}
	if spec.Model != "" {
		args = append(args, "--model="+spec.Model)
	}
	if spec.Effort != "" {
		args = append(args, "--effort="+spec.Effort)
	}
	if spec.Resume != "" {
		args = append(args, "--resume="+spec.Resume)
		if spec.Fork {
			args = append(args, "--fork-session")
		}
	}
	return args, nil
}

// rootEnv is what the mode needs of the environment. The CLI refuses to
// bypass permissions as root unless it is told that it is in a sandbox, and
// Berth tells it so only by the user's explicit choice.
func rootEnv(spec provider.Spec, root bool) ([]string, error) {
	switch {
	case spec.Mode != provider.Full || !root:
		return nil, nil
	case !spec.RootBypass:
		return nil, &provider.Error{Code: "root_bypass", Text: "As root, Claude Code works without asking only if you allow that for this chat."}
	}
	return []string{"IS_SANDBOX=1"}, nil
}

// todoTools has the newer models, too, keep a list of their steps, which is
// shown as the plan; without it the CLI offers them no tool for that.
const todoTools = "CLAUDE_CODE_ENABLE_TODO_TOOLS"

// environment is what a conversation's process gets beside Berth's own.
func environment(host provider.Host, spec provider.Spec) ([]string, error) {
	env, err := rootEnv(spec, os.Geteuid() == 0)
	if err != nil {
		return nil, err
	}
	if host.Getenv(todoTools) == "" {
		env = append(env, todoTools+"=1")
	}
	return append(env, host.Env...), nil
}

// Open implements provider.Driver.
func (d *Driver) Open(ctx context.Context, host provider.Host, spec provider.Spec) (provider.Session, error) {
	if info, err := os.Stat(spec.Cwd); err != nil || !info.IsDir() {
		return nil, &provider.Error{Code: "cwd_missing", Text: "The folder of this chat is not there.", Detail: spec.Cwd, Err: err}
	}
	path, err := executable(host)
	if err != nil {
		return nil, err
	}
	args, err := arguments(spec)
	if err != nil {
		return nil, err
	}
	env, err := environment(host, spec)
	if err != nil {
		return nil, err
	}
	proc, err := host.Processes.Start(ctx, process.Spec{
		Path: path, Args: args, Dir: spec.Cwd, Env: env,
		Execution: spec.Execution, Label: "claude", Chat: spec.Chat, StderrTail: stderrTail,
	})
	if err != nil {
		return nil, &provider.Error{Code: "start_failed", Text: "Claude Code could not be started.", Detail: cut(err.Error(), maxDetail), Err: err}
	}
	s := newSession(proc, host.Clock, spec, transcripts(host))
	if err := s.initialize(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// initialize makes the handshake; a session that cannot be used is closed.
func (s *session) initialize(ctx context.Context) error {
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := s.clock.AfterFunc(startTimeout, cancel)
	defer stop()
	request := map[string]any{"subtype": "initialize", "hooks": nil}
	if s.spec.Instructions != "" {
		request["appendSystemPrompt"] = s.spec.Instructions
	}
	err := s.control(within, request)
	if err == nil {
		return nil
	}
	closed := s.discard(ctx)
	s.mu.Lock()
	failed := s.failed
	s.mu.Unlock()
	return notStarted(ctx, err, failed, closed, s.garbage)
}

// discard closes a session that nobody has seen, and gives its last event.
func (s *session) discard(ctx context.Context) *provider.Closed {
	gone := make(chan *provider.Closed, 1)
	go func() {
		var last *provider.Closed
		for e := range s.events {
			if e.Closed != nil {
				last = e.Closed
			}
		}
		gone <- last
	}()
	_ = s.Close(context.WithoutCancel(ctx)) // what is left of it is in the registry
	return <-gone
}

// notStarted says why a process did not become a session.
func notStarted(ctx context.Context, err error, failed *resultLine, closed *provider.Closed, garbage string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	e := &provider.Error{Code: "start_failed", Text: "Claude Code did not start.", Err: err}
	if closed != nil {
		e.Detail = cut(lastLine(closed.Stderr), maxDetail)
	}
	switch {
	case failed != nil && strings.Contains(failed.words(), "No conversation found"):
		e.Code, e.Text = "not_resumable", "Claude Code does not know this conversation any more. Nothing was sent."
		e.Detail = cut(failed.words(), maxDetail)
	case failed != nil:
		e.Detail = cut(failed.words(), maxDetail)
	case errors.Is(err, context.Canceled):
		e.Code, e.Text = "no_answer", fmt.Sprintf("Claude Code did not answer within %d seconds of its start.", startTimeout/time.Second)
	}
	if e.Detail == "" {
		e.Detail = garbage
	}
	return e
}

// executable finds the CLI.
func executable(host provider.Host) (string, error) {
	if host.Executable != "" {
		if _, err := os.Stat(host.Executable); err != nil {
			return "", &provider.Error{Code: "missing", Text: "The executable that is set for Claude Code is not there.", Detail: host.Executable, Action: "open_settings", Err: err}
		}
		return host.Executable, nil
	}
	path, err := host.Processes.LookPath("claude")
	if err != nil {
		return "", &provider.Error{Code: "missing", Text: "Claude Code is not installed.", Detail: cut(err.Error(), maxDetail), Action: "install", Err: err}
	}
	return path, nil
}

// transcripts tells whether the CLI has written a conversation's transcript:
// <configuration>/projects/<folder>/<conversation>.jsonl.
func transcripts(host provider.Host) func(string) bool {
	dir := host.Getenv("CLAUDE_CONFIG_DIR")
	if dir == "" {
		dir = filepath.Join(home(host), ".claude")
	}
	return func(conversation string) bool {
		if conversation != filepath.Base(conversation) {
			return false
		}
		folders, err := os.ReadDir(filepath.Join(dir, "projects"))
		if err != nil {
			return false
		}
		for _, f := range folders {
			if info, err := os.Stat(filepath.Join(dir, "projects", f.Name(), conversation+".jsonl")); err == nil && info.Size() > 0 {
				return true
			}
		}
		return false
	}
}

func home(host provider.Host) string {
	name := "HOME"
	if os.PathSeparator == '\\' {
		name = "USERPROFILE"
	}
	return host.Getenv(name)
}

// readJSON reads the first JSON value in a text that may hold more.
func readJSON(text string, v any) error {
	i := strings.IndexByte(text, '{')
	if i < 0 {
		return errors.New("no JSON in it")
	}
	return json.NewDecoder(strings.NewReader(text[i:])).Decode(v)
}
