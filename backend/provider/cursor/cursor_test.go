package cursor

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"berth/backend/event"
	"berth/backend/provider"
)

const (
	initLine   = `{"type":"system","subtype":"init","session_id":"s1","model":"Auto"}`
	resultLine = `{"type":"result","subtype":"success","is_error":false,"result":"ok","session_id":"s1"}`
	answerLine = `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"ok"}]},"session_id":"s1"}`
	startLine  = `{"type":"tool_call","subtype":"started","call_id":"c1","tool_call":{"shellToolCall":{"args":{"command":"make"}}},"session_id":"s1"}`
)

func fixture(t testing.TB, name string) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return append([]string{"!read"}, strings.Split(strings.TrimSpace(string(data)), "\n")...)
}

// ofKind are the last states of the items of a kind, in order of appearance.
func ofKind(events []provider.Event, kind event.Kind) []provider.Item {
	var list []provider.Item
	for _, e := range events {
		if e.Item == nil || e.Item.Kind != kind {
			continue
		}
		if i := slices.IndexFunc(list, func(it provider.Item) bool { return it.Key == e.Item.Key }); i >= 0 {
			list[i] = *e.Item
		} else {
			list = append(list, *e.Item)
		}
	}
	return list
}

func TestPublishedFormat(t *testing.T) {
	b := newBench(t)
	b.script("script", fixture(t, "published.jsonl")...)
	k := b.open(provider.Spec{})
	text := "Read <README.md> & create a \"summary\"\n你好\n"
	end, events := k.say("turn_1", text)
	if end.State != "completed" {
		t.Fatalf("%+v %v", end, end.Err)
	}
	if got := b.kept(promptFile); got != text {
		t.Errorf("the agent got %q", got)
	}
	answers := ofKind(events, event.Answer)
	if len(answers) != 3 || !answers[0].Body.Commentary || !answers[1].Body.Commentary || answers[2].Body.Commentary || answers[2].Body.Text != "Done! I've created the summary in summary.txt" {
		t.Errorf("answers: %+v", answers)
	}
	calls := ofKind(events, event.ToolCall)
	if len(calls) != 2 || calls[0].Body.Tool.Kind != event.ToolRead || calls[0].Body.Tool.Title != "README.md" || !strings.HasPrefix(calls[0].Body.Tool.Output, "# Project") ||
		calls[1].Body.Tool.Kind != event.ToolEdit || calls[1].Status != event.Completed {
		t.Errorf("calls: %+v", calls)
	}
	var order []string
	for _, e := range events {
		switch {
		case e.Accepted != nil:
			order = append(order, "accepted "+e.Accepted.Turn)
		case e.Conversation != "":
			order = append(order, "conversation "+e.Conversation)
		case e.TurnEnded != nil:
			order = append(order, "ended")
		}
	}
	if want := []string{"accepted turn_1", "conversation c6b62c6f-7ead-4fd6-9922-e952131177ff", "ended"}; !slices.Equal(order, want) {
		t.Errorf("%q", order)
	}
}

func TestPiecesThoughtsAndTools(t *testing.T) {
	b := newBench(t)
	lines := fixture(t, "pieces.jsonl")
	b.cwd = t.TempDir()
	for i := range lines {
		lines[i] = strings.ReplaceAll(lines[i], "/home/user/project", strings.ReplaceAll(b.cwd, `\`, `\\`))
	}
	b.script("script", lines...)
	k := b.open(provider.Spec{})
	end, events := k.say("turn_1", "go")
	if end.State != "completed" {
		t.Fatalf("%+v %v", end, end.Err)
	}
	answers, thoughts := ofKind(events, event.Answer), ofKind(events, event.Thought)
	if len(answers) != 2 || answers[0].Body.Text != "I'll look. 你好" || answers[1].Body.Text != "Done." || len(thoughts) != 1 || thoughts[0].Body.Text != "Let me see." {
		t.Errorf("%+v %+v", answers, thoughts)
	}
	streamed := map[string]string{}
	for _, e := range events {
		if e.Text != nil {
			streamed[e.Text.Key] += e.Text.Text
		}
	}
	if len(streamed) != 3 || streamed[answers[0].Key] != answers[0].Body.Text {
		t.Errorf("%q", streamed)
	}
	calls := ofKind(events, event.ToolCall)
	if len(calls) != 3 {
		t.Fatalf("%+v", calls)
	}
	shell, edit, mcp := calls[0], calls[1], calls[2]
	if shell.Status != event.Failed || *shell.Body.Tool.ExitCode != 2 || shell.Body.Tool.Output != "no such file\n" {
		t.Errorf("shell: %+v", shell.Body.Tool)
	}
	if f := edit.Body.Tool.Files; len(f) != 1 || f[0].Path != "a.txt" || f[0].Patch != "@@ -1,2 +1,2 @@\n a\n-b\n+c\n" || f[0].Change != "modified" {
		t.Errorf("edit: %+v", f)
	}
	if mcp.Status != event.Failed || mcp.Body.Tool.Title != "files: list" || mcp.Body.Tool.Error == "" {
		t.Errorf("mcp: %+v", mcp.Body.Tool)
	}
	plans := ofKind(events, event.Plan)
	if len(plans) != 1 || len(plans[0].Body.Plan) != 2 || plans[0].Body.Plan[0].Status != event.Completed || plans[0].Body.Plan[1].Text != "Fix" {
		t.Errorf("%+v", plans)
	}
	for _, e := range events {
		if e.Usage != nil && (*e.Usage.InputTokens != 105 || *e.Usage.CachedTokens != 40 || *e.Usage.OutputTokens != 20 || e.Usage.Model != "Auto") {
			t.Errorf("%+v", e.Usage)
		}
	}
	if data, _ := json.Marshal(events); strings.Contains(string(data), "the prompt") {
		t.Error("an unknown line leaks what it says")
	}
}

func TestArguments(t *testing.T) {
	b := newBench(t)
	b.script("script", "!read", initLine, answerLine, resultLine)
	k := b.open(provider.Spec{})
	args := func() string { return b.kept(argsFile) }
	k.say("turn_1", "one")
	if want := `["--print","--output-format","stream-json","--stream-partial-output","--trust","--force"]`; args() != want {
		t.Errorf("%s", args())
	}
	if _, err := k.Send(t.Context(), provider.Input{Turn: "turn_2", Text: "two", Model: "sonnet-5", Mode: provider.PlanOnly}); err != nil {
		t.Fatal(err)
	}
	k.until(len(k.events()), "end", isEnd)
	if want := `["--print","--output-format","stream-json","--stream-partial-output","--trust","--mode","plan","--model=sonnet-5","--resume=s1"]`; args() != want {
		t.Errorf("%s", args())
	}
}

func TestModesThatCannotBeKeptAreRefused(t *testing.T) {
	b := newBench(t)
	for _, mode := range []provider.Permission{provider.Ask, provider.AcceptEdits, "yolo"} {
		var e *provider.Error
		if _, err := New().Open(t.Context(), b.host, provider.Spec{Cwd: b.cwd, Mode: mode}); !errors.As(err, &e) || e.Code != "unsupported" {
			t.Errorf("%s: %v", mode, err)
		}
	}
	b.script("script", "!read", initLine, resultLine)
	k := b.open(provider.Spec{})
	if d, err := k.Send(t.Context(), provider.Input{Turn: "turn_1", Text: "x", Mode: provider.Ask}); d != provider.NotSent || err == nil {
		t.Errorf("%v %v", d, err)
	}
	if d, err := k.Send(t.Context(), provider.Input{Turn: "turn_1", Text: "x", Attachments: []provider.Attachment{{Path: "/x"}}}); d != provider.NotSent || err == nil {
		t.Errorf("attachments: %v %v", d, err)
	}
	if _, err := k.Steer(t.Context(), provider.Input{}); !errors.Is(err, provider.ErrUnsupported) {
		t.Errorf("steer: %v", err)
	}
	if end, _ := k.say("turn_2", "x"); end.State != "completed" {
		t.Errorf("after refusals: %+v", end)
	}
}

func TestFailures(t *testing.T) {
	cases := []struct {
		name   string
		script []string
		code   string
		resume string
	}{
		{"signed out", []string{"!read", "!stderr Error: Not logged in. Please run 'cursor-agent login'", "!exit 1"}, "signed_out", ""},
		{"model", []string{"!read", "T: Cannot use this model on the free plan", "!exit 1"}, "model_unavailable", ""},
		{"rate", []string{"!read", initLine, `{"type":"result","subtype":"error","is_error":true,"result":"Too many requests","session_id":"s1"}`, "!exit 1"}, "rate_limited", ""},
		{"quota", []string{"!read", initLine, "!stderr You have hit your usage limit", "!exit 1"}, "quota", ""},
		{"network", []string{"!read", "!stderr getaddrinfo ENOTFOUND api2.cursor.sh", "!exit 1"}, "service_error", ""},
		{"conversation unknown", []string{"!read", "!stderr Chat s0 not found", "!exit 1"}, "not_resumable", "s0"},
		{"another conversation", []string{"!read", initLine, resultLine}, "not_resumable", "s0"},
		{"asks for an approval", []string{"!read", initLine, "Run this command? (y/n)", "!stay"}, "unsupported", ""},
		{"asks for an approval in an event", []string{"!read", initLine, `{"type":"tool_call","subtype":"confirmation_required","call_id":"c","tool_call":{},"session_id":"s1"}`, "!stay"}, "unsupported", ""},
		{"garbage", []string{"!read", initLine, "{broken", "!stay"}, "failed", ""},
		{"works before it begins", []string{"!read", answerLine, "!stay"}, "protocol", ""},
		{"changes the conversation", []string{"!read", initLine, strings.ReplaceAll(answerLine, "s1", "s2"), "!stay"}, "protocol", ""},
		{"no answer", []string{"!read", initLine}, "protocol", ""},
		{"nothing at all", []string{"!read"}, "protocol", ""},
		{"exit code after the answer", []string{"!read", initLine, answerLine, resultLine, "!exit 3"}, "agent_ended", ""},
		{"killed in its work", []string{"!read", initLine, answerLine, "!kill"}, "agent_ended", ""},
		{"a tool without an end", []string{"!read", initLine, startLine, resultLine}, "protocol", ""},
		{"a line too long", []string{"!read", initLine, fmt.Sprintf("!fill %d", maxLine+1), "!stay"}, "protocol", ""},
	}
	b := newBench(t)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b.t = t
			b.script("script", c.script...)
			k := b.open(provider.Spec{Resume: c.resume})
			end, events := k.say("turn_1", "x")
			if end.State != "failed" || end.Err == nil || end.Err.Code != c.code {
				t.Errorf("%+v: %+v", end, end.Err)
			}
			for _, e := range events {
				if e.Conversation != "" {
					t.Errorf("a failed turn leaves conversation %s", e.Conversation)
				}
			}
			for _, it := range ofKind(events, event.ToolCall) {
				if it.Status != event.Cancelled {
					t.Errorf("%+v", it)
				}
			}
		})
	}
}

func TestSessionGoesOnAfterAFailure(t *testing.T) {
	b := newBench(t)
	k := b.open(provider.Spec{Resume: "s1"})
	b.script("script", "!read", initLine, "{broken", "!stay")
	if end, _ := k.say("turn_1", "x"); end.State != "failed" {
		t.Errorf("%+v", end)
	}
	b.script("script", "!read", initLine, answerLine, resultLine)
	if end, _ := k.say("turn_2", "x"); end.State != "completed" {
		t.Errorf("%+v %+v", end, end.Err)
	}
}

func TestKilledBeforeItTookTheMessage(t *testing.T) {
	b := newBench(t)
	b.script("script", "!read", "!kill")
	k := b.open(provider.Spec{})
	if _, err := k.Send(t.Context(), provider.Input{Turn: "turn_1", Text: "x"}); err != nil {
		t.Fatal(err)
	}
	e, _ := k.until(0, "end of the session", func(e provider.Event) bool { return e.Closed != nil })
	if e.Closed.Err == nil || e.Closed.Err.Code != "agent_ended" {
		t.Errorf("%+v", e.Closed)
	}
	for _, e := range k.events() {
		if e.TurnEnded != nil || e.Accepted != nil {
			t.Errorf("what is not known is told: %+v", e)
		}
	}
	if d, err := k.Send(t.Context(), provider.Input{Turn: "turn_2", Text: "x"}); d != provider.NotSent || err == nil {
		t.Errorf("%v %v", d, err)
	}
}

func TestInterrupt(t *testing.T) {
	b := newBench(t)
	b.script("script", "!read", initLine, startLine, "!hang")
	k := b.open(provider.Spec{})
	if _, err := k.Send(t.Context(), provider.Input{Turn: "turn_1", Text: "x"}); err != nil {
		t.Fatal(err)
	}
	k.until(0, "call", func(e provider.Event) bool { return e.Item != nil })
	if n := len(k.Processes()); n != 1 {
		t.Errorf("%d processes", n)
	}
	if err := k.Interrupt(t.Context()); err != nil {
		t.Fatal(err)
	}
	e, _ := k.until(0, "end", isEnd)
	if e.TurnEnded.State != "stopped" || e.TurnEnded.Err != nil {
		t.Errorf("%+v", e.TurnEnded)
	}
	if calls := ofKind(k.events(), event.ToolCall); len(calls) != 1 || calls[0].Status != event.Cancelled {
		t.Errorf("%+v", calls)
	}
	if n := len(k.Processes()); n != 0 {
		t.Errorf("%d processes after the stop", n)
	}
	if err := k.Interrupt(t.Context()); err != nil {
		t.Errorf("nothing to interrupt: %v", err)
	}
}

func TestSilence(t *testing.T) {
	cases := []struct {
		name   string
		script []string
		limit  time.Duration
		says   string
	}{
		{"does not begin", []string{"!hang"}, limits.First, "did not begin within 2 minutes"},
		{"silent after a word", []string{"!read", initLine, answerLine, "!stay"}, limits.Idle, "no sign of life for 15 minutes"},
		{"a tool that hangs", []string{"!read", initLine, startLine, "!stay"}, limits.Tool, "no sign of life for 360 minutes"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.script("script", c.script...)
			k := b.open(provider.Spec{})
			if _, err := k.Send(t.Context(), provider.Input{Turn: "turn_1", Text: "x"}); err != nil {
				t.Fatal(err)
			}
			if len(c.script) > 1 {
				k.until(0, "item", func(e provider.Event) bool { return e.Item != nil || e.Text != nil })
			}
			b.clock.pass(c.limit - time.Minute)
			for _, e := range k.events() {
				if e.TurnEnded != nil {
					t.Fatal("too early")
				}
			}
			b.clock.pass(time.Minute)
			e, _ := k.until(0, "end", isEnd)
			if e.TurnEnded.Err == nil || e.TurnEnded.Err.Code != "no_answer" || !strings.Contains(e.TurnEnded.Err.Text, c.says) {
				t.Errorf("%+v", e.TurnEnded.Err)
			}
		})
	}
}

func TestProcessThatStaysAfterItsAnswer(t *testing.T) {
	b := newBench(t)
	b.script("script", "!read", initLine, answerLine, resultLine, "!stay")
	k := b.open(provider.Spec{})
	if _, err := k.Send(t.Context(), provider.Input{Turn: "turn_1", Text: "x"}); err != nil {
		t.Fatal(err)
	}
	k.until(0, "answer", func(e provider.Event) bool { return e.Item != nil })
	for {
		b.clock.pass(exitGrace)
		if slices.ContainsFunc(k.events(), isEnd) {
			break
		}
		<-time.After(10 * time.Millisecond)
	}
	e, _ := k.until(0, "end", isEnd)
	if e.TurnEnded.State != "failed" || !strings.Contains(e.TurnEnded.Err.Text, "did not end after its answer") {
		t.Errorf("%+v %+v", e.TurnEnded, e.TurnEnded.Err)
	}
}

func TestCloseEndsTheTurnsProcess(t *testing.T) {
	b := newBench(t)
	b.script("script", "!read", initLine, "!stay")
	k := b.open(provider.Spec{})
	if _, err := k.Send(t.Context(), provider.Input{Turn: "turn_1", Text: "x"}); err != nil {
		t.Fatal(err)
	}
	k.until(0, "acceptance", func(e provider.Event) bool { return e.Accepted != nil })
	if err := k.Close(t.Context()); err != nil {
		t.Error(err)
	}
	e, _ := k.until(0, "end of the session", func(e provider.Event) bool { return e.Closed != nil })
	if e.Closed.Err != nil {
		t.Errorf("%+v", e.Closed)
	}
}

func TestTooManyCalls(t *testing.T) {
	p := newProjector("turn_1", "/", func(string, bool) {})
	for i := range maxCalls + 1 {
		l := &line{Type: "tool_call", Subtype: "started", Call: fmt.Sprint(i), Tool: map[string]json.RawMessage{"readToolCall": []byte(`{}`)}}
		if ok := p.called(l); ok != (i < maxCalls) {
			t.Fatalf("call %d: %v", i, ok)
		}
	}
}

func TestDescribe(t *testing.T) {
	b := newBench(t)
	d := New().Describe(t.Context(), b.host)
	if d.Status != provider.Ready || d.Version != "2026.09.02-c22c1a3" || d.Account != "someone@example.com" || len(d.Models) != 3 || d.Models[2].Value != "sonnet-5" || d.Models[2].Label != "Claude Sonnet 5" {
		t.Errorf("%+v", d)
	}
	if !slices.Equal(d.Modes, []provider.Permission{provider.PlanOnly, provider.Full}) || d.Capabilities.Approvals || d.Capabilities.Instructions {
		t.Errorf("%+v", d)
	}
	cases := []struct {
		name   string
		change func()
		want   provider.Status
	}{
		{"signed out", func() { b.script("status", "Not logged in") }, provider.Unauthenticated},
		{"a key", func() { b.host.Env = append(b.host.Env, "CURSOR_API_KEY=k") }, provider.Ready},
		{"another program", func() { b.script("help", "Usage: agent [--something]") }, provider.TooOld},
		{"broken", func() { b.script("help", "!stderr it broke", "!exit 1") }, provider.Broken},
		{"hangs", func() { b.script("help", "!hang") }, provider.Unknown},
		{"missing", func() { b.host.Executable = filepath.Join(b.dir, "gone") }, provider.Missing},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.change()
			d := New().Describe(t.Context(), b.host)
			if d.Status != c.want || d.Status != provider.Ready && d.Message == "" {
				t.Errorf("%+v", d)
			}
		})
	}
}

// Any lines leave the turn sound, and its texts valid.
func FuzzLines(f *testing.F) {
	for _, name := range []string{"published.jsonl", "pieces.jsonl"} {
		for _, line := range fixture(f, name)[1:] {
			f.Add([]byte(line))
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) == 0 {
			return
		}
		events := make(chan provider.Event, 1000)
		s := &session{clock: &clock{}, events: events, abandoned: make(chan struct{})}
		tr := &turn{id: "turn_1", p: newProjector("turn_1", "/", func(string, bool) {})}
		tr.dog = newDog(s.clock, tr)
		s.take(tr, []byte(initLine))
		s.take(tr, raw)
		s.take(tr, raw)
		tr.p.end()
		close(events)
		all := tr.p.take()
		for e := range events {
			all = append(all, e)
		}
		for _, e := range all {
			if e.Text != nil && !utf8.ValidString(e.Text.Text) {
				t.Errorf("invalid text %q", e.Text.Text)
			}
			if _, err := json.Marshal(e); err != nil {
				t.Errorf("%v", err)
			}
		}
	})
}
