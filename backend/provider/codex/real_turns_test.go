package codex

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/backend/event"
	"berth/backend/provider"
	"berth/test/modelserver"
)

func TestRealAnswer(t *testing.T) {
	b := newBench(t)
	k := b.open(provider.Spec{})
	k.send(step(modelserver.Step{Scenario: "thinking", Thought: "First 思考.", Text: "Then an answer."}))
	k.wantEnd("completed", "")
	if got := k.said(event.Thought); !strings.Contains(got, "First 思考.") {
		t.Errorf("thought %q", got)
	}
	if got := k.said(event.Answer); got != "Then an answer." {
		t.Errorf("answer %q", got)
	}
	if k.thread == "" {
		t.Error("the conversation's id was not told")
	}
	b.fixture("answer", k)
}

func TestRealCommandAllowedAndDenied(t *testing.T) {
	b := newBench(t)
	k := b.open(provider.Spec{Mode: provider.Ask})
	k.send(step(modelserver.Step{Scenario: "shell", Command: "echo one > one.txt; echo printed"}) +
		step(modelserver.Step{Scenario: "shell", Command: "echo two > two.txt"}))
	r := k.asked()
	if r.Kind != event.Approval || r.Body.Command != "echo one > one.txt; echo printed" || r.Tool == "" {
		t.Errorf("the request is %+v", r)
	}
	var kinds []event.OptionKind
	for _, o := range r.Body.Options {
		kinds = append(kinds, o.Kind)
	}
	if want := []event.OptionKind{event.AllowOnce, event.AllowAlways, event.RejectOnce, event.RejectOnce}; !slices.Equal(kinds, want) {
		t.Errorf("options %v, want %v", kinds, want)
	}
	k.decide(r, event.AllowOnce)
	k.answer(k.asked(), provider.Answer{Option: decline, Reason: "Not in this folder."})
	k.wantEnd("completed", "")
	if got := b.read("one.txt"); got != "one\n" {
		t.Errorf("what was allowed: %q", got)
	}
	if got := b.read("two.txt"); !strings.HasPrefix(got, "nothing") {
		t.Errorf("what was denied was done: %q", got)
	}
	calls := k.tools(event.ToolExecute)
	if len(calls) != 2 || calls[0].Body.Tool.Output != "printed\n" || calls[1].Status != event.Failed {
		t.Errorf("calls:%s", tale(k.events))
	}
	heard := false
	for _, r := range modelserver.Turns(b.model.Requests()) {
		heard = heard || slices.Contains(r.Texts, "Not in this folder.")
	}
	if !heard {
		t.Error("the reason for the refusal did not reach the model")
	}
	b.fixture("approvals", k)
}

func TestRealCancelStopsTheTurn(t *testing.T) {
	b := newBench(t)
	k := b.open(provider.Spec{Mode: provider.Ask})
	k.send(step(modelserver.Step{Scenario: "shell", Command: "echo one > one.txt"}))
	k.answer(k.asked(), provider.Answer{Option: cancel})
	k.wantEnd("stopped", "")
	if got := b.read("one.txt"); !strings.HasPrefix(got, "nothing") {
		t.Errorf("what was denied was done: %q", got)
	}
}

func TestRealAlwaysAllowed(t *testing.T) {
	b := newBench(t)
	k := b.open(provider.Spec{Mode: provider.Ask})
	k.send(step(modelserver.Step{Scenario: "shell", Command: "touch same.txt"}) + step(modelserver.Step{Scenario: "shell", Command: "touch same.txt"}))
	r := k.asked()
	k.decide(r, event.AllowAlways)
	k.wantEnd("completed", "") // the second one is not asked about
	if len(k.tools(event.ToolExecute)) != 2 {
		t.Errorf("calls:%s", tale(k.events))
	}
}

func TestRealEdits(t *testing.T) {
	b := newBench(t)
	if err := os.WriteFile(filepath.Join(b.cwd, "old.txt"), []byte("one\ntwo\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	patch := func(text string) string {
		return step(modelserver.Step{Scenario: "call", Tool: "apply_patch", Input: mustJSON("*** Begin Patch\n" + text + "*** End Patch")})
	}
	k := b.open(provider.Spec{Mode: provider.Ask})
	k.send(patch("*** Add File: new.txt\n+first\n+second\n") + patch("*** Update File: old.txt\n*** Move to: moved.txt\n@@\n one\n-two\n+zwei\n") +
		patch("*** Delete File: new.txt\n"))
	for range 3 {
		r := k.asked()
		if len(r.Body.Files) != 1 || r.Body.Files[0].Patch == "" {
			t.Errorf("the request does not show the edit: %+v", r.Body)
		}
		k.decide(r, event.AllowOnce)
	}
	k.wantEnd("completed", "")
	if got := b.read("moved.txt"); got != "one\nzwei\n" {
		t.Errorf("the moved file holds %q", got)
	}
	want := []event.FileDiff{
		{Path: "new.txt", Change: "added", Added: 2, Patch: "@@ -0,0 +1,2 @@\n+first\n+second\n"},
		{Path: "moved.txt", OldPath: "old.txt", Change: "renamed", Added: 1, Removed: 1, Patch: "@@ -1,2 +1,2 @@\n one\n-two\n+zwei\n"},
		{Path: "new.txt", Change: "deleted", Removed: 2, Patch: "@@ -1,2 +0,0 @@\n-first\n-second\n"},
	}
	var got []event.FileDiff
	for _, i := range k.items {
		if i.Body.Tool != nil {
			got = append(got, i.Body.Tool.Files...)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("diffs\n%+v, want\n%+v", got, want)
	}
	b.fixture("edits", k)
}

func TestRealQuestionInPlanMode(t *testing.T) {
	b := newBench(t)
	k := b.open(provider.Spec{Mode: provider.PlanOnly})
	k.send(step(modelserver.Step{Scenario: "question", Question: "Which colour?", Options: []string{"Red", "Blue"}}))
	r := k.asked()
	if r.Kind != event.Question || len(r.Body.Questions) != 1 || !r.Body.Questions[0].FreeText || len(r.Body.Questions[0].Choices) != 2 {
		t.Fatalf("the question is %+v", r)
	}
	k.answer(r, provider.Answer{Answers: map[string][]string{r.Body.Questions[0].ID: {"Green"}}})
	k.wantEnd("completed", "")
	if got := k.said(event.Answer); !strings.Contains(got, "Green") {
		t.Errorf("the answer %q does not know what was chosen", got)
	}
	b.fixture("question", k)
	k.mode = provider.Ask
	k.send("And out of plan mode?")
	k.wantEnd("completed", "")
	requests := modelserver.Turns(b.model.Requests())
	if body := string(requests[len(requests)-1].Body); !strings.Contains(body, "You are now in Default mode") {
		t.Error("the way out of plan mode was not told")
	}
}

func TestRealPlanAndProposal(t *testing.T) {
	b := newBench(t)
	k := b.open(provider.Spec{})
	k.send(step(modelserver.Step{Scenario: "plan", Entries: []string{"look", "change", "test"}}))
	k.wantEnd("completed", "")
	k.mode = provider.PlanOnly
	k.send(step(modelserver.Step{Scenario: "text", Text: "<proposed_plan>\n# Plan\n- do it\n</proposed_plan>\n"}))
	k.wantEnd("completed", "")
	if got := k.said(event.Answer); !strings.Contains(got, "# Plan\n- do it\n") || strings.Contains(got, "proposed_plan") {
		t.Errorf("the proposal is %q", got)
	}
	b.fixture("plan", k)
}

func TestRealInterruptEndsTheCommand(t *testing.T) {
	b := newBench(t)
	k := b.open(provider.Spec{})
	k.send(step(modelserver.Step{Scenario: "shell", Command: "echo begun; sleep 300; echo over > over.txt"}))
	k.until("the running command", func(e provider.Event) bool { return e.Item != nil && e.Item.Body.Tool != nil })
	ctx := t.Context()
	if err := k.s.Interrupt(ctx); err != nil {
		t.Fatal(err)
	}
	k.wantEnd("stopped", "")
	call := k.tools(event.ToolExecute)[0]
	if call.Status != event.Cancelled || call.Body.Tool.Background {
		t.Errorf("the command is %s", call.Status)
	}
	// Its last word comes after the turn's, and shows that it is dead.
	k.until("the command's end", func(e provider.Event) bool {
		return e.Item != nil && e.Item.Key == call.Key && strings.Contains(e.Item.Body.Tool.Output, "begun")
	})
	if call.Status != event.Cancelled || call.Body.Tool.ExitCode != nil {
		t.Errorf("the command that was ended is %s, exit code %v", call.Status, call.Body.Tool.ExitCode)
	}
	b.fixture("interrupt", k)
	k.send("Still there?")
	k.wantEnd("completed", "")
}

func TestRealCommandThatOutlivesItsTurn(t *testing.T) {
	b := newBench(t)
	k := b.open(provider.Spec{})
	k.send(step(modelserver.Step{Scenario: "call", Tool: "exec_command", Input: mustJSON(map[string]any{
		"cmd": "until [ -e stop.txt ]; do sleep 0.1; done; echo over", "yield_time_ms": 300,
	})}))
	k.wantEnd("completed", "")
	call := k.tools(event.ToolExecute)[0]
	if call.Status != event.InProgress || !call.Body.Tool.Background {
		t.Errorf("the command is %s, background %t", call.Status, call.Body.Tool.Background)
	}
	if !slices.ContainsFunc(k.events, func(e provider.Event) bool { return e.Background != nil && len(*e.Background) == 1 }) {
		t.Errorf("the work in the background was not told:%s", tale(k.events))
	}
	if err := os.WriteFile(filepath.Join(b.cwd, "stop.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	k.until("the end of the work in the background", func(e provider.Event) bool { return e.Background != nil && len(*e.Background) == 0 })
	if call.Status != event.Completed || call.Body.Tool.Output != "over\n" {
		t.Errorf("the command is %s, output %q", call.Status, call.Body.Tool.Output)
	}
	b.fixture("background", k)
}

func TestRealFailures(t *testing.T) {
	soon := 1
	cases := []struct {
		name, state, code string
		step              modelserver.Step
		retries           bool
	}{
		{"429 then success", "completed", "", modelserver.Step{Scenario: "status", Code: 429, RetryAfter: &soon}, true},
		{"always 401", "failed", "signed_out", modelserver.Step{Scenario: "status", Code: 401, Times: -1}, true},
		{"always 400", "failed", "failed", modelserver.Step{Scenario: "status", Code: 400, Times: -1}, false},
		{"cut, then success", "completed", "", modelserver.Step{Scenario: "cut", Text: "The first half of an answer that breaks off."}, true},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t)
			k := b.open(provider.Spec{})
			k.send("Try. " + step(tc.step))
			end := k.wantEnd(tc.state, tc.code)
			if end.Err != nil && (end.Err.Text == "" || end.Err.Detail == "") {
				t.Errorf("a failure without words: %+v", end.Err)
			}
			if tc.retries && len(k.notices()) == 0 {
				t.Errorf("the new try was not told:%s", tale(k.events))
			}
			b.fixture("failure-"+strings.ReplaceAll(strings.ReplaceAll(tc.name, ",", ""), " ", "-"), k)
		})
	}
}

func TestRealSubAgent(t *testing.T) {
	b := newBench(t)
	k := b.open(provider.Spec{Mode: provider.Ask})
	k.send(step(modelserver.Step{Scenario: "subagent", Prompt: "Do this: " + step(modelserver.Step{Scenario: "shell", Command: "touch sub.txt"})}))
	r := k.asked() // the sub-agent asks
	agents := k.tools(event.ToolAgent)
	if len(agents) != 1 || agents[0].Body.Tool.Title != "part" {
		t.Fatalf("the sub-agent is not shown:%s", tale(k.events))
	}
	k.decide(r, event.AllowOnce)
	k.until("the sub-agent's end", func(e provider.Event) bool {
		return e.Item != nil && e.Item.Key == agents[0].Key && e.Item.Status == event.Completed
	})
	if !strings.Contains(agents[0].Body.Tool.Output, "You said") && agents[0].Body.Tool.Output == "" {
		t.Errorf("the sub-agent's answer is %q", agents[0].Body.Tool.Output)
	}
	nested := k.tools(event.ToolExecute)
	if len(nested) != 1 || nested[0].Parent != agents[0].Key || r.Tool != nested[0].Key {
		t.Errorf("the sub-agent's command is not nested:%s", tale(k.events))
	}
	b.fixture("subagent", k)
}

// TestRealMCP: a tool of an MCP server that must be allowed, and one that asks
// the user.
func TestRealMCP(t *testing.T) {
	b := newBench(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	config, err := os.OpenFile(filepath.Join(b.home, ".codex", "config.toml"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = fmt.Fprintf(config, "[mcp_servers.toy]\ncommand = %q\nenv = { %s = \"mcp\" }\n", self, fakeEnv)
	if err := errors.Join(err, config.Close()); err != nil {
		t.Fatal(err)
	}
	k := b.open(provider.Spec{Mode: provider.Ask})
	call := func(tool string) string {
		return step(modelserver.Step{Scenario: "call", Tool: tool, Input: mustJSON(struct{}{})})
	}
	in := k.input(call("drop") + call("drop") + call("ask"))
	in.Model = "scripted" // models that Codex knows have to search for such tools first
	k.sendInput(in)
	r := k.asked()
	calls := k.tools(event.ToolOther)
	if r.Kind != event.Approval || len(r.Body.Options) != 4 || len(calls) != 1 || r.Tool != calls[0].Key || calls[0].Body.Tool.Name != "toy/drop" {
		t.Errorf("the request is %+v;%s", r, tale(k.events))
	}
	k.decide(r, event.AllowSession) // the second call is not asked about
	r = k.asked()
	if r.Kind != event.Question || r.Body.Title != "Which table?" {
		t.Fatalf("the question is %+v", r)
	}
	k.answer(r, provider.Answer{Answers: map[string][]string{"table": {"users"}}})
	k.wantEnd("completed", "")
	calls = k.tools(event.ToolOther)
	if len(calls) != 3 || calls[1].Body.Tool.Output != "dropped" || !strings.Contains(calls[2].Body.Tool.Output, "users") {
		t.Errorf("calls:%s", tale(k.events))
	}
	b.fixture("mcp", k)
}

// TestRealInterruptReachesSubAgents: what a sub-agent runs is ended, too.
func TestRealInterruptReachesSubAgents(t *testing.T) {
	b := newBench(t)
	k := b.open(provider.Spec{})
	k.send(step(modelserver.Step{Scenario: "subagent", Prompt: "Do this: " + step(modelserver.Step{Scenario: "shell", Command: "echo begun; sleep 300"})}) +
		step(modelserver.Step{Scenario: "shell", Command: "echo begun; sleep 299"}))
	for len(k.tools(event.ToolExecute)) < 2 {
		k.until("a running command", func(e provider.Event) bool { return e.Item != nil && e.Item.Body.Tool != nil })
	}
	if err := k.s.Interrupt(t.Context()); err != nil {
		t.Fatal(err)
	}
	k.wantEnd("stopped", "")
	over := func() bool {
		for _, i := range k.items {
			if i.Body.Tool != nil && (i.Status != event.Cancelled || i.Body.Tool.Kind == event.ToolExecute && i.Body.Tool.Output == "") {
				return false
			}
		}
		return true
	}
	for !over() {
		k.until("the end of all work", func(e provider.Event) bool { return e.Item != nil })
	}
}

func TestRealSkill(t *testing.T) {
	b := newBench(t)
	dir := filepath.Join(b.home, ".codex", "skills", "greet")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte("---\nname: greet\ndescription: Says hello\n---\nSay hello in French, marker 0815.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	k := b.open(provider.Spec{})
	commands := *k.until("the commands", func(e provider.Event) bool { return e.Commands != nil }).Commands
	if !slices.ContainsFunc(commands, func(c provider.Command) bool {
		return c.Name == "greet" && c.Kind == "skill" && c.Description == "Says hello"
	}) {
		t.Errorf("commands %+v", commands)
	}
	k.send("/greet the user")
	k.wantEnd("completed", "")
	if err := b.model.DeliveredOnce("/greet the user"); err != nil {
		t.Error(err)
	}
	if body := string(modelserver.Turns(b.model.Requests())[0].Body); !strings.Contains(body, "marker 0815") {
		t.Error("the skill did not reach the model")
	}
}

func TestRealAttachments(t *testing.T) {
	b := newBench(t)
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	dot, notes := filepath.Join(b.home, "dot.png"), filepath.Join(b.home, "notes of today.txt")
	if err := os.WriteFile(dot, picture.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(notes, []byte("milk\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	k := b.open(provider.Spec{})
	k.send("What is this?", dot, notes)
	k.wantEnd("completed", "")
	r := modelserver.Turns(b.model.Requests())[0]
	if r.Images != 1 || !slices.Contains(r.Texts, "What is this?") || !strings.Contains(strings.Join(r.Texts, "\n"), notes) {
		t.Errorf("%d images, texts %q", r.Images, r.Texts)
	}
}

func TestRealSteer(t *testing.T) {
	b := newBench(t)
	k := b.open(provider.Spec{})
	k.send(step(modelserver.Step{Scenario: "slow", Words: 40, MS: 50}))
	k.until("a word", func(e provider.Event) bool { return e.Text != nil })
	in := k.input("Steered.")
	if d, err := k.s.Steer(t.Context(), in); err != nil || d != provider.Sent {
		t.Fatalf("steer: delivery %d, %v", d, err)
	}
	k.wantEnd("completed", "")
	if !slices.ContainsFunc(k.events, func(e provider.Event) bool {
		return e.Accepted != nil && e.Accepted.Turn == in.Turn && e.Accepted.Steered
	}) {
		t.Errorf("the steered message was not told as accepted:%s", tale(k.events))
	}
	if err := b.model.DeliveredOnce("Steered."); err != nil {
		t.Error(err)
	}
	if d, err := k.s.Steer(t.Context(), k.input("Too late.")); err == nil || d != provider.NotSent {
		t.Errorf("steering without a turn: delivery %d, %v", d, err)
	}
	b.fixture("steer", k)
}

func TestRealModelAndEffortOfATurn(t *testing.T) {
	b := newBench(t)
	k := b.open(provider.Spec{})
	for _, in := range []provider.Input{
		{Turn: "turn_1", Text: "One.", Mode: provider.Full},
		{Turn: "turn_2", Text: "Two.", Mode: provider.Full, Model: "gpt-5.6-luna", Effort: "high"},
		{Turn: "turn_3", Text: "Three.", Mode: provider.Full},
	} {
		k.sendInput(in)
		k.wantEnd("completed", "")
	}
	var got []string
	for _, r := range modelserver.Turns(b.model.Requests()) {
		if !strings.HasSuffix(r.Prompt, ".") || len(r.Prompt) > len("Three.") {
			continue // Codex summarises a conversation that changes its model
		}
		effort := "other"
		if strings.Contains(string(r.Body), `"effort":"high"`) {
			effort = "high"
		}
		got = append(got, r.Model+" "+effort)
	}
	if want := []string{"gpt-5.5 other", "gpt-5.6-luna high", "gpt-5.5 other"}; !slices.Equal(got, want) {
		t.Errorf("models and efforts %v, want %v", got, want)
	}
	if !slices.Contains(k.notices(), "compacted") {
		t.Errorf("that the conversation was summarised was not told:%s", tale(k.events))
	}
	b.fixture("compaction", k)
}

func TestRealTwoChatsInOneProcess(t *testing.T) {
	b := newBench(t)
	one, two := b.open(provider.Spec{}), b.open(provider.Spec{})
	if n := len(b.host.Processes.List()); n != 1 {
		t.Errorf("%d processes", n)
	}
	slow := func(name string) string {
		return name + step(modelserver.Step{Scenario: "slow", Words: 10, MS: 30})
	}
	one.send(slow("a"))
	two.send(slow("b"))
	one.wantEnd("completed", "")
	two.wantEnd("completed", "")
	for _, k := range []*talk{one, two} {
		if got := k.said(event.Answer); strings.Count(got, "word0001") != 1 || !strings.Contains(got, "word0010") {
			t.Errorf("answer %q", got)
		}
	}
}

func TestRealInstructions(t *testing.T) {
	b := newBench(t)
	k := b.open(provider.Spec{Instructions: "First marker 11."})
	k.send("One.")
	k.wantEnd("completed", "")
	thread := k.thread
	heard := func(marker string) int {
		requests := modelserver.Turns(b.model.Requests())
		return strings.Count(string(requests[len(requests)-1].Body), marker)
	}
	for _, tc := range []struct {
		instructions, marker string
		times                int
	}{
		{"First marker 11.", "First marker 11.", 1},   // not twice
		{"Second marker 22.", "Second marker 22.", 1}, // told at once
		{"", withdrawn, 1},
		{"", withdrawn, 1},
	} {
		k.close()
		k = b.open(provider.Spec{Instructions: tc.instructions, Resume: thread})
		k.send("More.")
		k.wantEnd("completed", "")
		if n := heard(tc.marker); n != tc.times {
			t.Errorf("%q: %q was told %d times, want %d", tc.instructions, tc.marker, n, tc.times)
		}
	}
}

func TestRealProcessEndsWhenUnused(t *testing.T) {
	b := newBench(t)
	clock := &skipping{}
	b.host.Clock = clock
	k := b.open(provider.Spec{})
	k.close()
	proc := b.host.Processes.List()
	if len(proc) != 1 {
		t.Fatalf("%d processes", len(proc))
	}
	clock.skip(idleAfter)
	ctx := t.Context()
	for len(b.host.Processes.List()) > 0 {
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			t.Fatal("the process was not ended")
		}
	}
}
