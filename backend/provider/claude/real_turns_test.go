package claude

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/backend/event"
	"berth/backend/provider"
	"berth/test/modelserver"
)

func TestThinkingIsApartFromTheAnswer(t *testing.T) {
	play(t, func(b *bench) {
		t := b.t
		end, events := b.open(b.spec()).say("turn_1", do(modelserver.Step{Scenario: "thinking", Thought: "First, think.", Text: "Then, speak."}))
		thoughts, answers := ofKind(events, event.Thought), ofKind(events, event.Answer)
		if end.State != "completed" || len(thoughts) != 1 || len(answers) != 1 {
			t.Fatalf("%+v: %s", end, tale(events))
		}
		if thoughts[0].Body.Text != "First, think." || answers[0].Body.Text != "Then, speak." || thoughts[0].Status != event.Completed {
			t.Errorf("%+v %+v", thoughts[0], answers[0])
		}
	})
}

func TestToolAllowed(t *testing.T) {
	play(t, func(b *bench) {
		t := b.t
		k := b.open(b.spec())
		k.send("turn_1", do(modelserver.Step{Scenario: "shell", Text: "I run it.", Command: "touch made && echo out && exit 3"}))
		e, n := k.until(0, "request", isRequest)
		r := e.Request
		if r.Kind != event.Approval || r.Body.Command != "touch made && echo out && exit 3" || r.Body.Cwd != b.cwd || r.Body.ToolKind != event.ToolExecute {
			t.Errorf("request: %+v", r)
		}
		var kinds []event.OptionKind
		for _, o := range r.Body.Options {
			kinds = append(kinds, o.Kind)
		}
		if kinds[0] != event.AllowOnce || kinds[len(kinds)-1] != event.RejectOnce || !r.Body.Options[len(kinds)-1].Reason {
			t.Errorf("options: %+v", r.Body.Options)
		}
		if err := k.Answer(t.Context(), r.Key, provider.Answer{Option: "allow_once"}); err != nil {
			t.Fatal(err)
		}
		if err := k.Answer(t.Context(), r.Key, provider.Answer{Option: "allow_once"}); !errors.Is(err, provider.ErrNoRequest) {
			t.Errorf("a second answer: %v", err)
		}
		_, to := k.until(n, "end", isEnd)
		calls := ofKind(k.events()[:to], event.ToolCall)
		if len(calls) != 1 || calls[0].Key != r.Tool || calls[0].Status != event.Failed {
			t.Fatalf("calls: %s", tale(k.events()))
		}
		tool := calls[0].Body.Tool
		if tool.Kind != event.ToolExecute || tool.Name != "Bash" || tool.ExitCode == nil || *tool.ExitCode != 3 || !strings.Contains(tool.Output, "out") {
			t.Errorf("tool: %+v", tool)
		}
		answers := ofKind(k.events()[:to], event.Answer)
		if len(answers) != 2 || !answers[0].Body.Commentary || answers[1].Body.Commentary {
			t.Errorf("answers: %+v", answers)
		}
		b.made("made")
	})
}

func TestAlwaysAllowed(t *testing.T) {
	play(t, func(b *bench) {
		t := b.t
		k := b.open(b.spec())
		k.send("turn_1", do(modelserver.Step{Scenario: "shell", Command: "touch first"}))
		e, n := k.until(0, "request", isRequest)
		if err := k.Answer(t.Context(), e.Request.Key, provider.Answer{Option: "allow_always"}); err != nil {
			t.Fatalf("%v: %+v", err, e.Request.Body.Options)
		}
		k.until(n, "end", isEnd)
		if _, events := k.say("turn_2", do(modelserver.Step{Scenario: "shell", Command: "touch first"})); len(ofKind(events, event.ToolCall)) != 1 {
			t.Errorf("asked again: %s", tale(events))
		}
		b.made(filepath.Join(".claude", "settings.local.json"))
	})
}

func TestToolDeniedWithReason(t *testing.T) {
	play(t, func(b *bench) {
		t := b.t
		k := b.open(b.spec())
		k.send("turn_1", do(modelserver.Step{Scenario: "write", Path: filepath.Join(b.cwd, "new.txt"), Content: "a\nb\n"}))
		e, n := k.until(0, "request", isRequest)
		if f := e.Request.Body.Files; len(f) != 1 || f[0].Change != "added" || f[0].Patch != "@@ -0,0 +1,2 @@\n+a\n+b\n" {
			t.Errorf("proposed: %+v", f)
		}
		if err := k.Answer(t.Context(), e.Request.Key, provider.Answer{Option: "reject_once", Reason: "Not this file."}); err != nil {
			t.Fatal(err)
		}
		end, _ := k.until(n, "end", isEnd)
		if end.TurnEnded.State != "completed" {
			t.Errorf("end: %+v", end.TurnEnded)
		}
		calls := ofKind(k.events(), event.ToolCall)
		if len(calls) != 1 || calls[0].Status != event.Failed || calls[0].Body.Tool.Error != "Not this file." {
			t.Errorf("calls: %+v", calls)
		}
		if _, err := os.Stat(filepath.Join(b.cwd, "new.txt")); err == nil {
			t.Error("the file was written")
		}
		b.got("Not this file.")
	})
}

func TestEditIsADiff(t *testing.T) {
	play(t, func(b *bench) {
		t := b.t
		path := b.write("a.txt", "one\ntwo\nthree\n")
		k := b.open(b.spec())
		k.send("turn_1", do(modelserver.Step{Scenario: "read", Path: path}, modelserver.Step{Scenario: "edit", Path: path, Old: "two", New: "TWO\n2"}))
		e, n := k.until(0, "request", isRequest)
		want := "@@ -1,3 +1,4 @@\n one\n-two\n+TWO\n+2\n three\n"
		if f := e.Request.Body.Files; len(f) != 1 || f[0].Patch != want || e.Request.Body.Title != "Edit a.txt" {
			t.Errorf("proposed: %+v", e.Request.Body)
		}
		if err := k.Answer(t.Context(), e.Request.Key, provider.Answer{Option: "allow_session"}); err != nil {
			t.Fatal(err)
		}
		k.until(n, "end", isEnd)
		calls := ofKind(k.events(), event.ToolCall)
		if len(calls) != 2 {
			t.Fatalf("calls: %s", tale(k.events()))
		}
		read, edit := calls[0].Body.Tool, calls[1].Body.Tool
		if read.Kind != event.ToolRead || read.Title != path || len(read.Locations) != 1 {
			t.Errorf("read: %+v", read)
		}
		if len(edit.Files) != 1 || edit.Files[0].Patch != want || edit.Files[0].Added != 2 || edit.Files[0].Removed != 1 || edit.Files[0].Change != "modified" {
			t.Errorf("edit: %+v", edit.Files)
		}
	})
}

func TestQuestion(t *testing.T) {
	play(t, func(b *bench) {
		t := b.t
		k := b.open(b.spec())
		k.send("turn_1", do(modelserver.Step{Scenario: "question", Question: "Which colours?", Options: []string{"Red", "Blue"}, Multiple: true}))
		e, n := k.until(0, "request", isRequest)
		r := e.Request
		if r.Kind != event.Question || len(r.Body.Questions) != 1 {
			t.Fatalf("request: %+v", r)
		}
		q := r.Body.Questions[0]
		if q.Text != "Which colours?" || !q.Multiple || !q.FreeText || len(q.Choices) != 2 || q.Choices[1].Value != "Blue" {
			t.Errorf("question: %+v", q)
		}
		if err := k.Answer(t.Context(), r.Key, provider.Answer{Answers: map[string][]string{q.ID: {"Red", "a green of my own"}}}); err != nil {
			t.Fatal(err)
		}
		k.until(n, "end", isEnd)
		b.got("Red, a green of my own")
	})
}

// streaming waits until the model has begun an answer.
func (k *talk) streaming(from int) int {
	k.t.Helper()
	_, n := k.until(from, "text", func(e provider.Event) bool { return e.Text != nil })
	return n
}

func TestInterruptMidStream(t *testing.T) {
	play(t, func(b *bench) {
		t := b.t
		k := b.open(b.spec())
		k.send("turn_1", do(modelserver.Step{Scenario: "slow", Words: 500, MS: 50}))
		n := k.streaming(0)
		if err := k.Interrupt(t.Context()); err != nil {
			t.Fatal(err)
		}
		e, _ := k.until(n, "end", isEnd)
		if e.TurnEnded.State != "stopped" || e.TurnEnded.Err != nil {
			t.Errorf("end: %+v", e.TurnEnded)
		}
		if end, _ := k.say("turn_2", "still there?"); end.State != "completed" {
			t.Errorf("the next turn: %+v", end)
		}
	})
}

func TestInterruptMidTool(t *testing.T) {
	play(t, func(b *bench) {
		t := b.t
		spec := b.spec()
		k := b.open(spec)
		k.send("turn_1", do(modelserver.Step{Scenario: "shell", Command: "touch begun; for i in 1 2 3 4 5 6 7 8 9; do sleep 5; done"}))
		e, n := k.until(0, "request", isRequest)
		if err := k.Answer(t.Context(), e.Request.Key, provider.Answer{Option: "allow_once"}); err != nil {
			t.Fatal(err)
		}
		b.made("begun")
		if err := k.Interrupt(t.Context()); err != nil {
			t.Fatal(err)
		}
		end, _ := k.until(n, "end", isEnd)
		if end.TurnEnded.State != "stopped" {
			t.Errorf("end: %+v", end.TurnEnded)
		}
		if calls := ofKind(k.events(), event.ToolCall); len(calls) != 1 || calls[0].Status != event.Cancelled {
			t.Errorf("calls: %+v", calls)
		}
	})
}

func TestInterruptWithdrawsARequest(t *testing.T) {
	play(t, func(b *bench) {
		t := b.t
		k := b.open(b.spec())
		k.send("turn_1", do(modelserver.Step{Scenario: "shell", Command: "touch never"}))
		e, n := k.until(0, "request", isRequest)
		if err := k.Interrupt(t.Context()); err != nil {
			t.Fatal(err)
		}
		if w, _ := k.until(n, "withdrawal", func(e provider.Event) bool { return e.Withdrawn != "" }); w.Withdrawn != e.Request.Key {
			t.Errorf("withdrawn: %q", w.Withdrawn)
		}
		if err := k.Answer(t.Context(), e.Request.Key, provider.Answer{Option: "allow_once"}); !errors.Is(err, provider.ErrNoRequest) {
			t.Errorf("a late answer: %v", err)
		}
		k.until(n, "end", isEnd)
	})
}

// waitFor waits for something outside the session.
func waitFor(t *testing.T, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("it did not come about")
		}
	}
}

func conversation(t *testing.T, events []provider.Event) string {
	t.Helper()
	for _, e := range events {
		if e.Conversation != "" {
			return e.Conversation
		}
	}
	t.Fatalf("no conversation: %s", tale(events))
	return ""
}

func TestRealResumeAndFork(t *testing.T) {
	b := newBench(t)
	first := b.open(b.spec())
	_, events := first.say("turn_1", "remember the number 4711")
	spec := b.spec()
	spec.Resume = conversation(t, events)
	first.close()

	second := b.open(spec)
	_, events = second.say("turn_2", "which number?")
	for _, e := range events {
		if e.Conversation != "" {
			t.Errorf("the conversation changed: %s", e.Conversation)
		}
	}
	b.got("remember the number 4711")
	second.close()

	spec.Fork = true
	fork := b.open(spec)
	_, events = fork.say("turn_3", "and in the fork?")
	if id := conversation(t, events); id == spec.Resume {
		t.Error("the fork has the same conversation")
	}
	b.delivered("remember the number 4711")
	b.delivered("which number?")
}

func TestRealMissingConversation(t *testing.T) {
	b := newBench(t)
	spec := b.spec()
	spec.Resume = "11111111-1111-4111-8111-111111111111"
	_, err := New().Open(t.Context(), b.host, spec)
	var e *provider.Error
	if !errors.As(err, &e) || e.Code != "not_resumable" || !strings.Contains(e.Detail, "No conversation found") {
		t.Errorf("open: %#v", err)
	}
}

func TestRealKilledAgent(t *testing.T) {
	b := newBench(t)
	k := b.open(b.spec())
	_, events := k.say("turn_1", "remember me")
	k.send("turn_2", do(modelserver.Step{Scenario: "slow", Words: 500, MS: 50}))
	n := k.streaming(len(events))
	kill(t, k.Session.(*session).proc.Pid())
	e, _ := k.until(n, "end of the session", isClosed)
	if e.Closed.Err == nil || e.Closed.Err.Code != "agent_ended" {
		t.Errorf("closed: %+v", e.Closed)
	}
	if d, err := k.Send(t.Context(), provider.Input{Turn: "turn_3", Text: "x"}); d != provider.NotSent || err == nil {
		t.Errorf("send to a dead agent: %v %v", d, err)
	}
	spec := b.spec()
	spec.Resume = conversation(t, events)
	again := b.open(spec)
	if end, _ := again.say("turn_4", "are you back?"); end.State != "completed" {
		t.Errorf("after the kill: %+v", end)
	}
	// The uncertain message is known by its uuid and is not taken twice.
	if end, _ := again.say("turn_1", "remember me"); end.Err == nil || end.Err.Code != "already_delivered" {
		t.Errorf("the same message again: %+v", end)
	}
	b.delivered("remember me")
}

func TestRateLimits(t *testing.T) {
	play(t, func(b *bench) {
		t := b.t
		k := b.open(b.spec())
		zero := 0
		end, events := k.say("turn_1", do(modelserver.Step{Scenario: "status", Code: 429, RetryAfter: &zero}, modelserver.Step{Scenario: "text", Text: "through"}))
		if end.State != "completed" {
			t.Errorf("429 once: %+v", end)
		}
		notices := ofKind(events, event.Notice)
		if len(notices) != 1 || notices[0].Body.Notice.Code != "rate_limited" || notices[0].Status != event.Completed {
			t.Errorf("notices: %+v", notices)
		}
		for _, c := range []struct {
			status int
			code   string
		}{{429, "rate_limited"}, {529, "overloaded"}, {500, "service_error"}, {403, "signed_out"}, {404, "model_unavailable"}} {
			end, events := k.say("turn_"+c.code, do(modelserver.Step{Scenario: "status", Code: c.status, Times: -1, RetryAfter: &zero}))
			if end.State != "failed" || end.Err == nil || end.Err.Code != c.code || end.Err.Detail == "" {
				t.Errorf("%d always: %+v %+v", c.status, end, end.Err)
			}
			if answers := ofKind(events, event.Answer); len(answers) != 0 {
				t.Errorf("%d: the error is shown as an answer: %+v", c.status, answers)
			}
		}
	}, "CLAUDE_CODE_MAX_RETRIES=1")
}

func TestCutStream(t *testing.T) {
	play(t, func(b *bench) {
		t := b.t
		end, events := b.open(b.spec()).say("turn_1", do(modelserver.Step{Scenario: "cut", Text: "half of an answer that breaks"}, modelserver.Step{Scenario: "text", Text: "whole"}))
		if end.State != "completed" {
			t.Fatalf("%+v: %s", end, tale(events))
		}
		answers := ofKind(events, event.Answer) // the half is shown if the CLI passed it on in time
		if n := len(answers); n == 0 || answers[n-1].Body.Text != "whole" || n > 1 && answers[0].Status != event.Cancelled {
			t.Errorf("answers: %+v", answers)
		}
	}, "CLAUDE_CODE_MAX_RETRIES=1")
}

func TestRefusalAndSplitCharacters(t *testing.T) {
	play(t, func(b *bench) {
		t := b.t
		k := b.open(b.spec())
		text := "👩‍👩‍👧 你好 é 🎉"
		_, events := k.say("turn_1", do(modelserver.Step{Scenario: "split", Text: text}))
		if a := ofKind(events, event.Answer); len(a) != 1 || a[0].Body.Text != text {
			t.Errorf("split: %+v", a)
		}
		streamed := ""
		for _, e := range events {
			if e.Text != nil {
				streamed += e.Text.Text
			}
		}
		if streamed != text {
			t.Errorf("streamed: %q", streamed)
		}
		end, events := k.say("turn_2", do(modelserver.Step{Scenario: "refusal"}))
		if end.State != "failed" || end.Err.Code != "refused" {
			t.Errorf("refusal: %+v %s", end, tale(events))
		}
	})
}

func TestSteer(t *testing.T) {
	play(t, func(b *bench) {
		t := b.t
		spec := b.spec()
		k := b.open(spec)
		k.send("turn_1", do(modelserver.Step{Scenario: "shell", Command: "touch begun; while [ ! -e go ]; do sleep 0.05; done"}))
		e, n := k.until(0, "request", isRequest)
		if err := k.Answer(t.Context(), e.Request.Key, provider.Answer{Option: "allow_once"}); err != nil {
			t.Fatal(err)
		}
		b.made("begun")
		if d, err := k.Steer(t.Context(), provider.Input{Turn: "turn_2", Text: "and this, too"}); d != provider.Sent || err != nil {
			t.Fatalf("steer: %v %v", d, err)
		}
		b.write("go", "")
		a, n := k.until(n, "acceptance of the steer", func(e provider.Event) bool { return e.Accepted != nil && e.Accepted.Steered })
		if a.Accepted.Turn != "turn_2" {
			t.Errorf("accepted: %+v", a.Accepted)
		}
		if end, _ := k.until(n, "end", isEnd); end.TurnEnded.State != "completed" {
			t.Errorf("end: %+v", end.TurnEnded)
		}
		// The CLI gives it to the model with the tool's result, in words of its own.
		b.got("and this, too")
	})
}

// A message that comes while the model speaks is taken after its answer, in a
// turn of the CLI's own; ours ends after that.
func TestSteerIntoAnAnswer(t *testing.T) {
	play(t, func(b *bench) {
		t := b.t
		k := b.open(b.spec())
		k.send("turn_1", do(modelserver.Step{Scenario: "slow", Words: 30, MS: 50}))
		n := k.streaming(0)
		if d, err := k.Steer(t.Context(), provider.Input{Turn: "turn_2", Text: "one more thing"}); d != provider.Sent || err != nil {
			t.Fatalf("steer: %v %v", d, err)
		}
		_, n = k.until(n, "acceptance", func(e provider.Event) bool { return e.Accepted != nil && e.Accepted.Turn == "turn_2" })
		k.until(n, "end", isEnd)
		ends := 0
		for _, e := range k.events() {
			if e.TurnEnded != nil {
				ends++
			}
		}
		if answers := ofKind(k.events(), event.Answer); ends != 1 || len(answers) != 2 {
			t.Errorf("%d ends, answers %+v", ends, answers)
		}
		b.delivered("one more thing")
	})
}

func TestInterruptTakesBackASteer(t *testing.T) {
	play(t, func(b *bench) {
		t := b.t
		k := b.open(b.spec())
		k.send("turn_1", do(modelserver.Step{Scenario: "slow", Words: 500, MS: 50}))
		n := k.streaming(0)
		if _, err := k.Steer(t.Context(), provider.Input{Turn: "turn_2", Text: "never to be read"}); err != nil {
			t.Fatal(err)
		}
		if err := k.Interrupt(t.Context()); err != nil {
			t.Fatal(err)
		}
		if end, _ := k.until(n, "end", isEnd); end.TurnEnded.State != "stopped" {
			t.Errorf("end: %+v", end.TurnEnded)
		}
		if end, _ := k.say("turn_3", "next"); end.State != "completed" {
			t.Errorf("next: %+v", end)
		}
		if b.real() && b.model.DeliveredOnce("never to be read") == nil {
			t.Error("the steered message reached the model after the stop")
		}
	})
}
