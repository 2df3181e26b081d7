package opencode

import (
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"testing"

	"berth/backend/event"
	"berth/backend/provider"
	"berth/test/modelserver"
)

// streamed is the text that came piece by piece, by kind.
func (k *talk) streamed(kind event.Kind) string {
	var b strings.Builder
	for _, e := range k.seen {
		if e.Text != nil && e.Text.Kind == kind && e.Text.Parent == "" {
			b.WriteString(e.Text.Text)
		}
	}
	return b.String()
}

// items are the last states of the items of a kind.
func (k *talk) items(kind event.Kind) []*provider.Item {
	var list []*provider.Item
	for _, e := range k.seen {
		if e.Item == nil || e.Item.Kind != kind {
			continue
		}
		if i := slices.IndexFunc(list, func(it *provider.Item) bool { return it.Key == e.Item.Key }); i >= 0 {
			list[i] = e.Item
		} else {
			list = append(list, e.Item)
		}
	}
	return list
}

func shell(command string) string {
	return modelserver.Directive(modelserver.Step{Scenario: "shell", Command: command})
}

func TestAnswer(t *testing.T) {
	b := newBench(t)
	k := b.open(provider.Spec{Instructions: "Be kind."})
	text := modelserver.Directive(modelserver.Step{Scenario: "thinking", Thought: "First 思考.", Text: "After <b>that</b>."})
	k.send(text)
	if end := k.end(); end.State != completed || end.StopReason != "end_turn" {
		t.Fatalf("ended %+v", end)
	}
	if k.streamed(event.Answer) != "After <b>that</b>." || k.streamed(event.Thought) != "First 思考." {
		t.Errorf("said %q after %q", k.streamed(event.Answer), k.streamed(event.Thought))
	}
	accepted, commands := 0, false
	var usage *provider.Usage
	for _, e := range k.seen {
		if e.Accepted != nil {
			accepted++
		}
		if e.Usage != nil {
			usage = e.Usage
		}
	}
	if accepted != 1 || usage == nil || usage.ContextTokens == nil || usage.ContextWindow == nil || *usage.ContextWindow != 200_000 || usage.InputTokens == nil || usage.CostUSD != nil {
		t.Errorf("accepted %d times, usage %+v", accepted, usage)
	}
	for _, e := range k.seen {
		commands = commands || e.Commands != nil && slices.ContainsFunc(*e.Commands, func(c provider.Command) bool { return c.Name == "init" })
	}
	if answers := k.items(event.Answer); !commands || len(answers) != 1 || answers[0].Body.Text != "After <b>that</b>." {
		t.Errorf("commands %v, answers %+v", commands, answers)
	}
	d, err := k.s.Send(t.Context(), provider.Input{Text: "x", Model: "none/such"})
	var failed *provider.Error
	if d != provider.NotSent || !errors.As(err, &failed) || failed.Code != "unknown_model" {
		t.Errorf("an unknown model: %v, %v", d, err)
	}
	if _, err := k.s.Steer(t.Context(), provider.Input{Text: "x"}); err == nil {
		t.Error("a message joined no turn")
	}
}

func TestCommandAllowed(t *testing.T) {
	b := newBench(t)
	k := b.open(provider.Spec{})
	k.send(shell("echo one; sleep 1; echo two"))
	ask := k.request()
	if ask.Kind != event.Approval || ask.Body.Command != "echo one; sleep 1; echo two" || ask.Body.ToolKind != event.ToolExecute || ask.Tool == "" {
		t.Errorf("asked %+v", ask)
	}
	kinds := []event.OptionKind{}
	for _, o := range ask.Body.Options {
		kinds = append(kinds, o.Kind)
	}
	if !slices.Equal(kinds, []event.OptionKind{event.AllowOnce, event.AllowSession, event.RejectOnce}) {
		t.Errorf("options %v", kinds)
	}
	if err := k.s.Answer(t.Context(), ask.Key, provider.Answer{Option: "perhaps"}); err == nil {
		t.Error("an option that is not offered was taken")
	}
	k.answer(ask.Key, provider.Answer{Option: optionChat})
	if end := k.end(); end.State != completed {
		t.Fatalf("ended %+v", end)
	}
	if got := k.streamed(event.ToolCall); got != "one\ntwo\n" {
		t.Errorf("live output %q", got)
	}
	call := k.items(event.ToolCall)[0]
	if tool := call.Body.Tool; call.Key != ask.Tool || call.Status != event.Completed || tool.Kind != event.ToolExecute || tool.Output != "one\ntwo\n" || *tool.ExitCode != 0 || tool.EndedAt == nil {
		t.Errorf("the call %+v %+v", call, tool)
	}
	// What was allowed for the chat is not asked again; what was not, is.
	k.send(shell("echo three"))
	k.until(func(e provider.Event) bool {
		if e.Request != nil {
			t.Errorf("asked again: %+v", e.Request.Body)
		}
		return e.TurnEnded != nil
	})
	k.send(shell("touch x"))
	k.answer(k.request().Key, provider.Answer{Option: optionReject, Reason: "use another name"})
	if end := k.end(); end.State != completed {
		t.Fatalf("ended %+v", end)
	}
	if call := k.items(event.ToolCall)[0]; call.Status != event.Failed || !strings.Contains(call.Body.Tool.Error, "use another name") {
		t.Errorf("the denied call %+v", call.Body.Tool)
	}
}

func TestEdit(t *testing.T) {
	b := newBench(t)
	path := b.file("a.txt", "one\ntwo\n")
	k := b.open(provider.Spec{})
	k.send(modelserver.Directive(modelserver.Step{Scenario: "read", Path: path}) +
		modelserver.Directive(modelserver.Step{Scenario: "edit", Path: path, Old: "two", New: "2"}))
	ask := k.request()
	const patch = "@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
	if f := ask.Body.Files; ask.Body.Title != "Edit a.txt" || len(f) != 1 || f[0].Path != "a.txt" || f[0].Patch != patch || f[0].Added != 1 || f[0].Removed != 1 {
		t.Errorf("asked %+v", ask.Body)
	}
	k.answer(ask.Key, provider.Answer{Option: optionOnce})
	k.end()
	calls := k.items(event.ToolCall)
	if len(calls) != 2 || calls[0].Body.Tool.Kind != event.ToolRead || !strings.HasPrefix(calls[0].Body.Tool.Output, "one\ntwo") {
		t.Fatalf("calls %+v", calls)
	}
	if f := calls[1].Body.Tool.Files; len(f) != 1 || f[0].Patch != patch || f[0].Change != "modified" {
		t.Errorf("the edit %+v", f)
	}
}

func TestQuestionAndPlan(t *testing.T) {
	b := newBench(t)
	k := b.open(provider.Spec{})
	k.send(modelserver.Directive(modelserver.Step{Scenario: "question", Question: "Which?", Options: []string{"A", "B"}, Multiple: true}) +
		modelserver.Directive(modelserver.Step{Scenario: "plan", Entries: []string{"a", "b"}}))
	ask := k.request()
	q := ask.Body.Questions
	if ask.Kind != event.Question || len(q) != 1 || q[0].Text != "Which?" || !q[0].Multiple || !q[0].FreeText || q[0].Choices[1].Value != "B" {
		t.Fatalf("asked %+v", ask.Body)
	}
	if err := k.s.Answer(t.Context(), ask.Key, provider.Answer{Answers: map[string][]string{"9": {"A"}}}); err == nil {
		t.Error("an answer to no question was taken")
	}
	k.answer(ask.Key, provider.Answer{Answers: map[string][]string{"1": {"A", "something else"}}})
	k.end()
	if !strings.Contains(k.streamed(event.Answer), "something else") {
		t.Errorf("said %q", k.streamed(event.Answer))
	}
	plans := k.items(event.Plan)
	if len(plans) != 1 || len(plans[0].Body.Plan) != 2 || plans[0].Body.Plan[0].Status != event.Completed || plans[0].Status != event.InProgress {
		t.Errorf("plans %+v", plans)
	}
	if calls := k.items(event.ToolCall); len(calls) != 0 {
		t.Errorf("the plan and the question are shown twice: %+v", calls)
	}
}

// What a sub-agent does stands below the call that started it, and is asked
// about like anything else.
func TestSubagent(t *testing.T) {
	b := newBench(t)
	k := b.open(provider.Spec{})
	k.send(modelserver.Directive(modelserver.Step{Scenario: "subagent", Prompt: "inner " + shell("echo inner")}))
	ask := k.request()
	if ask.Body.Command != "echo inner" {
		t.Errorf("asked %+v", ask.Body)
	}
	k.answer(ask.Key, provider.Answer{Option: optionOnce})
	if end := k.end(); end.State != completed {
		t.Fatalf("ended %+v", end)
	}
	var outer, inner *provider.Item
	for _, call := range k.items(event.ToolCall) {
		switch call.Body.Tool.Name {
		case "task":
			outer = call
		case "bash":
			inner = call
		}
	}
	if outer == nil || inner == nil || outer.Parent != "" || inner.Parent != outer.Key || outer.Body.Tool.Kind != event.ToolAgent {
		t.Fatalf("outer %+v, inner %+v", outer, inner)
	}
	nested := 0
	for _, answer := range k.items(event.Answer) {
		if answer.Parent == outer.Key {
			nested++
		}
	}
	if nested != 1 {
		t.Errorf("%d nested answers", nested)
	}
}

func TestInterrupt(t *testing.T) {
	b := newBench(t)
	k := b.open(provider.Spec{})
	k.send(shell("sleep 100"))
	ask := k.request()
	if err := k.s.Interrupt(t.Context()); err != nil {
		t.Fatal(err)
	}
	if end := k.end(); end.State != stopped || end.StopReason != "cancelled" {
		t.Errorf("ended %+v", end)
	}
	if err := k.s.Answer(t.Context(), ask.Key, provider.Answer{Option: optionOnce}); !errors.Is(err, provider.ErrNoRequest) {
		t.Errorf("a late answer: %v", err)
	}
	if !slices.ContainsFunc(k.seen, func(e provider.Event) bool { return e.Withdrawn == ask.Key }) {
		t.Error("the request was not withdrawn")
	}
	if call := k.items(event.ToolCall)[0]; call.Status != event.Cancelled {
		t.Errorf("the call is %s", call.Status)
	}
	// OpenCode says "idle" once more for the aborted turn.
	k.send("And now?")
	if end := k.end(); end.State != completed || k.streamed(event.Answer) != "You said: And now?" {
		t.Errorf("ended %+v, said %q", end, k.streamed(event.Answer))
	}
}

func TestFailures(t *testing.T) {
	b := newBench(t)
	k := b.open(provider.Spec{})
	k.send(modelserver.Directive(modelserver.Step{Scenario: "status", Code: 429, Times: 1, RetryAfter: new(1)}) +
		modelserver.Directive(modelserver.Step{Scenario: "text", Text: "fine"}))
	if end := k.end(); end.State != completed || k.streamed(event.Answer) != "fine" {
		t.Fatalf("ended %+v, said %q", end, k.streamed(event.Answer))
	}
	notices := k.items(event.Notice)
	if len(notices) != 1 || notices[0].Body.Notice.Code != "rate_limited" || !strings.Contains(notices[0].Body.Text, "tries again at") {
		t.Errorf("notices %+v", notices)
	}
	k.send(modelserver.Directive(modelserver.Step{Scenario: "status", Code: 400, Times: -1}))
	if end := k.end(); end.State != failed || end.Err.Code != "failed" || end.Err.Detail != "scripted failure" {
		t.Fatalf("ended %+v, %+v", end, end.Err)
	}
	// Nor does the late end of the failed turn end this one.
	k.send("And now?")
	if end := k.end(); end.State != completed || k.streamed(event.Answer) != "You said: And now?" {
		t.Errorf("ended %+v, said %q", end, k.streamed(event.Answer))
	}
}

func TestSteer(t *testing.T) {
	b := newBench(t)
	k := b.open(provider.Spec{})
	k.send(modelserver.Directive(modelserver.Step{Scenario: "slow", Words: 20, MS: 100}))
	k.until(func(e provider.Event) bool { return e.Text != nil })
	if d, err := k.s.Steer(t.Context(), provider.Input{Text: "one more thing"}); d != provider.Sent || err != nil {
		t.Fatalf("%v, %v", d, err)
	}
	if end := k.end(); end.State != completed {
		t.Errorf("ended %+v", end)
	}
	var accepted []bool
	for _, e := range k.seen {
		if e.Accepted != nil {
			accepted = append(accepted, e.Accepted.Steered)
		}
	}
	if !slices.Equal(accepted, []bool{false, true}) || !strings.Contains(k.streamed(event.Answer), "You said: one more thing") {
		t.Errorf("accepted %v, said %q", accepted, k.streamed(event.Answer))
	}
}

func TestResumeForkAndModes(t *testing.T) {
	b := newBench(t)
	k := b.open(provider.Spec{})
	k.send("one")
	k.end()
	again := b.open(provider.Spec{Resume: k.conv, Mode: provider.AcceptEdits})
	again.send(modelserver.Directive(modelserver.Step{Scenario: "write", Path: b.dir + "/new.txt", Content: "new\n"}))
	if end := again.end(); end.State != completed || again.conv != k.conv {
		t.Fatalf("ended %+v in %s", end, again.conv)
	}
	call := again.items(event.ToolCall)[0]
	if f := call.Body.Tool.Files; len(f) != 1 || f[0].Change != "added" || f[0].Patch != "@@ -0,0 +1,1 @@\n+new\n" {
		t.Errorf("the write %+v", call.Body.Tool)
	}
	fork := b.open(provider.Spec{Resume: k.conv, Fork: true, Mode: provider.PlanOnly})
	if fork.send("/init be short"); fork.end().State != completed {
		t.Errorf("the command ended otherwise")
	}
	if fork.conv == k.conv || fork.conv == "" {
		t.Errorf("forked into %s", fork.conv)
	}
	for resume, cwd := range map[string]string{"ses_0000000000000000000000000000": b.dir, k.conv: t.TempDir()} {
		_, err := b.tryOpen(provider.Spec{Resume: resume, Cwd: cwd})
		var failed *provider.Error
		if !errors.As(err, &failed) || failed.Code != "not_resumable" {
			t.Errorf("%s in %s: %v", resume, cwd, err)
		}
	}
}

func TestAttachments(t *testing.T) {
	b := newBench(t)
	text, picture := b.file("a.txt", "attached text\n"), b.file("p.png", onePixel)
	k := b.open(provider.Spec{})
	const said = "  look <b>here</b>\n"
	k.send(said, provider.Attachment{Path: text, Name: "a.txt", Type: "text/plain; charset=utf-8", Size: 14},
		provider.Attachment{Path: picture, Name: "p.png", Type: "image/png", Size: int64(len(onePixel))})
	if end := k.end(); end.State != completed || k.streamed(event.Answer) != "You said: "+said {
		t.Errorf("ended %+v, said %q", end, k.streamed(event.Answer))
	}
	d, err := k.s.Send(t.Context(), provider.Input{Text: "x", Attachments: []provider.Attachment{{Path: b.dir + "/gone", Name: "gone"}}})
	var failed *provider.Error
	if d != provider.NotSent || !errors.As(err, &failed) || failed.Code != "attachment" {
		t.Errorf("a file that is gone: %v, %v", d, err)
	}
}

// onePixel is a PNG.
var onePixel = func() string {
	data, err := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
	if err != nil {
		panic(err)
	}
	return string(data)
}()
