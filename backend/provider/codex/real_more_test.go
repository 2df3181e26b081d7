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
