package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/backend/event"
	"berth/backend/provider"
	"berth/test/modelserver"
)

// testCase is one thing that must hold for every agent that can do it.
type testCase struct {
	name string
	// needs is the capability; nil if every agent must hold it.
	needs func(provider.Capabilities) bool
	mode  provider.Permission // ask if empty
	// whole says that the case is also held through the whole program.
	whole bool
	run   func(t *testing.T, b *bench, k talk)
}

// needs of cases.
func approvals(c provider.Capabilities) bool    { return c.Approvals }
func questions(c provider.Capabilities) bool    { return c.Questions }
func thinking(c provider.Capabilities) bool     { return c.Thinking }
func resume(c provider.Capabilities) bool       { return c.Resume }
func fork(c provider.Capabilities) bool         { return c.Fork }
func steer(c provider.Capabilities) bool        { return c.Steer }
func interrupt(c provider.Capabilities) bool    { return c.Interrupt }
func images(c provider.Capabilities) bool       { return c.Images }
func attachments(c provider.Capabilities) bool  { return c.Files }
func plans(c provider.Capabilities) bool        { return c.Plans }
func subagents(c provider.Capabilities) bool    { return c.Subagents }
func commands(c provider.Capabilities) bool     { return c.Commands }
func instructions(c provider.Capabilities) bool { return c.Instructions }
func usage(c provider.Capabilities) bool        { return c.Usage }

// awkward is a user's text that a careless path changes: quotes, line ends,
// leading and trailing space, CJK, emoji, what looks like markup or a command.
const awkward = "  \"Hi\" 'there' \\n $HOME `x` <b>&amp;</b> [[ ]]\n\n\t你好，世界 👩🏽‍🚀 e\u0301\r\nlast line  \n"

var cases = []testCase{
	{name: "answer", whole: true, run: func(t *testing.T, b *bench, k talk) {
		k.send(awkward)
		wantState(t, k.ended(), "completed")
		if got, want := said(k.items(), event.Answer), "You said: "+awkward; got != want {
			t.Errorf("answer %q, want %q", got, want)
		}
		delivered(t, b, awkward)
	}},
	{name: "thinking", needs: thinking, run: func(t *testing.T, b *bench, k talk) {
		text := modelserver.Directive(modelserver.Step{Scenario: "thinking", Thought: "First 思考.", Text: "After a thought."})
		k.send(text)
		wantState(t, k.ended(), "completed")
		if got := said(k.items(), event.Thought); !strings.Contains(got, "First 思考.") {
			t.Errorf("thought %q", got)
		}
		if got := said(k.items(), event.Answer); got != "After a thought." {
			t.Errorf("answer %q", got)
		}
		delivered(t, b, text)
	}},
	{name: "tool allowed", whole: true, needs: approvals, run: func(t *testing.T, b *bench, k talk) {
		text := shell("echo made > made.txt && cat made.txt")
		k.send(text)
		r := k.asked(event.Approval)
		if !strings.Contains(r.body.Command+r.body.Title, "made.txt") {
			t.Errorf("the request does not show the command: %+v", r.body)
		}
		if exists(b, "made.txt") {
			t.Error("the tool ran before it was allowed")
		}
		k.decide(r, "", event.AllowOnce)
		wantState(t, k.ended(), "completed")
		if got := read(b, "made.txt"); got != "made\n" {
			t.Errorf("the file holds %q", got)
		}
		calls := tools(k.items(), event.ToolExecute)
		shown := b.agent.mute || len(calls) == 1 && strings.Contains(calls[0].Body.Tool.Output+calls[0].Text, "made")
		if len(calls) != 1 || calls[0].Status != event.Completed || !shown {
			t.Errorf("tool calls: %s", describe(calls))
		}
		result(t, b, text, "made")
		delivered(t, b, text)
	}},
	{name: "tool denied", whole: true, needs: approvals, run: func(t *testing.T, b *bench, k talk) {
		text := shell("echo made > made.txt")
		k.send(text)
		k.decide(k.asked(event.Approval), "not in this folder", event.RejectOnce)
		end := k.ended()
		if end.state != "completed" && end.state != "stopped" {
			t.Errorf("the turn ended %+v", end)
		}
		if exists(b, "made.txt") {
			t.Error("the tool ran although it was denied")
		}
		for _, c := range tools(k.items(), event.ToolExecute) {
			if c.Status == event.Completed || c.Status == event.InProgress || c.Status == event.Pending {
				t.Errorf("the denied tool call is %s", c.Status)
			}
		}
		k.send("And now?")
		wantState(t, k.ended(), "completed")
		delivered(t, b, text, "And now?")
	}},
	{name: "edit shown as a diff", whole: true, needs: approvals, run: func(t *testing.T, b *bench, k talk) {
		path := b.file("edit.txt", "one\ntwo\nthree\n")
		text := modelserver.Directive(modelserver.Step{Scenario: "read", Path: path}) +
			modelserver.Directive(modelserver.Step{Scenario: "edit", Path: path, Old: "two", New: "zwei"})
		k.send(text)
		end := k.allow()
		wantState(t, end, "completed")
		if got := read(b, "edit.txt"); got != "one\nzwei\nthree\n" {
			t.Errorf("the file holds %q", got)
		}
		shown := false
		for _, p := range patches(k.items()) {
			shown = shown || (filepath.Base(p.Path) == "edit.txt" && strings.Contains(p.Patch, "-two") && strings.Contains(p.Patch, "+zwei") && p.Added == 1 && p.Removed == 1)
		}
		if !shown {
			t.Errorf("no diff shows the edit: %s", describe(k.items()))
		}
		delivered(t, b, text)
	}},
	{name: "edits accepted without asking", needs: approvals, mode: provider.AcceptEdits, run: func(t *testing.T, b *bench, k talk) {
		text := modelserver.Directive(modelserver.Step{Scenario: "write", Path: filepath.Join(b.dir, "new.txt"), Content: "new\n"})
		k.send(text)
		wantState(t, k.ended(), "completed")
		if got := read(b, "new.txt"); got != "new\n" {
			t.Errorf("the file holds %q", got)
		}
	}},
	{name: "full access", mode: provider.Full, run: func(t *testing.T, b *bench, k talk) {
		k.send(shell("echo full > full.txt"))
		wantState(t, k.ended(), "completed")
		if got := read(b, "full.txt"); got != "full\n" {
			t.Errorf("the file holds %q", got)
		}
	}},
	{name: "question", whole: true, needs: questions, run: func(t *testing.T, b *bench, k talk) {
		text := modelserver.Directive(modelserver.Step{Scenario: "question", Question: "Which colour?", Options: []string{"Red", "Blue"}})
		k.send(text)
		r := k.asked(event.Question)
		q := r.body.Questions[0]
		if q.Text != "Which colour?" || len(q.Choices) < 2 || q.Choices[1].Label != "Blue" {
			t.Errorf("the question is %+v", q)
		}
		k.choose(r, q.Choices[1].Value)
		wantState(t, k.ended(), "completed")
		result(t, b, text, "Blue")
		delivered(t, b, text)
	}},
	{name: "parallel tools", mode: provider.Full, run: func(t *testing.T, b *bench, k talk) {
		text := modelserver.Directive(modelserver.Step{Scenario: "parallel", Calls: []modelserver.Step{
			{Scenario: "shell", Command: "echo first-one"}, {Scenario: "shell", Command: "echo second-one"},
		}})
		k.send(text)
		wantState(t, k.ended(), "completed")
		result(t, b, text, "first-one")
		result(t, b, text, "second-one")
		if calls := tools(k.items(), event.ToolExecute); len(calls) != 2 {
			t.Errorf("tool calls: %s", describe(calls))
		}
	}},
	{name: "plan", needs: plans, mode: provider.Full, run: func(t *testing.T, _ *bench, k talk) {
		k.send(modelserver.Directive(modelserver.Step{Scenario: "plan", Entries: []string{"look", "change", "test"}}))
		wantState(t, k.ended(), "completed")
		var last []event.PlanEntry
		for _, i := range k.items() {
			if i.Kind == event.Plan {
				last = i.Body.Plan
			}
		}
		want := []event.Status{event.Completed, event.InProgress, event.Pending}
		if len(last) != 3 || last[0].Text != "look" || last[0].Status != want[0] || last[1].Status != want[1] || last[2].Status != want[2] {
			t.Errorf("the plan is %+v", last)
		}
	}},
	{name: "sub-agent", needs: subagents, mode: provider.Full, run: func(t *testing.T, _ *bench, k talk) {
		// The parent waits for what the sub-agent makes: some agents go on
		// meanwhile.
		inner := shell("echo made > sub.txt")
		k.send(modelserver.Directive(modelserver.Step{Scenario: "subagent", Prompt: "Do this: " + inner}) +
			shell("until [ -e sub.txt ]; do sleep 0.1; done"))
		wantState(t, k.ended(), "completed")
		if len(tools(k.items(), event.ToolAgent)) == 0 {
			t.Errorf("no item shows the sub-agent: %s", describe(k.items()))
		}
		nested := false
		for _, i := range tools(k.items(), event.ToolExecute) {
			nested = nested || i.Parent != "" && strings.Contains(i.Body.Tool.Title+string(i.Body.Tool.Input), "sub.txt")
		}
		if !nested {
			t.Errorf("the sub-agent's tool call is not nested: %s", describe(k.items()))
		}
	}},
	{name: "commands", needs: commands, run: func(t *testing.T, _ *bench, k talk) {
		k.send("hello")
		wantState(t, k.ended(), "completed")
		if len(k.commands()) == 0 {
			t.Error("no commands were told")
		}
	}},
	{name: "instructions", needs: instructions, run: func(t *testing.T, b *bench, k talk) {
		k.send("hello")
		wantState(t, k.ended(), "completed")
		delivered(t, b, "hello")
		found := false
		for _, r := range modelserver.Turns(b.model.Requests()) {
			found = found || strings.Contains(string(r.Body), marker)
		}
		if !found {
			t.Error("the chat's instructions never reached the model")
		}
	}},
	{name: "usage", needs: usage, run: func(t *testing.T, _ *bench, k talk) {
		k.send("hello")
		wantState(t, k.ended(), "completed")
		u := k.usage()
		if u == nil || (u.ContextTokens == nil && u.InputTokens == nil && u.OutputTokens == nil) {
			t.Errorf("usage %+v", u)
		}
	}},
}

// marker stands in the instructions of every chat under test.
const marker = "Instruction marker 4711."

func shell(command string) string {
	return modelserver.Directive(modelserver.Step{Scenario: "shell", Command: command})
}

// delivered checks that each text reached the model once, byte for byte.
func delivered(t *testing.T, b *bench, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if err := b.model.DeliveredOnce(text); err != nil {
			t.Error(err)
		}
	}
}

// result checks that the model got a tool's result with that text in it.
func result(t *testing.T, b *bench, prompt, want string) {
	t.Helper()
	for _, r := range b.model.Requests() {
		if r.Prompt == prompt && strings.Contains(strings.Join(r.Results, "\n"), want) {
			return
		}
	}
	t.Errorf("no tool result with %q reached the model", want)
}

func exists(b *bench, name string) bool {
	_, err := os.Stat(filepath.Join(b.dir, name))
	return err == nil
}

func read(b *bench, name string) string {
	data, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil {
		return "nothing: " + err.Error()
	}
	return string(data)
}

// describe is a short form of items for messages.
func describe(items []item) string {
	var out strings.Builder
	for _, i := range items {
		fmt.Fprintf(&out, "\n  %s %s", i.Kind, i.Status)
		if i.Parent != "" {
			fmt.Fprintf(&out, " in %s", i.Parent)
		}
		if i.Body.Tool != nil {
			fmt.Fprintf(&out, " %s %q output %.80q files %d", i.Body.Tool.Kind, i.Body.Tool.Title, i.Body.Tool.Output, len(i.Body.Tool.Files))
		}
		fmt.Fprintf(&out, " %.120q", i.Text)
	}
	return out.String()
}
