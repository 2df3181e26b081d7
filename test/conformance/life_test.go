package conformance

import (
	"bytes"
	"context"
	"image"
	imagepng "image/png"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"berth/backend/event"
	"berth/backend/provider"
	"berth/test/modelserver"
)

// lifeCases are about turns that do not simply run to their end: interrupts,
// restarts, lost agents, several chats.
var lifeCases = []testCase{
	{name: "interrupt in mid-answer", whole: true, needs: interrupt, run: func(t *testing.T, b *bench, k talk) {
		slow := modelserver.Directive(modelserver.Step{Scenario: "slow", Words: 600, MS: 50})
		k.send(slow)
		k.seen("the fifth word", func(items []item) bool { return strings.Contains(said(items, event.Answer), "word0005") })
		k.interrupt()
		wantState(t, k.ended(), "stopped")
		if got := said(k.items(), event.Answer); strings.Contains(got, "word0600") {
			t.Error("the answer ran to its end")
		}
		hungUp(t, b, slow)
		k.send("Still there?")
		wantState(t, k.ended(), "completed")
		delivered(t, b, slow, "Still there?")
	}},
	{name: "interrupt in mid-tool", whole: true, needs: interrupt, mode: provider.Full, run: func(t *testing.T, b *bench, k talk) {
		text := shell("echo $$ > pid.txt; exec sleep 300")
		k.send(text)
		k.seen("the running tool", func(items []item) bool {
			calls := tools(items, event.ToolExecute)
			return len(calls) > 0 && calls[0].Status == event.InProgress
		})
		pid := waitPid(t, b, "pid.txt")
		k.interrupt()
		wantState(t, k.ended(), "stopped")
		k.send("Still there?")
		wantState(t, k.ended(), "completed")
		delivered(t, b, text, "Still there?")
		k.close()
		if alive(pid) {
			t.Errorf("the command (pid %d) outlived its chat", pid)
		}
	}},
	{name: "resume after a restart", whole: true, needs: resume, run: func(t *testing.T, b *bench, k talk) {
		k.send("First message.")
		wantState(t, k.ended(), "completed")
		k.restart(false)
		k.send("Second message.")
		wantState(t, k.ended(), "completed")
		remembered(t, b, "Second message.", "First message.")
		delivered(t, b, "First message.", "Second message.")
	}},
	{name: "fork", needs: fork, run: func(t *testing.T, b *bench, k talk) {
		k.send("First message.")
		wantState(t, k.ended(), "completed")
		k.restart(true)
		k.send("Forked message.")
		wantState(t, k.ended(), "completed")
		remembered(t, b, "Forked message.", "First message.")
		delivered(t, b, "First message.", "Forked message.")
	}},
	{name: "resume after SIGKILL of the agent", whole: true, needs: resume, run: func(t *testing.T, b *bench, k talk) {
		k.send("First message.")
		wantState(t, k.ended(), "completed")
		slow := modelserver.Directive(modelserver.Step{Scenario: "slow", Words: 600, MS: 50})
		k.send(slow)
		k.seen("the third word", func(items []item) bool { return strings.Contains(said(items, event.Answer), "word0003") })
		k.killAgent()
		if end := k.ended(); end.state != lost && end.state != "failed" {
			t.Errorf("the turn of a killed agent ended %+v", end)
		}
		k.restart(false)
		k.send("Third message.")
		wantState(t, k.ended(), "completed")
		remembered(t, b, "Third message.", "First message.")
		delivered(t, b, "First message.", slow, "Third message.")
	}},
	{name: "steer", needs: steer, run: func(t *testing.T, b *bench, k talk) {
		slow := modelserver.Directive(modelserver.Step{Scenario: "slow", Words: 60, MS: 50})
		k.send(slow)
		k.seen("the third word", func(items []item) bool { return strings.Contains(said(items, event.Answer), "word0003") })
		k.steer("Steered message.")
		wantState(t, k.ended(), "completed")
		delivered(t, b, slow, "Steered message.")
	}},
	{name: "two chats at once", whole: true, run: func(t *testing.T, b *bench, k talk) {
		other := b.talk(provider.Spec{Instructions: marker})
		for name, one := range map[string]talk{"a": k, "b": other} {
			one.send(modelserver.Directive(modelserver.Step{Scenario: "slow", Words: 20, MS: 50, Thought: "chat " + name}))
		}
		for _, one := range []talk{k, other} {
			wantState(t, one.ended(), "completed")
			if got := said(one.items(), event.Answer); strings.Count(got, "word0001") != 1 || !strings.Contains(got, "word0020") {
				t.Errorf("answer %q", got)
			}
		}
		if b.agent.shared {
			if n := b.processes(); n != 1 {
				t.Errorf("%d processes for two chats of an agent that needs one", n)
			}
		}
	}},
	{name: "image attached", whole: true, needs: images, run: func(t *testing.T, b *bench, k talk) {
		path := filepath.Join(b.dir, "dot.png")
		if err := os.WriteFile(path, png, 0o644); err != nil {
			t.Fatal(err)
		}
		k.send("What is in the picture?", path)
		wantState(t, k.ended(), "completed")
		delivered(t, b, "What is in the picture?")
		for _, r := range modelserver.Turns(b.model.Requests()) {
			if r.Images == 1 {
				return
			}
		}
		t.Error("the picture never reached the model")
	}},
	{name: "file attached", whole: true, needs: attachments, run: func(t *testing.T, b *bench, k talk) {
		path := b.file("notes of today.txt", "remember the milk\n")
		k.send("What is in the file?", path)
		wantState(t, k.ended(), "completed")
		heardOnce(t, b, "What is in the file?")
		for _, r := range modelserver.Turns(b.model.Requests()) {
			if body := string(r.Body); strings.Contains(body, "remember the milk") || strings.Contains(body, "notes of today.txt") {
				return
			}
		}
		t.Error("neither the file nor its name reached the model")
	}},
}

// png is a picture of one pixel.
var png = func() []byte {
	var b bytes.Buffer
	if err := imagepng.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		panic(err) // a buffer takes everything
	}
	return b.Bytes()
}()

// heardOnce is delivered for agents that put what is attached into the same
// text (Gemini CLI does): the user's words are in it once, unchanged.
func heardOnce(t *testing.T, b *bench, text string) {
	t.Helper()
	opened := 0
	for _, r := range modelserver.Turns(b.model.Requests()) {
		if n := strings.Count(strings.Join(r.Texts, "\x00"), text); n == 1 && r.Opens {
			opened++
		} else if n > 1 {
			t.Errorf("request %d holds the text %d times", r.N, n)
		}
	}
	if opened != 1 {
		t.Errorf("the text was sent %d times", opened)
	}
}

// remembered checks that the model saw the earlier message of the
// conversation together with the later one.
func remembered(t *testing.T, b *bench, later, earlier string) {
	t.Helper()
	for _, r := range modelserver.Turns(b.model.Requests()) {
		if r.Prompt == later && strings.Contains(strings.Join(r.Texts, "\x00"), earlier) {
			return
		}
	}
	t.Errorf("the conversation with %q does not hold %q", later, earlier)
}

// hungUp waits until the agent broke off the answer to a prompt.
func hungUp(t *testing.T, b *bench, prompt string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := b.model.Wait(ctx, func(all []modelserver.Request) bool {
		for _, r := range all {
			if r.Prompt == prompt && r.Outcome == modelserver.OutcomePending {
				return false
			}
		}
		return true
	}); err != nil {
		t.Errorf("the agent still listens to the answer that was interrupted: %v", err)
	}
}

// waitPid waits for a pid that a command writes.
func waitPid(t *testing.T, b *bench, name string) int {
	t.Helper()
	var pid int
	eventually(t, "the command's pid", func() bool {
		n, err := strconv.Atoi(strings.TrimSpace(read(b, name)))
		pid = n
		return err == nil
	})
	return pid
}
