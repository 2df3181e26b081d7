package command

import (
	"strings"
	"testing"

	"berth/backend/event"
)

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"a\tb\n\nc":                   "a b c",
		"\x1b]0;title\x07x":           "]0;titlex",
		"ab\u202ecd":                  "abcd",
		"bad \xff byte":               "bad � byte",
		"日本 👩‍👩‍👧 é":                  "日本 👩‍👩‍👧 é",
		strings.Repeat(" ", 10) + "x": "x",
	} {
		if got := plain(in); got != want {
			t.Errorf("%q gives %q, want %q", in, got, want)
		}
	}
}

func TestItemLine(t *testing.T) {
	tool := func(status event.Status, body event.Tool) event.Item {
		return event.Item{Kind: event.ToolCall, Status: status, Body: event.Body{Tool: &body}}
	}
	for _, c := range []struct {
		it   event.Item
		want string
	}{
		{tool(event.Completed, event.Tool{Kind: event.ToolExecute, Title: "make all"}), "make all: done"},
		{tool(event.Failed, event.Tool{Kind: event.ToolExecute, Title: "make", Error: "no rule"}), "make: failed: no rule"},
		{tool(event.Cancelled, event.Tool{Name: "Bash"}), "Bash: stopped"},
		{tool(event.Completed, event.Tool{Title: "a.go", Files: []event.FileDiff{{Path: "a.go", Added: 2, Removed: 1}}}), "a.go: a.go +2 −1"},
		{event.Item{Kind: event.ToolCall, Summary: "of another version"}, "tool: of another version"},
		{event.Item{Kind: event.Plan, Body: event.Body{Plan: []event.PlanEntry{{Text: "one", Status: event.Completed}, {Text: "two"}}}}, "plan:\n  [x] one\n  [ ] two"},
		{event.Item{Kind: event.Approval, Body: event.Body{Request: approval}}, "asks: Run make"},
		{event.Item{Kind: "hologram", Summary: "something new"}, "hologram: something new"},
	} {
		if got := itemLine(c.it); got != c.want {
			t.Errorf("%s gives %q, want %q", c.it.Kind, got, c.want)
		}
	}
}
