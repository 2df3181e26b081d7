package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/backend/event"
	"berth/backend/provider"
)

func TestTour(t *testing.T) {
	dir := sample(t)
	k := open(t, newHost(t), provider.Spec{Cwd: dir, Mode: provider.Ask, Model: "demo-quick"})
	k.send("/tour")
	edit := k.request()
	k.answer(edit.Key, provider.Answer{Option: "allow_once"})
	run := k.request()
	if run.Body.Command != defaultCommand || run.Body.ToolKind != event.ToolExecute {
		t.Fatalf("asked %+v", run.Body)
	}
	k.answer(run.Key, provider.Answer{Option: "allow_once"})
	ask := k.request()
	if ask.Kind != event.Question || len(ask.Body.Questions) != 3 {
		t.Fatalf("asked %+v", ask)
	}
	k.answer(ask.Key, provider.Answer{Answers: map[string][]string{"colour": {"green"}, "parts": {"code", "tests"}, "remark": {"<go>"}}})
	if end := k.end(); end.State != "completed" {
		t.Fatalf("ended %+v", end)
	}
	text := k.text()
	for _, want := range []string{"You chose green.", "[code tests]", "You remarked: <go>", "```mermaid", "| entry |", "$$", "```go"} {
		if !strings.Contains(text, want) {
			t.Errorf("the answer lacks %q", want)
		}
	}
	if plans := k.last(event.Plan); len(plans) != 1 || plans[0].Status != event.Completed || len(plans[0].Body.Plan) != 6 {
		t.Errorf("plans %+v", plans)
	}
	if thoughts := k.last(event.Thought); len(thoughts) != 1 {
		t.Errorf("%d thoughts", len(thoughts))
	}
	pictures := k.last(event.Artifact)
	if len(pictures) != 1 || len(pictures[0].Images) != 1 || pictures[0].Images[0].Type != "image/png" {
		t.Errorf("pictures %+v", pictures)
	}
	kinds := map[event.ToolKind]event.Status{}
	for _, call := range k.last(event.ToolCall) {
		kinds[call.Body.Tool.Kind] = call.Status
	}
	for _, kind := range []event.ToolKind{event.ToolRead, event.ToolEdit, event.ToolExecute} {
		if kinds[kind] != event.Completed {
			t.Errorf("%s is %q", kind, kinds[kind])
		}
	}
}

func TestCommandStreamsItsOutput(t *testing.T) {
	k := open(t, newHost(t), provider.Spec{Cwd: sample(t), Mode: provider.Full})
	k.send("/run echo one; sleep 1; echo 世界 >&2; exit 3")
	live := k.until(func(e provider.Event) bool { return e.Text != nil && e.Text.Kind == event.ToolCall })
	if live.Text.Text != "one\n" {
		t.Errorf("first came %q", live.Text.Text)
	}
	k.end()
	call := k.last(event.ToolCall)[0]
	if tool := call.Body.Tool; call.Status != event.Failed || tool.Output != "one\n世界\n" || tool.ExitCode == nil || *tool.ExitCode != 3 {
		t.Errorf("the call is %s, %+v", call.Status, tool)
	}
}

func TestModes(t *testing.T) {
	tests := []struct {
		mode   provider.Permission
		text   string
		asks   bool
		edited bool
	}{
		{provider.Ask, "/edit", true, true},
		{provider.AcceptEdits, "/edit", false, true},
		{provider.AcceptEdits, "/run true", true, false},
		{provider.PlanOnly, "/edit", false, false},
		{provider.PlanOnly, "/run touch README.md && echo >> README.md", false, false},
		{provider.Full, "/edit", false, true},
		{provider.Full, "/run true", false, false},
	}
	host := newHost(t)
	for _, test := range tests {
		t.Run(fmt.Sprint(test.mode, test.text), func(t *testing.T) {
			dir := sample(t)
			k := open(t, host, provider.Spec{Cwd: dir, Mode: test.mode})
			k.send(test.text)
			asked := false
			k.until(func(e provider.Event) bool {
				if e.Request != nil {
					asked = true
					k.answer(e.Request.Key, provider.Answer{Option: "allow_once"})
				}
				return e.TurnEnded != nil
			})
			if edited := read(t, filepath.Join(dir, "README.md")) != "# Sample\n"; asked != test.asks || edited != test.edited {
				t.Errorf("asked %v, edited %v", asked, edited)
			}
		})
	}
}

func TestAlwaysIsRemembered(t *testing.T) {
	k := open(t, newHost(t), provider.Spec{Cwd: sample(t), Mode: provider.Ask})
	k.send("/edit a.txt")
	k.answer(k.request().Key, provider.Answer{Option: "allow_always"})
	k.end()
	k.send("/edit b.txt")
	k.until(func(e provider.Event) bool {
		if e.Request != nil {
			t.Errorf("asked again: %+v", e.Request)
		}
		return e.TurnEnded != nil
	})
}

func TestInterrupt(t *testing.T) {
	k := open(t, newHost(t), provider.Spec{Cwd: sample(t), Mode: provider.Ask})
	k.send("/slow 3600")
	k.until(func(e provider.Event) bool { return e.Text != nil })
	if err := k.s.Interrupt(t.Context()); err != nil {
		t.Fatal(err)
	}
	if end := k.end(); end.State != "stopped" {
		t.Errorf("ended %+v", end)
	}
	k.send("still there?")
	if end := k.end(); end.State != "completed" || !strings.Contains(k.text(), "message 2 of") {
		t.Errorf("ended %+v, said %q", end, k.text())
	}
}

func TestInterruptWhileAsked(t *testing.T) {
	k := open(t, newHost(t), provider.Spec{Cwd: sample(t), Mode: provider.Ask})
	k.send("/edit")
	ask := k.request()
	if err := k.s.Interrupt(t.Context()); err != nil {
		t.Fatal(err)
	}
	if end := k.end(); end.State != "stopped" {
		t.Errorf("ended %+v", end)
	}
	withdrawn := false
	for _, e := range k.seen {
		withdrawn = withdrawn || e.Withdrawn == ask.Key
	}
	if err := k.s.Answer(t.Context(), ask.Key, provider.Answer{Option: "allow_once"}); !errors.Is(err, provider.ErrNoRequest) || !withdrawn {
		t.Errorf("a late answer: %v; withdrawn %v", err, withdrawn)
	}
	if call := k.last(event.ToolCall)[0]; call.Status != event.Cancelled {
		t.Errorf("the call is %s", call.Status)
	}
}

func TestFail(t *testing.T) {
	k := open(t, newHost(t), provider.Spec{Cwd: sample(t), Mode: provider.Ask})
	k.send("/fail")
	if end := k.end(); end.State != "failed" || end.Err == nil || !strings.Contains(end.Err.Detail, "as it was asked to") {
		t.Errorf("ended %+v", end)
	}
}

func TestCrash(t *testing.T) {
	tests := []struct{ how, code, detail string }{
		{"exit", "agent_ended", "the demo agent exits, as it was asked to"},
		{"kill", "agent_ended", "signal SIGKILL"},
		{"garbage", "protocol", "garbage line 199"},
	}
	host := newHost(t)
	for _, test := range tests {
		t.Run(test.how, func(t *testing.T) {
			k := open(t, host, provider.Spec{Cwd: sample(t), Mode: provider.Ask})
			k.send("/crash " + test.how)
			closed := k.until(func(e provider.Event) bool { return e.Closed != nil }).Closed
			if closed.Err == nil || closed.Err.Code != test.code || closed.Err.Detail != test.detail {
				t.Errorf("closed %+v", closed.Err)
			}
			if test.how == "exit" && (closed.ExitCode == nil || *closed.ExitCode != 3) {
				t.Errorf("exit code %v", closed.ExitCode)
			}
			if _, open := <-k.s.Events(); open {
				t.Error("something follows Closed")
			}
		})
	}
}

func TestResume(t *testing.T) {
	host, dir := newHost(t), sample(t)
	k := open(t, host, provider.Spec{Cwd: dir, Mode: provider.Ask})
	k.send("one")
	k.end()
	if err := k.s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	again := open(t, host, provider.Spec{Cwd: dir, Mode: provider.Ask, Resume: k.conv})
	again.send("two")
	again.end()
	if !strings.Contains(again.text(), "message 2 of") || again.conv != k.conv {
		t.Errorf("conversation %s then %s, said %q", k.conv, again.conv, again.text())
	}
	_, err := New().Open(t.Context(), host, provider.Spec{Cwd: dir, Mode: provider.Ask, Resume: "demo-0000000000000000"})
	var failed *provider.Error
	if !errors.As(err, &failed) || failed.Code != "not_resumable" {
		t.Errorf("an unknown conversation: %v", err)
	}
}

func TestModelsAndAttachments(t *testing.T) {
	dir := sample(t)
	k := open(t, newHost(t), provider.Spec{Cwd: dir, Mode: provider.Ask, Model: "demo-thorough", Instructions: "Be kind."})
	picture := filepath.Join(dir, "p.png")
	if err := os.WriteFile(picture, []byte("\x89PNG"), 0o644); err != nil {
		t.Fatal(err)
	}
	k.send("look", provider.Attachment{Path: picture, Name: "p.png", Type: "image/png", Size: 4},
		provider.Attachment{Path: filepath.Join(dir, "README.md"), Name: "README.md", Type: "text/markdown", Size: 9})
	k.end()
	if !strings.Contains(k.text(), "an image (image/png), README.md") || !strings.HasPrefix(k.text(), "You said: look\n") || len(k.last(event.Thought)) != 1 {
		t.Errorf("said %q with %d thoughts", k.text(), len(k.last(event.Thought)))
	}
	d, err := k.s.Send(t.Context(), provider.Input{Text: "x", Model: "demo-unheard-of"})
	var failed *provider.Error
	if d != provider.NotSent || !errors.As(err, &failed) || failed.Code != "unknown_model" {
		t.Errorf("an unknown model: %v, %v", d, err)
	}
}

func TestLong(t *testing.T) {
	k := open(t, newHost(t), provider.Spec{Cwd: sample(t), Mode: provider.Ask})
	k.send("/long 2048")
	k.end()
	if n := len(k.text()); n < 2<<20 || n > 2<<20+4096 {
		t.Errorf("%d bytes", n)
	}
}

func TestCommandsAreOffered(t *testing.T) {
	k := open(t, newHost(t), provider.Spec{Cwd: sample(t), Mode: provider.Ask})
	offered := k.until(func(e provider.Event) bool { return e.Commands != nil }).Commands
	if len(*offered) != len(commands) || (*offered)[0].Name != "tour" || (*offered)[2].Hint != "path" {
		t.Errorf("offered %+v", *offered)
	}
}

// Two runs of the same input say the same.
func TestDeterministic(t *testing.T) {
	host := newHost(t)
	var runs [2]string
	for i := range runs {
		k := open(t, host, provider.Spec{Cwd: sample(t), Mode: provider.Full})
		k.send("/edit")
		k.end()
		var kinds []string
		for _, e := range k.seen {
			if e.Item != nil {
				body, err := json.Marshal(e.Item.Body.Files)
				if err != nil {
					t.Fatal(err)
				}
				kinds = append(kinds, string(e.Item.Kind)+" "+string(e.Item.Status)+string(body))
			}
		}
		runs[i] = strings.Join(kinds, "\n") + k.text()
	}
	if runs[0] != runs[1] {
		t.Errorf("first\n%s\nthen\n%s", runs[0], runs[1])
	}
}

func TestSampleFolder(t *testing.T) {
	processes, dir := newSupervisor(t), filepath.Join(t.TempDir(), "demo", "sample")
	if err := SampleFolder(t.Context(), processes, dir); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(read(t, filepath.Join(dir, "README.md")), "# Tiny shop") {
		t.Error("no README")
	}
	if _, err := processes.LookPath("git"); err != nil {
		t.Log("without git: ", err)
	} else if _, err := os.Stat(filepath.Join(dir, ".git", "HEAD")); err != nil {
		t.Error(err)
	}
	// The user's changes stay.
	if err := os.WriteFile(filepath.Join(dir, "README.md"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := SampleFolder(t.Context(), processes, dir); err != nil || read(t, filepath.Join(dir, "README.md")) != "mine" {
		t.Errorf("again: %v", err)
	}
	left, err := os.ReadDir(filepath.Dir(dir))
	if err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestDescribe(t *testing.T) {
	host := newHost(t)
	d := New().Describe(context.Background(), host)
	if d.Status != provider.Ready || !d.Demo || d.Executable != host.Self || len(d.Models) != 3 || len(d.Modes) != 4 || d.CheckedAt.After(time.Now()) {
		t.Errorf("described %+v", d)
	}
}
