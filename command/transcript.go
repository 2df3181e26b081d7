package command

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf16"

	"berth/backend/api/client"
	"berth/backend/event"
)

// transcript writes a turn as it happens: answers to out as they stream, all
// else to err in single lines.
type transcript struct {
	out, err io.Writer
	safe     bool // out is a terminal: nothing may command it
	stream   *client.Stream
	turn     string

	mu       sync.Mutex
	items    map[string]*shown
	requests map[string]bool
	open     string // answer whose line is not ended
}

// shown is what was written of an item.
type shown struct {
	text string // of an answer, so far
	line string // of any other item
	skip bool   // an item that is not shown
}

// seenRequest remembers a request and says whether it was known.
func (t *transcript) seenRequest(id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.requests == nil {
		t.requests = map[string]bool{}
	}
	seen := t.requests[id]
	t.requests[id] = true
	return seen
}

func (t *transcript) item(it event.Item) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.items[it.ID]
	if s == nil {
		s = &shown{}
		t.items[it.ID] = s
	}
	switch it.Kind {
	case event.Answer:
		t.answer(it.ID, s, it.Body.Text)
	case event.UserMessage, event.Thought:
		s.skip = true
	case event.ToolCall:
		if it.Status == event.Completed || it.Status == event.Failed || it.Status == event.Cancelled {
			t.line(s, itemLine(it))
		}
	default:
		t.line(s, itemLine(it))
	}
}

// delta adds to an answer; one that does not fit is repaired by the next
// snapshot.
func (t *transcript) delta(d event.Delta) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.items[d.Item]
	if s == nil || s.skip || s.line != "" || len(utf16.Encode([]rune(s.text))) != d.Offset {
		return
	}
	t.answer(d.Item, s, s.text+d.Text)
}

// answer writes what is new of an answer.
func (t *transcript) answer(id string, s *shown, text string) {
	rest, grows := strings.CutPrefix(text, s.text)
	if !grows { // it was rewritten
		if strings.HasPrefix(s.text, text) {
			return // an older snapshot
		}
		t.endLine()
		rest = text
	}
	s.text = text
	if rest == "" {
		return
	}
	if t.open != id {
		t.endLine()
	}
	t.open = id
	if t.safe {
		rest = plainText(rest)
	}
	_, _ = io.WriteString(t.out, rest)
}

func (t *transcript) line(s *shown, line string) {
	if line == "" || line == s.line {
		return
	}
	s.line = line
	t.endLine()
	fmt.Fprintln(t.err, line)
}

// endLine ends the line of an answer before something else is written.
func (t *transcript) endLine() {
	if t.open == "" {
		return
	}
	if !strings.HasSuffix(t.items[t.open].text, "\n") {
		fmt.Fprintln(t.out)
	}
	t.open = ""
}

func (t *transcript) finish() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.endLine()
}
