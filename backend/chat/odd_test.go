package chat

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"berth/backend/event"
	"berth/backend/provider"
	"berth/backend/store"
)

// refused says whether err is a refusal of that code.
func refused(err error, code string) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}

func TestTheFolderIsFixedWhileTheFirstTurnStarts(t *testing.T) {
	w := newWorld(t)
	w.script.holdOpen = make(chan struct{})
	w.send("work")
	other := t.TempDir()
	if _, err := w.Update(t.Context(), w.chat, Change{Cwd: &other}); !refused(err, "invalid") {
		t.Errorf("another folder while the agent starts: %v", err)
	}
	close(w.script.holdOpen)
	w.sent(w.session())
}

func TestDeleteIsCarriedThroughAlthoughItsCallerIsGone(t *testing.T) {
	w := newWorld(t)
	a := w.send("work")
	se := w.session()
	w.sent(se)
	se.accept()
	se.end()
	w.untilTurn(a.Turn, TurnCompleted)
	w.script.mu.Lock()
	w.script.holdEnd = make(chan struct{})
	w.script.mu.Unlock()
	ctx, leave := context.WithCancel(t.Context())
	deleted := make(chan error)
	go func() { deleted <- w.Delete(ctx, w.chat) }()
	w.until("being closed", func(c Chat) bool { return c.State == NotLoaded || w.closingOf() })
	leave()
	close(w.script.holdEnd)
	if err := <-deleted; err != nil {
		t.Error(err)
	}
	if _, err := w.Get(t.Context(), w.chat); !refused(err, "not_found") {
		t.Errorf("the chat: %v", err)
	}
	if _, err := w.Send(t.Context(), w.chat, NewTurn{Text: "x", ClientID: "x"}); !refused(err, "not_found") {
		t.Errorf("a message to it: %v", err)
	}
}

// closingOf says whether the chat's agent is being ended.
func (w *world) closingOf() (closing bool) {
	_ = w.do(w.t.Context(), w.chat, func(a *actor) error { closing = a.closing; return nil })
	return closing
}

// A disk that takes nothing must not let a stop wait for ever: the agent is
// ended, the answer says what is not on record, and the record follows.
func TestStopAnswersWhileTheDiskTakesNothing(t *testing.T) {
	w := newWorld(t)
	a := w.send("work")
	se := w.session()
	w.sent(se)
	se.accept()
	w.untilTurn(a.Turn, TurnRunning)
	b := w.send("next")
	w.exec("create trigger full before update on turns begin select raise(abort, 'no room'); end")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	r, err := w.Stop(ctx, w.chat)
	if err != nil || r.State != "stopping" || r.Turn != a.Turn || r.Held != 1 || len(r.Unconfirmed) != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	w.exec("drop trigger full")
	w.untilTurn(a.Turn, TurnStopped)
	if next := w.turnOf(b.Turn); next.State != TurnHeld {
		t.Errorf("what waited is %s on disk", next.State)
	}
	if ends := w.terminalEvents(); ends[a.Turn] != 1 {
		t.Errorf("%d ends", ends[a.Turn])
	}
}

func (w *world) exec(statement string) {
	w.t.Helper()
	err := w.db.Write(context.Background(), func(tx *store.Tx) error {
		_, err := tx.Exec(statement)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// An agent that comes up after its stop was given up gets no message, and
// its end opens the chat again.
func TestAStartThatOutlivesItsStopSendsNothing(t *testing.T) {
	w := newWorld(t)
	w.script.holdOpen, w.script.deafOpen = make(chan struct{}), true
	a := w.send("work")
	r, err := w.Stop(t.Context(), w.chat)
	if err != nil || r.State != "fenced" {
		t.Fatalf("%+v, %v", r, err)
	}
	close(w.script.holdOpen)
	w.untilTurn(a.Turn, TurnStopped)
	if se := w.session(); len(se.sent) != 0 {
		t.Errorf("%q was sent after the stop", (<-se.sent).Text)
	}
	w.until("open again", func(c Chat) bool { return c.State == NotLoaded })
}

func TestAnAgentThatEndsLeavesNothingOpen(t *testing.T) {
	for name, end := range map[string]func(*world, *scripted){
		"evicted": func(w *world, _ *scripted) {
			_ = w.do(t.Context(), w.chat, func(a *actor) error { a.evict(); return nil })
		},
		"by itself": func(_ *world, se *scripted) { _ = se.Close(context.Background()) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			a := w.send("work")
			se := w.session()
			w.sent(se)
			se.accept()
			se.events <- provider.Event{Item: &provider.Item{Key: "bg", Kind: event.ToolCall, Status: event.InProgress, Body: event.Body{Tool: &event.Tool{Title: "server", Background: true}}}}
			se.end()
			w.untilTurn(a.Turn, TurnCompleted)
			se.events <- provider.Event{Text: &provider.Text{Key: "late", Kind: event.Answer, Text: "by the way"}}
			w.until("told", func(Chat) bool { return len(w.items(event.Answer)) == 1 })
			end(w, se)
			w.until("not loaded", func(c Chat) bool { return c.State == NotLoaded })
			if left, err := w.log.Select(t.Context(), "status in ('pending','in_progress')"); err != nil || len(left) != 0 {
				t.Errorf("left open: %+v, %v", left, err)
			}
		})
	}
}

func TestAnAnswerIsBounded(t *testing.T) {
	w := newWorld(t)
	a := w.send("work")
	se := w.session()
	w.sent(se)
	se.accept()
	piece := "x" + strings.Repeat("字", 1000)
	for sent := 0; sent <= maxText+len(piece); sent += len(piece) {
		se.events <- provider.Event{Text: &provider.Text{Key: "a", Kind: event.Answer, Text: piece}}
	}
	se.events <- provider.Event{Item: &provider.Item{Key: "b", Kind: event.Answer, Status: event.Completed, Body: event.Body{Text: strings.Repeat("y", maxText+1)}}}
	se.end()
	w.untilTurn(a.Turn, TurnCompleted)
	answers, notices := w.items(event.Answer), w.items(event.Notice)
	for _, it := range answers {
		if n := len(it.Body.Text); n > maxText || n < maxText-3 || strings.ContainsRune(it.Body.Text, '\uFFFD') {
			t.Errorf("an answer of %d bytes", n)
		}
	}
	if len(answers) == 0 || len(notices) != 2 || notices[0].Body.Notice.Code != "text_cut" {
		t.Errorf("%d answers, notices %+v", len(answers), notices)
	}
}

func TestTheQueueIsBoundedInBytes(t *testing.T) {
	w := newWorld(t)
	w.script.holdOpen, w.script.deafOpen = make(chan struct{}), true
	defer close(w.script.holdOpen)
	w.send("first")
	large := strings.Repeat("x", maxQueueBytes/4)
	for range 4 {
		w.send(large)
	}
	if _, err := w.Send(t.Context(), w.chat, NewTurn{Text: "x", ClientID: "x"}); !refused(err, "queue_full") {
		t.Errorf("one more: %v", err)
	}
	if err := w.Remove(t.Context(), w.lastQueued()); err != nil {
		t.Fatal(err)
	}
	w.send("x")
}

func (w *world) lastQueued() string {
	w.t.Helper()
	queue, err := w.Queue(w.t.Context(), w.chat)
	if err != nil {
		w.t.Fatal(err)
	}
	return queue[len(queue)-1].ID
}
