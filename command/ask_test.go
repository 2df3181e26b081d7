package command

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/backend/api/client"
	"berth/backend/chat"
	"berth/backend/event"
)

// ask asks the demo agent, with a backend in process.
func ask(t *testing.T, state string, args ...string) ran {
	t.Helper()
	return berth(t, state, "", append([]string{"ask", "--agent", "demo", "--cwd", t.TempDir()}, args...)...)
}

func TestAskStreamsTheAnswer(t *testing.T) {
	r := ask(t, t.TempDir(), "hello", "there")
	if r.code != 0 || !strings.Contains(r.out, "hello there") {
		t.Errorf("code %d, out %q, err %q", r.code, r.out, r.err)
	}
}

func TestAskReadsThePromptUnchanged(t *testing.T) {
	text := "  two\n\nlines\tand 日本 👋 \n"
	r := berth(t, t.TempDir(), text, "ask", "--agent", "demo", "--cwd", t.TempDir(), "--json", "-")
	if r.code != 0 {
		t.Fatalf("code %d: %s", r.code, r.err)
	}
	found := false
	for line := range strings.Lines(r.out) {
		var e struct {
			Type string
			Body struct {
				Kind event.Kind
				Body event.Body
			}
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("not a line of JSON: %q", line)
		}
		found = found || e.Type == "item" && e.Body.Kind == event.UserMessage && e.Body.Body.Text == text
	}
	if !found {
		t.Errorf("the message is not as it was given: %s", r.out)
	}
}

func TestAskJSONEndsWithTheState(t *testing.T) {
	for _, c := range []struct {
		prompt string
		code   int
		state  chat.TurnState
	}{
		{"hello", 0, chat.TurnCompleted},
		{"/fail", exitFailed, chat.TurnFailed},
		{"/crash", exitFailed, ""},
	} {
		t.Run(c.prompt, func(t *testing.T) {
			r := ask(t, t.TempDir(), "--json", c.prompt)
			lines := strings.Split(strings.TrimSpace(r.out), "\n")
			var last turnEnded
			if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil {
				t.Fatal(err)
			}
			if r.code != c.code || last.Type != "turn_ended" || !last.State.Terminal() || c.state != "" && last.State != c.state {
				t.Errorf("code %d, last %+v; want %d, %s", r.code, last, c.code, c.state)
			}
			if strings.Contains(r.out, `"deltas"`) {
				t.Error("deltas are no events")
			}
		})
	}
}

func TestAskApproves(t *testing.T) {
	for _, c := range []struct {
		approve string
		written bool
	}{{"all", true}, {"none", false}, {"", false}} {
		t.Run("approve="+c.approve, func(t *testing.T) {
			dir := t.TempDir()
			args := []string{"ask", "--agent", "demo", "--cwd", dir, "/edit"}
			if c.approve != "" {
				args = append(args, "--approve", c.approve)
			}
			r := berth(t, t.TempDir(), "", args...)
			files, err := os.ReadDir(dir)
			if r.code != 0 || err != nil || (len(files) > 0) != c.written {
				t.Errorf("code %d, %d files: %s", r.code, len(files), r.err)
			}
		})
	}
}

func TestAskPromptsAtTheTerminal(t *testing.T) {
	r := berth(t, t.TempDir(), "1\n", "ask", "--agent", "demo", "--cwd", t.TempDir(), "--approve", "prompt", "/edit")
	if r.code != 0 || !strings.Contains(r.err, "Choose 1 to") || !strings.Contains(r.err, "answered: Allow once") {
		t.Errorf("code %d: %s", r.code, r.err)
	}
}

func TestAskCannotAnswerQuestionsAlone(t *testing.T) {
	r := ask(t, t.TempDir(), "--approve", "all", "/ask")
	if r.code != exitFailed || !strings.Contains(r.err, "--approve prompt") {
		t.Errorf("code %d: %s", r.code, r.err)
	}
}

func TestAskAttachesFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "note.txt")
	if err := os.WriteFile(file, []byte("a note"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := ask(t, t.TempDir(), "--json", "--attach", file, "hello"); r.code != 0 || !strings.Contains(r.out, "note.txt") {
		t.Errorf("code %d: %s %s", r.code, r.out, r.err)
	}
	if r := ask(t, t.TempDir(), "--attach", file+".gone", "hello"); r.code != exitFailed || !strings.Contains(r.err, "note.txt.gone") {
		t.Errorf("code %d: %s", r.code, r.err)
	}
}

func TestAskGoesOnWithAChatAndTheLastAgent(t *testing.T) {
	state := t.TempDir()
	if r := berth(t, state, "", "ask", "hello"); r.code != exitUsage || !strings.Contains(r.err, "demo") {
		t.Errorf("without an agent used before: code %d: %s", r.code, r.err)
	}
	if r := ask(t, state, "first"); r.code != 0 {
		t.Fatalf("code %d: %s", r.code, r.err)
	}
	if r := berth(t, state, "", "ask", "--cwd", t.TempDir(), "second"); r.code != 0 || !strings.Contains(r.out, "second") {
		t.Errorf("with the agent used last: code %d: %s", r.code, r.err)
	}
}

// served runs serve and gives its ready line; the test's end ends it.
func served(t *testing.T, state string) (ready, func() ran) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	lines := &lineWriter{line: make(chan string, 1)}
	done := make(chan ran, 1)
	go func() {
		var errs strings.Builder
		sh := &shell{in: strings.NewReader(""), out: lines, err: &errs}
		code := sh.run(ctx, []string{"serve", "--state", state})
		done <- ran{code: code, err: errs.String()}
	}()
	end := func() ran { cancel(); return <-done }
	t.Cleanup(cancel)
	select {
	case line := <-lines.line:
		var r ready
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("the ready line is %q", line)
		}
		return r, end
	case r := <-done:
		t.Fatalf("serve ended: %s", r.err)
	case <-time.After(20 * time.Second):
		t.Fatal("serve is not ready")
	}
	return ready{}, nil
}

type lineWriter struct{ line chan string }

func (w *lineWriter) Write(p []byte) (int, error) {
	select {
	case w.line <- string(p):
	default:
	}
	return len(p), nil
}

func TestServe(t *testing.T) {
	state := t.TempDir()
	r, end := served(t, state)
	if r.State != state || r.Pid != os.Getpid() || r.Token == "" || !strings.HasPrefix(r.URL, "http://127.0.0.1:") || r.Version == "" {
		t.Errorf("ready: %+v", r)
	}
	if second := berth(t, state, "", "serve"); second.code != exitFailed || !strings.Contains(second.err, r.URL) {
		t.Errorf("a second serve: code %d, %s", second.code, second.err)
	}
	if last := end(); last.code != 0 {
		t.Errorf("serve ended with %d: %s", last.code, last.err)
	}
	again, end := served(t, state)
	if again.Token != r.Token {
		t.Error("the token changed by itself")
	}
	end()
}

func TestCommandsAskTheRunningBackend(t *testing.T) {
	state := t.TempDir()
	_, end := served(t, state)
	defer end()
	if r := ask(t, state, "/slow 1"); r.code != 0 || !strings.Contains(r.out, "word") {
		t.Fatalf("ask: code %d: %s", r.code, r.err)
	}
	var c chat.Chat
	r := berth(t, state, "", "chats", "--json")
	if err := json.Unmarshal([]byte(r.out), &c); err != nil {
		t.Fatalf("chats: %v: %s", err, r.out)
	}
	if r := berth(t, state, "", "send", c.ID, "/edit"); r.code != 0 || !strings.HasPrefix(r.out, "turn_") {
		t.Fatalf("send: code %d: %s", r.code, r.err)
	}
	b := client.New(state)
	defer b.Close()
	var it event.Item
	for it.ID == "" {
		items, err := waiting(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		if len(items) > 0 {
			it = items[0]
		}
	}
	id := it.Body.Request.ID
	if r := berth(t, state, "", "approve"); r.code != 0 || !strings.Contains(r.out, id) {
		t.Errorf("approve lists %q (%s)", r.out, r.err)
	}
	if r := berth(t, state, "", "approve", id, "--deny"); r.code != 0 || !strings.Contains(r.out, "answered") {
		t.Errorf("approve: code %d: %s", r.code, r.err)
	}
	if r := berth(t, state, "", "approve", id); r.code != exitFailed {
		t.Errorf("a second answer: code %d", r.code)
	}
	if r := berth(t, state, "", "send", c.ID, "/slow 600"); r.code != 0 {
		t.Fatalf("send: code %d: %s", r.code, r.err)
	}
	if r := berth(t, state, "", "stop", c.ID); r.code != 0 || !strings.Contains(r.out, "stop") {
		t.Errorf("stop: code %d: %s %s", r.code, r.out, r.err)
	}
	if r := berth(t, state, "", "chats", c.ID); r.code != 0 || !strings.Contains(r.out, "/slow 1") {
		t.Errorf("the chat shows %q (%s)", r.out, r.err)
	}
	if r := berth(t, state, "", "doctor", "--json"); r.code != 0 || !strings.Contains(r.out, `"serve, process`) {
		t.Errorf("doctor: code %d: %s %s", r.code, r.out, r.err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if r := berthUntil(ctx, state, "", "watch", "--json"); r.code != 0 {
		t.Errorf("watch: code %d: %s", r.code, r.err)
	}
}

func TestDoctorStartsNothingThatStays(t *testing.T) {
	state := t.TempDir()
	r := berth(t, state, "", "doctor")
	if r.code != 0 || !strings.Contains(r.out, "demo") || !strings.Contains(r.out, "not running") {
		t.Errorf("code %d: %s %s", r.code, r.out, r.err)
	}
	if r := berth(t, state, "", "chats"); r.code != exitFailed {
		t.Error("doctor left a backend behind")
	}
}

func TestDoctorTellsOfADamagedDatabase(t *testing.T) {
	state := t.TempDir()
	if err := os.WriteFile(filepath.Join(state, "berth.db"), []byte(strings.Repeat("not a database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	r := berth(t, state, "", "doctor")
	if r.code != exitFailed || !strings.Contains(r.out, "failed  database") || !strings.Contains(r.out, "backup") {
		t.Errorf("code %d: %s", r.code, r.out)
	}
}
