package conformance

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"berth/backend/event"
	"berth/test/modelserver"
)

// strainCases are about models that fail, and about answers that are hard to
// carry.
var strainCases = []testCase{
	{name: "429, then success", whole: true, run: func(t *testing.T, b *bench, k talk) {
		soon := 1
		text := "Try. " + modelserver.Directive(modelserver.Step{Scenario: "status", Code: 429, RetryAfter: &soon})
		k.send(text)
		wantState(t, k.ended(), "completed")
		if got := said(k.items(), event.Answer); !strings.Contains(got, "You said: ") {
			t.Errorf("answer %q", got)
		}
		delivered(t, b, text)
	}},
	{name: "500, then success", run: func(t *testing.T, b *bench, k talk) {
		text := "Try. " + modelserver.Directive(modelserver.Step{Scenario: "status", Code: 500})
		k.send(text)
		wantState(t, k.ended(), "completed")
		delivered(t, b, text)
	}},
	{name: "request refused", whole: true, run: func(t *testing.T, _ *bench, k talk) {
		k.send("Try. " + modelserver.Directive(modelserver.Step{Scenario: "status", Code: 400, Times: -1}))
		end := k.ended()
		wantState(t, end, "failed")
		if end.text == "" || end.code == "" {
			t.Errorf("a failure without words: %+v", end)
		}
		k.send("Still there?")
		wantState(t, k.ended(), "completed")
	}},
	{name: "cut off, then success", run: func(t *testing.T, b *bench, k talk) {
		text := "Try. " + modelserver.Directive(modelserver.Step{Scenario: "cut"})
		k.send(text)
		if end := k.ended(); end.state != "completed" && end.state != "failed" {
			t.Errorf("the turn ended %+v", end)
		}
		delivered(t, b, text)
	}},
	{name: "refusal", run: func(t *testing.T, _ *bench, k talk) {
		k.send(modelserver.Directive(modelserver.Step{Scenario: "refusal"}))
		if end := k.ended(); end.state == lost {
			t.Errorf("the turn ended %+v", end)
		}
		k.send("Still there?")
		wantState(t, k.ended(), "completed")
	}},
	{name: "silence", run: func(t *testing.T, b *bench, k talk) {
		seconds := 5
		if b.agent.name == "codex" {
			seconds = 60 // once for real: no bound of ours may end a model that thinks
		}
		text := modelserver.Directive(modelserver.Step{Scenario: "silence", Seconds: seconds})
		k.send(text)
		wantState(t, k.ended(), "completed")
		if got := said(k.items(), event.Answer); got != "An answer after a long silence." {
			t.Errorf("answer %q", got)
		}
		delivered(t, b, text)
	}},
	{name: "2 MB answer", run: func(t *testing.T, b *bench, k talk) {
		text := modelserver.Directive(modelserver.Step{Scenario: "big"})
		k.send(text)
		wantState(t, k.ended(), "completed")
		if got, want := said(k.items(), event.Answer), modelserver.BigText(2<<20); got != want {
			t.Errorf("the answer has %d bytes, want %d, and they differ at %d", len(got), len(want), differAt(got, want))
		}
		delivered(t, b, text)
	}},
	{name: "emoji and CJK split", run: func(t *testing.T, b *bench, k talk) {
		text := modelserver.Directive(modelserver.Step{Scenario: "split"})
		k.send(text)
		wantState(t, k.ended(), "completed")
		if got := said(k.items(), event.Answer); got != modelserver.SplitText {
			t.Errorf("answer %q, want %q", got, modelserver.SplitText)
		}
	}},
	{name: "invalid UTF-8", run: func(t *testing.T, _ *bench, k talk) {
		k.send(modelserver.Directive(modelserver.Step{Scenario: "invalid_utf8"}))
		if end := k.ended(); end.state == lost {
			t.Errorf("the turn ended %+v", end)
		}
		if got := said(k.items(), event.Answer); !utf8.ValidString(got) {
			t.Errorf("the answer is not valid UTF-8: %q", got)
		}
		k.send("Still there?")
		wantState(t, k.ended(), "completed")
	}},
}

func differAt(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// eventually waits for a fact on disk or in the process table, which nothing
// announces.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(patience)
	for !ok() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("waited %s in vain for %s", patience, what)
		}
	}
}
