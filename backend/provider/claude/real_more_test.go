package claude

import (
	"bytes"
	"encoding/json"
	"errors"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/backend/event"
	"berth/backend/provider"
	"berth/test/clis"
	"berth/test/modelserver"
)

func picture(t *testing.T, path string) {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewRGBA(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestRealAttachments(t *testing.T) {
	b := newBench(t)
	k := b.open(b.spec())
	outside := t.TempDir()
	pic, notes := filepath.Join(outside, "pic.png"), filepath.Join(outside, "notes.txt")
	picture(t, pic)
	if err := os.WriteFile(notes, []byte("the notes"), 0o600); err != nil {
		t.Fatal(err)
	}
	text := do(modelserver.Step{Scenario: "read", Path: notes})
	if _, err := k.Send(t.Context(), provider.Input{Turn: "turn_1", Text: text, Mode: provider.Ask, Attachments: []provider.Attachment{
		{Path: pic, Name: "pic.png", Type: "image/png", Size: 80}, {Path: notes, Name: "notes.txt", Type: "text/plain", Size: 9},
	}}); err != nil {
		t.Fatal(err)
	}
	k.until(0, "end", isEnd)
	b.delivered(text)
	first := modelserver.Turns(b.model.Requests())[0]
	if first.Images != 1 || !strings.Contains(strings.Join(first.Texts, "\n"), "- "+notes+" (\"notes.txt\", text/plain, 9 bytes)") {
		t.Errorf("%d images, texts %q", first.Images, first.Texts)
	}
	// The user gave the agent that file: reading it needs no further consent.
	calls := ofKind(k.events(), event.ToolCall)
	if len(calls) != 1 || !strings.Contains(calls[0].Body.Tool.Output, "the notes") {
		t.Errorf("calls: %s", tale(k.events()))
	}
}

func TestImageInAResult(t *testing.T) {
	play(t, func(b *bench) {
		t := b.t
		path := filepath.Join(b.cwd, "pic.png")
		picture(t, path)
		_, events := b.open(b.spec()).say("turn_1", do(modelserver.Step{Scenario: "read", Path: path}))
		calls := ofKind(events, event.ToolCall)
		if len(calls) != 1 || len(calls[0].Images) != 1 || calls[0].Images[0].Type != "image/png" || calls[0].Images[0].Name != "pic.png" || len(calls[0].Images[0].Data) == 0 {
			t.Errorf("calls: %s", tale(events))
		}
	})
}

func TestPlan(t *testing.T) {
	play(t, func(b *bench) {
		t := b.t
		_, events := b.open(b.spec()).say("turn_1", do(modelserver.Step{Scenario: "plan", Entries: []string{"one", "two", "three"}}))
		plans := ofKind(events, event.Plan)
		if len(plans) != 1 || len(plans[0].Body.Plan) != 3 || plans[0].Body.Plan[0].Status != event.Completed || plans[0].Body.Plan[1].Status != event.InProgress {
			t.Errorf("plan: %s", tale(events))
		}
		if calls := ofKind(events, event.ToolCall); len(calls) != 0 {
			t.Errorf("the plan tool has rows: %+v", calls)
		}
	}, "CLAUDE_CODE_ENABLE_TASKS=0", "ENABLE_TOOL_SEARCH=false")
}

func TestPlanMode(t *testing.T) {
	play(t, func(b *bench) {
		t := b.t
		spec := b.spec()
		spec.Mode = provider.PlanOnly
		k := b.open(spec)
		plan := func(turn string) (provider.Event, int) {
			from := len(k.events())
			if _, err := k.Send(t.Context(), provider.Input{Turn: turn, Mode: provider.PlanOnly, Text: do(modelserver.Step{Scenario: "call", Tool: "ExitPlanMode", Input: []byte(`{"plan":"# The plan"}`)})}); err != nil {
				t.Fatal(err)
			}
			return k.until(from, "request", isRequest)
		}
		e, n := plan("turn_1")
		if o := e.Request.Body.Options; e.Request.Kind != event.Approval || len(o) != 3 {
			t.Errorf("request: %+v", e.Request)
		}
		if err := k.Answer(t.Context(), e.Request.Key, provider.Answer{Option: "allow_once"}); err != nil {
			t.Fatal(err)
		}
		k.until(n, "end", isEnd)
		// The approval ended plan mode; a turn that is to plan again does so.
		e, n = plan("turn_2")
		if err := k.Answer(t.Context(), e.Request.Key, provider.Answer{Option: "reject_once", Reason: "More detail."}); err != nil {
			t.Fatal(err)
		}
		k.until(n, "end", isEnd)
	}, "ENABLE_TOOL_SEARCH=false")
}

func TestSubagentIsNested(t *testing.T) {
	play(t, func(b *bench) {
		t := b.t
		k := b.open(b.spec())
		_, events := k.say("turn_1", do(modelserver.Step{Scenario: "call", Tool: "Agent", Input: []byte(`{"description":"Look around","prompt":"` +
			strings.ReplaceAll(do(modelserver.Step{Scenario: "shell", Command: "echo below"}), `"`, `\"`) + `","subagent_type":"general-purpose","run_in_background":false}`)}))
		calls := ofKind(events, event.ToolCall)
		if len(calls) != 2 {
			t.Fatalf("calls: %s", tale(events))
		}
		agent, shell := calls[0], calls[1]
		if agent.Body.Tool.Kind != event.ToolAgent || agent.Body.Tool.Title != "Look around" || agent.Status != event.Completed {
			t.Errorf("agent: %+v", agent)
		}
		if shell.Parent != agent.Key || shell.Status != event.Completed {
			t.Errorf("shell: %+v", shell)
		}
		below := 0
		for _, a := range ofKind(events, event.Answer) {
			if a.Parent == agent.Key {
				below++
			}
		}
		if below == 0 || strings.Contains(agent.Body.Tool.Output, "hand-back") {
			t.Errorf("what the sub-agent said is missing, or wrapped: %s", tale(events))
		}
	})
}

// Work in the background outlives its turn; what the CLI says when it has
// ended belongs to no turn of ours and ends none.
func TestBackgroundWork(t *testing.T) {
	play(t, func(b *bench) {
		t := b.t
		k := b.open(b.spec())
		k.send("turn_1", do(modelserver.Step{Scenario: "call", Tool: "Bash", Input: []byte(`{"command":"touch begun; while [ ! -e go ]; do sleep 0.05; done","description":"Wait","run_in_background":true}`)}))
		e, n := k.until(0, "request", isRequest)
		if err := k.Answer(t.Context(), e.Request.Key, provider.Answer{Option: "allow_once"}); err != nil {
			t.Fatal(err)
		}
		_, n = k.until(n, "end", isEnd)
		var running []provider.BackgroundTask
		for _, e := range k.events()[:n] {
			if e.Background != nil {
				running = *e.Background
			}
		}
		if len(running) != 1 || running[0].Kind != "shell" || running[0].Title != "Wait" {
			t.Errorf("background: %+v", running)
		}
		if calls := ofKind(k.events()[:n], event.ToolCall); len(calls) != 1 || !calls[0].Body.Tool.Background || calls[0].Status != event.InProgress {
			t.Errorf("calls: %+v", calls)
		}
		b.write("go", "")
		_, n = k.until(n, "end of the call", func(e provider.Event) bool {
			return e.Item != nil && e.Item.Kind == event.ToolCall && e.Item.Status == event.Completed
		})
		_, n = k.until(n, "the CLI's own words", func(e provider.Event) bool { return e.Item != nil && e.Item.Kind == event.Answer })
		if end, events := k.say("turn_2", "and now?"); end.State != "completed" {
			t.Errorf("next: %s", tale(events))
		}
		ends := 0
		for _, e := range k.events()[n:] {
			if e.TurnEnded != nil {
				ends++
			}
		}
		if ends != 1 {
			t.Errorf("%d ends for one turn: %s", ends, k.story(n))
		}
	})
}

func TestSettingsPerTurn(t *testing.T) {
	play(t, func(b *bench) {
		t := b.t
		k := b.open(b.spec())
		ask := func(in provider.Input, model, effort string) {
			t.Helper()
			from := len(k.events())
			if d, err := k.Send(t.Context(), in); err != nil || d != provider.Sent {
				t.Fatalf("%v %v", d, err)
			}
			k.until(from, "end", isEnd)
			if !b.real() {
				return
			}
			turns := modelserver.Turns(b.model.Requests())
			var body struct {
				Model  string `json:"model"`
				Output struct {
					Effort string `json:"effort"`
				} `json:"output_config"`
			}
			if err := json.Unmarshal(turns[len(turns)-1].Body, &body); err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(body.Model, model) || effort != "" && body.Output.Effort != effort || effort == "" && body.Output.Effort == "high" {
				t.Errorf("%s: %+v", in.Turn, body)
			}
		}
		ask(provider.Input{Turn: "turn_1", Text: "a", Model: "sonnet", Effort: "low", Mode: provider.Ask}, "claude-sonnet", "low")
		ask(provider.Input{Turn: "turn_2", Text: "b", Effort: "high", Mode: provider.Ask}, "claude-opus", "high")
		ask(provider.Input{Turn: "turn_3", Text: do(modelserver.Step{Scenario: "write", Path: filepath.Join(b.cwd, "w"), Content: "x"}), Mode: provider.AcceptEdits}, "claude-opus", "")
		b.made("w") // without asking
		if d, err := k.Send(t.Context(), provider.Input{Turn: "turn_4", Text: "c", Mode: provider.Full}); d != provider.NotSent || !errors.Is(err, provider.ErrReopen) {
			t.Errorf("full: %v %v", d, err)
		}
	})
}

func TestRealFullMode(t *testing.T) {
	b := newBench(t)
	spec := b.spec()
	spec.Mode = provider.Full
	if os.Geteuid() == 0 {
		var e *provider.Error
		if _, err := New().Open(t.Context(), b.host, spec); !errors.As(err, &e) || e.Code != "root_bypass" {
			t.Errorf("as root, without the choice: %v", err)
		}
		spec.RootBypass = true
	}
	k := b.open(spec)
	if _, err := k.Send(t.Context(), provider.Input{Turn: "turn_1", Text: do(modelserver.Step{Scenario: "shell", Command: "touch made"}), Mode: provider.Full}); err != nil {
		t.Fatal(err)
	}
	k.until(0, "end", isEnd)
	b.made("made")
}

func TestCommandsAnswerWithoutTheModel(t *testing.T) {
	play(t, func(b *bench) {
		t := b.t
		k := b.open(b.spec())
		if end, events := k.say("turn_1", "/cost"); end.State != "completed" || len(ofKind(events, event.Answer)) != 1 {
			t.Errorf("/cost: %+v %s", end, tale(events))
		}
		k.say("turn_2", "something to compact")
		end, events := k.say("turn_3", "/compact")
		if end.State != "completed" {
			t.Errorf("/compact: %+v %+v", end, end.Err)
		}
		if n := ofKind(events, event.Notice); len(n) != 1 || n[0].Body.Notice.Code != "compacted" {
			t.Errorf("notices: %s", tale(events))
		}
	})
}

func TestRealDescribe(t *testing.T) {
	b := newBench(t)
	version, err := clis.Pinned("claude")
	if err != nil {
		t.Fatal(err)
	}
	describe := func() provider.Description { // again where the machine was too busy to tell in time
		for range 5 {
			if d := New().Describe(t.Context(), b.host); d.Status != provider.Unknown && d.Message == "" || d.Status == provider.Unauthenticated || d.Status == provider.Missing {
				return d
			}
		}
		return provider.Description{}
	}
	d := describe()
	if d.Status != provider.Ready || d.Version != version || d.Account != "API key" || d.Executable != b.host.Executable {
		t.Errorf("signed in: %+v", d)
	}
	if len(d.Models) < 3 || d.Models[0].Value != "" || len(d.Models[0].Efforts) == 0 {
		t.Errorf("models: %+v", d.Models)
	}
	if n := len(b.model.Requests()); n != 0 {
		t.Errorf("looking made %d requests", n)
	}
	var without []string
	for _, v := range b.host.Env {
		if !strings.HasPrefix(v, "ANTHROPIC_API_KEY=") {
			without = append(without, v)
		}
	}
	b.host.Env = append(without, "ANTHROPIC_API_KEY=", "ANTHROPIC_AUTH_TOKEN=")
	if d := describe(); d.Status != provider.Unauthenticated || len(d.Login) != 3 {
		t.Errorf("signed out: %+v", d)
	}
	b.host.Executable = filepath.Join(b.home, "nothing")
	if d := describe(); d.Status != provider.Missing || len(d.Install) == 0 {
		t.Errorf("missing: %+v", d)
	}
}
