package cursor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"berth/backend/process"
	"berth/backend/provider"
	"berth/backend/provider/watch"
	"berth/backend/provider/wire"
)

const (
	// maxEvents and maxStream bound what a turn may say; pieces of text are
	// events of their own.
	maxEvents = 500_000
	maxStream = 256 << 20 // bytes
	// exitGrace is for the process to end after its result: it still keeps
	// the conversation.
	exitGrace = 30 * time.Second
)

// turn is a message and the process that answers it.
type turn struct {
	id       string
	resumed  string // the conversation that it goes on with
	proc     process.Process
	lines    *wire.Lines
	dog      *watch.Dog
	p        *projector
	stopping bool // guarded by the session
	withheld atomic.Bool
	silent   atomic.Int64 // the limit that was passed, in nanoseconds
	lingered atomic.Bool  // the process did not end after its result

	// What follows belongs to the reader.
	session string // the conversation as the CLI names it
	model   string
	events  int
	bytes   int
	result  *line
	settled func() bool     // stops the wait for the end after the result
	fault   *provider.Error // why the turn is given up
}

func newDog(clock provider.Clock, t *turn) *watch.Dog { return watch.New(clock, limits, t.silence) }

// withhold gives up a turn whose message was not delivered; it is not told as
// ended.
func (t *turn) withhold() {
	t.withheld.Store(true)
	_ = t.proc.Stop(context.Background(), stopGrace) // the reader sees the end
}

// linger is called when the process still holds its output after its result:
// if it lives, it has not kept the turn yet; what it has started may.
func (t *turn) linger() {
	select {
	case <-t.proc.Done():
	default:
		t.lingered.Store(true)
	}
	_ = t.proc.Stop(context.Background(), stopGrace)
}

// silence is called when the watchdog has run out.
func (t *turn) silence(limit time.Duration) {
	t.silent.Store(int64(limit))
	_ = t.proc.Stop(context.Background(), stopGrace)
}

// run reads a turn to its end.
func (s *session) run(t *turn) {
	defer s.turns.Done()
	for t.fault == nil {
		raw, err := t.lines.Next()
		if err != nil {
			if errors.Is(err, wire.ErrLineTooLong) {
				t.fail("protocol", "Cursor's agent sent more in one line than Berth takes.")
			}
			break
		}
		s.take(t, raw)
		s.send(t.p.take())
	}
	s.end(t)
}

func (t *turn) fail(code, text string) {
	if t.fault == nil {
		t.fault = &provider.Error{Code: code, Text: text}
	}
}

// approvalWords tell that the CLI asks for what nobody can give it here.
var approvalWords = regexp.MustCompile(`(?i)waiting for approval|approve this|allow this|run this command\?|\(y/n\)|\[y/n\]|workspace trust`)

// take handles one line; what is wrong with it ends the turn.
func (s *session) take(t *turn, raw []byte) {
	t.events, t.bytes = t.events+1, t.bytes+len(raw)
	if t.events > maxEvents || t.bytes > maxStream {
		t.fail("protocol", "Cursor's agent said more in one turn than Berth takes.")
		return
	}
	var l line
	if raw[0] != '{' || unreadable(json.Unmarshal(raw, &l)) {
		s.send([]provider.Event{{Raw: shape(raw)}})
		t.fault = classify(string(raw), approvalWords.Match(raw))
		return
	}
	if l.Type == "system" && l.Subtype == "init" {
		s.begin(t, &l)
		return
	}
	switch {
	case t.session == "":
		t.fail("protocol", "Cursor's agent began to work before it named its conversation.")
		return
	case l.Session != "" && l.Session != t.session:
		t.fail("protocol", "Cursor's agent changed the conversation in the middle of a turn.")
		return
	}
	t.dog.Alive()
	switch l.Type {
	case "assistant":
		t.p.said(&l)
	case "thinking":
		t.p.thinking(&l)
	case "tool_call":
		if strings.Contains(l.Subtype, "confirm") || strings.Contains(l.Subtype, "approval") {
			t.fail("unsupported", "Cursor's agent asks for an approval, which it cannot be given here.")
		} else if !t.p.called(&l) {
			t.fail("protocol", "Cursor's agent made more tool calls in one turn than Berth takes.")
		}
	case "result":
		t.p.spent(l.Usage, t.model)
		if t.result == nil {
			t.settled = s.clock.AfterFunc(exitGrace, t.linger)
		}
		t.result = &l
	case "user": // an echo of the prompt
	default:
		s.send([]provider.Event{{Raw: shape(raw)}, {Active: true}})
	}
}

// unreadable says whether a line is not JSON; a field of another type than it
// was is passed over.
func unreadable(err error) bool {
	var changed *json.UnmarshalTypeError
	return err != nil && !errors.As(err, &changed)
}

// begin takes the agent's first word: it has the message.
func (s *session) begin(t *turn, l *line) {
	switch {
	case l.Session == "":
		t.fail("protocol", "Cursor's agent did not name its conversation.")
	case t.resumed != "" && l.Session != t.resumed:
		t.fail("not_resumable", "Cursor's agent began another conversation instead of going on with this one.")
	case t.session != "" && t.session != l.Session:
		t.fail("protocol", "Cursor's agent changed the conversation in the middle of a turn.")
	case t.session == "":
		t.session, t.model = l.Session, cut(l.Model, maxWord)
		t.dog.Alive()
		s.send([]provider.Event{{Accepted: &provider.Accepted{Turn: t.id, ProviderTurn: l.Session}}})
	}
}

// end tells how a turn ended, after its process has.
func (s *session) end(t *turn) {
	exit, byItself := s.exit(t)
	t.dog.Stop()
	if t.settled != nil {
		t.settled()
	}
	unfinished := t.p.end()
	events := t.p.take()
	s.mu.Lock()
	stopped := t.stopping
	s.mu.Unlock()
	switch {
	case t.withheld.Load():
	case t.session == "" && t.fault == nil && !stopped && exit.Signal != "" && t.silent.Load() == 0:
		// It was killed before it said whether it had the message.
		s.send(events)
		s.shut(&provider.Closed{Err: t.death(exit)})
		return
	default:
		ended := t.ended(exit, stopped, byItself, unfinished)
		if ended.State == "completed" {
			s.mu.Lock()
			s.conversation = t.session
			s.mu.Unlock()
			if t.session != t.resumed {
				events = append(events, provider.Event{Conversation: t.session})
			}
		}
		events = append(events, provider.Event{TurnEnded: ended})
	}
	s.release(t)
	s.send(events)
}

// exit waits for the process to end, and ends one that has been given up or
// does not. It says how it ended, and whether by itself.
func (s *session) exit(t *turn) (process.Exit, bool) {
	byItself := t.fault == nil
	if byItself {
		late := make(chan struct{})
		stop := s.clock.AfterFunc(exitGrace, func() { close(late) })
		defer stop()
		select {
		case <-t.proc.Done():
			return t.proc.Exit(), !t.lingered.Load()
		case <-late:
		}
	}
	_ = t.proc.Stop(context.Background(), stopGrace) // what is left is in the registry
	select {
	case <-t.proc.Done():
		return t.proc.Exit(), false
	default:
		return process.Exit{Code: -1}, false
	}
}

// ended is how a turn ended.
func (t *turn) ended(exit process.Exit, stopped, byItself, unfinished bool) *provider.TurnEnded {
	failed := func(e *provider.Error) *provider.TurnEnded { return &provider.TurnEnded{State: "failed", Err: e} }
	clean := exit.Code == 0 && exit.Signal == ""
	answered := t.result != nil && !t.result.IsError && t.result.Subtype == "success"
	switch {
	case stopped && !(answered && clean):
		return &provider.TurnEnded{State: "stopped", StopReason: "interrupted"}
	case t.silent.Load() > 0:
		return failed(t.tooSilent())
	case t.fault != nil:
		return failed(t.fault)
	case !byItself:
		return failed(&provider.Error{Code: "failed", Text: "Cursor's agent did not end after its answer; what it keeps of this turn is not known."})
	case t.result != nil && !answered:
		return failed(classify(t.result.Result, false))
	case !clean:
		return failed(t.death(exit))
	case t.session == "" || !answered:
		return failed(&provider.Error{Code: "protocol", Text: "Cursor's agent ended without an answer."})
	case unfinished:
		return failed(&provider.Error{Code: "protocol", Text: "Cursor's agent ended before its tools did."})
	}
	return &provider.TurnEnded{State: "completed", StopReason: "end_turn"}
}

// tooSilent says which silence ended the turn.
func (t *turn) tooSilent() *provider.Error {
	minutes := int(time.Duration(t.silent.Load()).Minutes())
	text := fmt.Sprintf("Cursor's agent gave no sign of life for %d minutes.", minutes)
	if t.session == "" {
		text = fmt.Sprintf("Cursor's agent did not begin within %d minutes.", minutes)
	}
	return &provider.Error{Code: "no_answer", Text: text, Action: "send_again"}
}

// death says why the process ended, from what it left on stderr.
func (t *turn) death(exit process.Exit) *provider.Error {
	words := ""
	for line := range strings.Lines(t.proc.StderrTail()) {
		// The CLI repeats its events there; they are no explanation.
		if line = strings.TrimSpace(line); line != "" && line[0] != '{' {
			words = line
		}
	}
	e := classify(words, approvalWords.MatchString(words))
	if e.Code == "failed" {
		e.Code, e.Text = "agent_ended", fmt.Sprintf("Cursor's agent ended with exit code %d.", exit.Code)
		if exit.Signal != "" {
			e.Text = fmt.Sprintf("Cursor's agent was ended by a signal (%s).", exit.Signal)
		}
	}
	return e
}
