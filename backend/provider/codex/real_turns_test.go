package codex

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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
