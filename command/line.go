package command

import (
	"fmt"
	"strings"
	"unicode"

	"berth/backend/event"
)

// plain makes one line of text that agents or repositories wrote, without
// what a terminal would obey.
func plain(s string) string {
	return strings.Join(strings.Fields(plainText(s)), " ")
}

// plainText is text as a terminal may show it: control characters other than
// line breaks and tabs are left out, so that it cannot move the cursor, set
// titles or write to the clipboard.
func plainText(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "�"))
}

// itemLine tells in one line what an item is. Messages tell themselves.
func itemLine(it event.Item) string {
	switch it.Kind {
	case event.UserMessage:
		return "you:"
	case event.Answer:
		return ""
	case event.Thought:
		return "thought:"
	case event.ToolCall:
		return toolLine(it)
	case event.Plan:
		return planLines(it.Body.Plan)
	case event.Approval, event.Question:
		return requestLine(it)
	case event.Diff:
		return "changed " + filesLine(it.Body.Files)
	}
	return string(it.Kind) + ": " + plain(it.Summary)
}

func toolLine(it event.Item) string {
	t := it.Body.Tool
	if t == nil {
		return "tool: " + plain(it.Summary)
	}
	what := t.Title
	if what == "" {
		what = t.Name
	}
	line := plain(what)
	if line == "" {
		line = string(t.Kind)
	}
	switch {
	case it.Status == event.Failed && t.Error != "":
		line += ": failed: " + plain(t.Error)
	case it.Status == event.Failed:
		line += ": failed"
	case it.Status == event.Cancelled:
		line += ": stopped"
	case it.Status == event.Completed && len(t.Files) > 0:
		line += ": " + filesLine(t.Files)
	case it.Status == event.Completed:
		line += ": done"
	}
	return line
}

func filesLine(files []event.FileDiff) string {
	parts := make([]string, len(files))
	for i, f := range files {
		parts[i] = fmt.Sprintf("%s +%d −%d", plain(f.Path), f.Added, f.Removed)
	}
	return strings.Join(parts, ", ")
}

func planLines(plan []event.PlanEntry) string {
	lines := []string{"plan:"}
	for _, p := range plan {
		mark := " "
		switch p.Status {
		case event.Completed:
			mark = "x"
		case event.InProgress:
			mark = ">"
		}
		lines = append(lines, fmt.Sprintf("  [%s] %s", mark, plain(p.Text)))
	}
	return strings.Join(lines, "\n")
}

func requestLine(it event.Item) string {
	r := it.Body.Request
	if r == nil {
		return "asks: " + plain(it.Summary)
	}
	line := "asks: " + plain(r.Title)
	if r.Answer != nil {
		line += ": " + r.Answer.Outcome
		if r.Answer.Option != "" {
			line += " " + r.Answer.Option
		}
	}
	return line
}
