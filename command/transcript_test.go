package command

import (
	"bytes"
	"testing"

	"berth/backend/event"
)

func TestTranscript(t *testing.T) {
	say := func(id, text string) event.Item {
		return event.Item{ID: id, Kind: event.Answer, Body: event.Body{Text: text}}
	}
	run := func(status event.Status) event.Item {
		return event.Item{ID: "t", Kind: event.ToolCall, Status: status, Body: event.Body{Tool: &event.Tool{Title: "make"}}}
	}
	var out, errs bytes.Buffer
	tr := transcript{out: &out, err: &errs, safe: true, items: map[string]*shown{}}
	tr.item(say("a", "Hé"))
	tr.delta(event.Delta{Item: "a", Offset: 2, Text: "llo 👋"}) // offsets count UTF-16 units
	tr.delta(event.Delta{Item: "a", Offset: 8, Text: "!"})
	tr.delta(event.Delta{Item: "a", Offset: 99, Text: "lost"})
	tr.delta(event.Delta{Item: "unknown", Offset: 0, Text: "lost"})
	tr.item(say("a", "Héllo")) // older than what was shown
	tr.item(run(event.InProgress))
	tr.item(run(event.Completed))
	tr.item(run(event.Completed))
	tr.item(say("a", "Héllo 👋! More")) // goes on after the tool
	tr.item(say("b", "\x1b[31mred\n"))
	tr.item(event.Item{ID: "th", Kind: event.Thought, Body: event.Body{Text: "hmm"}})
	tr.finish()
	if want := "Héllo 👋!\n More\n[31mred\n"; out.String() != want {
		t.Errorf("out %q, want %q", out.String(), want)
	}
	if want := "make: done\n"; errs.String() != want {
		t.Errorf("err %q, want %q", errs.String(), want)
	}
}
