package chat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"berth/backend/event"
	"berth/backend/provider"
	"berth/backend/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// script is a driver whose agent does what the test says. It stands for no
// product: it lets a test hold an agent at any point of a turn.
type script struct {
	mu       sync.Mutex
	openErr  error
	holdOpen chan struct{} // Open waits for it, or for its context
	deafOpen bool          // Open does not look at its context
	holdEnd  chan struct{} // Close waits for it
	sendErr  error
	delivery provider.Delivery
	closeErr error
	mute     bool // Interrupt does nothing
	sessions chan *scripted
	specs    []provider.Spec
}

type scripted struct {
	script *script
	events chan provider.Event
	sent   chan provider.Input
	answer chan provider.Answer
	closed sync.Once
}

func newScript() *script {
	return &script{delivery: provider.Sent, sessions: make(chan *scripted, 16)}
}

func (s *script) Name() string { return "script" }
func (s *script) Describe(context.Context, provider.Host) provider.Description {
	return provider.Description{Name: "script"}
}

func (s *script) Driver(name string) (provider.Driver, provider.Host, bool) {
	return s, provider.Host{}, name == "script"
}

func (s *script) Known(name string) (provider.Description, bool) {
	return provider.Description{Name: "script", Title: "Script", Modes: []provider.Permission{provider.Ask, provider.Full}}, name == "script"
}

func (s *script) Open(ctx context.Context, _ provider.Host, spec provider.Spec) (provider.Session, error) {
	s.mu.Lock()
	s.specs = append(s.specs, spec)
	hold, err := s.holdOpen, s.openErr
	if s.deafOpen {
		ctx = context.WithoutCancel(ctx)
	}
	s.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if err != nil {
		return nil, err
	}
	se := &scripted{script: s, events: make(chan provider.Event, 64), sent: make(chan provider.Input, 16), answer: make(chan provider.Answer, 16)}
	s.sessions <- se
	return se, nil
}

func (se *scripted) Send(_ context.Context, in provider.Input) (provider.Delivery, error) {
	se.script.mu.Lock()
	d, err := se.script.delivery, se.script.sendErr
	se.script.mu.Unlock()
	se.sent <- in
	return d, err
}
func (se *scripted) Steer(context.Context, provider.Input) (provider.Delivery, error) {
	return provider.NotSent, provider.ErrUnsupported
}
func (se *scripted) Interrupt(context.Context) error {
	se.script.mu.Lock()
	defer se.script.mu.Unlock()
	if !se.script.mute {
		se.events <- provider.Event{TurnEnded: &provider.TurnEnded{State: "stopped"}}
	}
	return nil
}
func (se *scripted) Answer(_ context.Context, _ string, a provider.Answer) error {
	se.answer <- a
	return nil
}
func (se *scripted) Close(context.Context) error {
	se.script.mu.Lock()
	err, hold := se.script.closeErr, se.script.holdEnd
	se.script.mu.Unlock()
	if hold != nil {
		<-hold
	}
	se.closed.Do(func() {
		se.events <- provider.Event{Closed: &provider.Closed{}}
		close(se.events)
	})
	return err
}
func (se *scripted) Events() <-chan provider.Event { return se.events }
func (se *scripted) Processes() []string           { return nil }

func (se *scripted) accept() { se.events <- provider.Event{Accepted: &provider.Accepted{}} }
func (se *scripted) end() {
	se.events <- provider.Event{TurnEnded: &provider.TurnEnded{State: "completed", StopReason: "end_turn"}}
}

// noFiles keeps nothing.
type noFiles struct{}

func (noFiles) Put(_ context.Context, _, _, name, mediaType string, r io.Reader) (event.File, error) {
	n, err := io.Copy(io.Discard, r)
	return event.File{ID: store.NewID("file"), Name: name, Type: mediaType, Size: n}, err
}
func (noFiles) Locate(context.Context, string) (event.File, string, error) {
	return event.File{}, "", errors.New("no such file")
}
func (noFiles) RemoveChat(context.Context, string) error { return nil }

// maxText is MaxText of the tests.
const maxText = 64 << 10

// world is a service on a database that a test can close and open again.
type world struct {
	*Service
	t      *testing.T
	script *script
	db     *store.DB
	path   string
	chat   string
	cwd    string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, script: newScript(), path: filepath.Join(t.TempDir(), "berth.db"), cwd: t.TempDir()}
	w.open()
	t.Cleanup(w.close)
	c, err := w.Create(t.Context(), NewChat{Agent: "script", Cwd: w.cwd})
	if err != nil {
		t.Fatal(err)
	}
	w.chat = c.ID
	return w
}

func (w *world) open() {
	w.t.Helper()
	var err error
	if w.db, err = store.Open(w.t.Context(), w.path); err != nil {
		w.t.Fatal(err)
	}
	hub, err := event.NewHub(w.t.Context(), w.db)
	if err != nil {
		w.t.Fatal(err)
	}
	w.Service, err = Open(w.t.Context(), Options{DB: w.db, Log: event.NewLog(w.db, hub), Hub: hub, Agents: w.script, Files: noFiles{},
		Logger: slog.New(slog.DiscardHandler),
		Bounds: Bounds{Open: 5 * time.Second, Interrupt: 50 * time.Millisecond, Close: time.Second, IdleEvict: time.Hour, MaxLoaded: 8, FlushEvery: 5 * time.Millisecond, MaxText: maxText}})
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := w.Service.Close(ctx); err != nil {
		w.t.Error(err)
	}
	if err := w.db.Close(); err != nil {
		w.t.Error(err)
	}
}

// crash ends the service as a kill would: nothing is settled. The database
// is closed under it, so that no late write can help.
func (w *world) crash() {
	w.t.Helper()
	if err := w.db.Close(); err != nil {
		w.t.Fatal(err)
	}
	old := w.Service
	old.cancel()
	for len(w.script.sessions) > 0 {
		<-w.script.sessions
	}
	w.open()
}

func (w *world) send(text string) Accepted {
	w.t.Helper()
	a, err := w.Send(w.t.Context(), w.chat, NewTurn{Text: text, ClientID: store.NewID("client")})
	if err != nil {
		w.t.Fatal(err)
	}
	return a
}

// session waits for the agent to be started and to get a message.
func (w *world) session() *scripted {
	w.t.Helper()
	select {
	case se := <-w.script.sessions:
		return se
	case <-time.After(5 * time.Second):
		w.t.Fatal("the agent was not started")
		return nil
	}
}

func (w *world) sent(se *scripted) provider.Input {
	w.t.Helper()
	select {
	case in := <-se.sent:
		return in
	case <-time.After(5 * time.Second):
		w.t.Fatal("the agent got no message")
		return provider.Input{}
	}
}

// until waits for the chat to be as the test wants it, by its summaries on
// the stream.
func (w *world) until(what string, ok func(Chat) bool) Chat {
	w.t.Helper()
	s, err := w.hub.Subscribe(w.t.Context(), store.NewID("test"), "", []string{w.chat})
	if err != nil {
		w.t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(w.t.Context(), 5*time.Second)
	defer cancel()
	for {
		c, err := w.Get(w.t.Context(), w.chat)
		if err != nil {
			w.t.Fatal(err)
		}
		if ok(c) {
			return c
		}
		if ctx.Err() != nil {
			w.t.Fatalf("never %s; the chat is %s, its turn %+v", what, c.State, c.Turn)
		}
		if _, err := s.Next(ctx, event.MaxBatch); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) untilTurn(id string, state TurnState) Turn {
	w.t.Helper()
	var found Turn
	w.until(fmt.Sprintf("%s %s", id, state), func(Chat) bool {
		found = w.turnOf(id)
		return found.State == state
	})
	return found
}

func (w *world) turnOf(id string) Turn {
	w.t.Helper()
	rows, err := queryTurns(w.t.Context(), w.db.Read(), "t.text", "t.id = ?", id)
	if err != nil || len(rows) != 1 {
		w.t.Fatalf("turn %s: %d rows, %v", id, len(rows), err)
	}
	return rows[0].Turn
}

func (w *world) items(kind event.Kind) []event.Item {
	w.t.Helper()
	p, err := w.Items(w.t.Context(), w.chat, 0, 0, maxPage)
	if err != nil {
		w.t.Fatal(err)
	}
	var found []event.Item
	for _, it := range p.Items {
		if it.Kind == kind {
			found = append(found, it)
		}
	}
	return found
}

// terminalEvents counts, for each turn, the events that end it (rule 5).
func (w *world) terminalEvents() map[string]int {
	w.t.Helper()
	rows, err := w.db.Read().Query("select turn_id, body from events where type = 'turn' order by id")
	if err != nil {
		w.t.Fatal(err)
	}
	defer rows.Close()
	ends := map[string]int{}
	for rows.Next() {
		var turn, body string
		if err := rows.Scan(&turn, &body); err != nil {
			w.t.Fatal(err)
		}
		for _, s := range []TurnState{TurnCompleted, TurnFailed, TurnStopped, TurnInterrupted} {
			if strings.Contains(body, `"state":"`+string(s)+`"`) {
				ends[turn]++
			}
		}
	}
	return ends
}

func TestTurnRunsAndEndsOnce(t *testing.T) {
	w := newWorld(t)
	const text = "  keep\tme \n exactly <&> 你好  "
	a := w.send(text)
	se := w.session()
	if in := w.sent(se); in.Text != text || in.Turn != a.Turn {
		t.Errorf("the agent got %q", in.Text)
	}
	se.accept()
	se.events <- provider.Event{Text: &provider.Text{Key: "m1", Kind: event.Answer, Text: "Hel"}}
	se.events <- provider.Event{Text: &provider.Text{Key: "m1", Kind: event.Answer, Text: "lo"}}
	se.events <- provider.Event{Item: &provider.Item{Key: "m1", Kind: event.Answer, Status: event.Completed, Body: event.Body{Text: "Hello"}, ProviderID: "p1"}}
	se.end()
	c := w.until("idle", func(c Chat) bool { return c.State == Idle })
	if c.Turn.State != TurnCompleted || !c.Unread || c.Title != "keep\tme" {
		t.Errorf("chat %+v", c)
	}
	if got := w.items(event.Answer); len(got) != 1 || got[0].Body.Text != "Hello" || got[0].ProviderID != "p1" {
		t.Errorf("answers %+v", got)
	}
	if got := w.items(event.UserMessage); len(got) != 1 || got[0].Body.Text != text || got[0].Status != event.Completed {
		t.Errorf("messages %+v", got)
	}
	if n := w.terminalEvents()[a.Turn]; n != 1 {
		t.Errorf("%d terminal events", n)
	}
}

func TestSameClientIDIsOneTurn(t *testing.T) {
	w := newWorld(t)
	n := NewTurn{Text: "once", ClientID: "c1"}
	first, err := w.Send(t.Context(), w.chat, n)
	if err != nil {
		t.Fatal(err)
	}
	again, err := w.Send(t.Context(), w.chat, n)
	if err != nil || again.Turn != first.Turn {
		t.Errorf("%+v, %v", again, err)
	}
	n.Text = "other"
	var refused *Error
	if _, err := w.Send(t.Context(), w.chat, n); !errors.As(err, &refused) || refused.Code != "client_id_reused" {
		t.Errorf("error %v", err)
	}
	se := w.session()
	w.sent(se)
	if len(se.sent) != 0 {
		t.Error("the message was sent twice")
	}
}

func TestQueueGoesInOrderAndStopHoldsIt(t *testing.T) {
	w := newWorld(t)
	first, second, third := w.send("1"), w.send("2"), w.send("3")
	if second.Position != 1 || third.Position != 2 {
		t.Errorf("positions %d, %d", second.Position, third.Position)
	}
	se := w.session()
	w.sent(se)
	se.accept()
	w.untilTurn(first.Turn, TurnRunning)
	r, err := w.Stop(t.Context(), w.chat)
	if err != nil || r.State != "stopped" || r.Held != 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	if got := w.turnOf(second.Turn); got.State != TurnHeld || got.Reason != "stopped" {
		t.Errorf("second is %s, %s", got.State, got.Reason)
	}
	if err := w.Release(t.Context(), w.chat, third.Turn); err != nil {
		t.Fatal(err)
	}
	if in := w.sent(se); in.Text != "3" {
		t.Errorf("%q was sent", in.Text)
	}
	se.accept()
	se.end()
	w.untilTurn(third.Turn, TurnCompleted)
	if got := w.turnOf(second.Turn).State; got != TurnHeld {
		t.Errorf("second is %s", got)
	}
	if err := w.Remove(t.Context(), second.Turn); err != nil {
		t.Fatal(err)
	}
	if got := w.turnOf(second.Turn); got.State != TurnStopped || got.Reason != "removed" {
		t.Errorf("second is %s, %s", got.State, got.Reason)
	}
}

func TestStopInEveryPhase(t *testing.T) {
	tests := []struct {
		name    string
		prepare func(w *world, turn string)
	}{
		{"starting", func(w *world, _ string) {}},
		{"running", func(w *world, turn string) {
			close(w.script.holdOpen)
			se := w.session()
			w.sent(se)
			se.accept()
			w.untilTurn(turn, TurnRunning)
		}},
		{"awaiting", func(w *world, turn string) {
			close(w.script.holdOpen)
			se := w.session()
			w.sent(se)
			se.accept()
			se.events <- provider.Event{Request: &provider.Request{Key: "r", Kind: event.Approval, Body: event.Request{Title: "May I?", Options: []event.Option{{ID: "yes", Kind: event.AllowOnce}}}}}
			w.untilTurn(turn, TurnAwaitingInput)
		}},
		{"not listening", func(w *world, turn string) {
			w.script.mu.Lock()
			w.script.mute = true
			w.script.mu.Unlock()
			close(w.script.holdOpen)
			se := w.session()
			w.sent(se)
			se.accept()
			se.events <- provider.Event{Text: &provider.Text{Key: "m", Kind: event.Answer, Text: "so far"}}
			w.untilTurn(turn, TurnRunning)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.script.holdOpen = make(chan struct{})
			a := w.send("work")
			tt.prepare(w, a.Turn)
			r, err := w.Stop(t.Context(), w.chat)
			if err != nil || r.State != "stopped" {
				t.Fatalf("%+v, %v", r, err)
			}
			if got := w.turnOf(a.Turn); got.State != TurnStopped {
				t.Errorf("turn is %s", got.State)
			}
			if n := w.terminalEvents()[a.Turn]; n != 1 {
				t.Errorf("%d terminal events", n)
			}
			if left, err := w.log.Select(t.Context(), "status in ('pending','in_progress')"); err != nil || len(left) != 0 {
				t.Errorf("left open: %+v, %v", left, err)
			}
		})
	}
}

func TestUnconfirmedStopFencesTheChat(t *testing.T) {
	w := newWorld(t)
	w.script.mute, w.script.closeErr = true, errors.New("process 4117 is still there")
	a := w.send("work")
	se := w.session()
	w.sent(se)
	se.accept()
	w.untilTurn(a.Turn, TurnRunning)
	r, err := w.Stop(t.Context(), w.chat)
	if err != nil || r.State != "fenced" || len(r.Unconfirmed) != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	b := w.send("more")
	if c := w.until("fenced", func(c Chat) bool { return c.State == Fenced }); c.Queued != 1 {
		t.Errorf("queued %d", c.Queued)
	}
	w.script.mu.Lock()
	w.script.closeErr, w.script.mute = nil, false
	w.script.mu.Unlock()
	if r, err = w.Stop(t.Context(), w.chat); err != nil || r.State != "stopped" {
		t.Fatalf("%+v, %v", r, err)
	}
	w.untilTurn(a.Turn, TurnStopped)
	se = w.session()
	if in := w.sent(se); in.Turn != b.Turn {
		t.Errorf("%q was sent", in.Text)
	}
}

func TestOneAnswerWins(t *testing.T) {
	w := newWorld(t)
	a := w.send("work")
	se := w.session()
	w.sent(se)
	se.accept()
	se.events <- provider.Event{Request: &provider.Request{Key: "r", Kind: event.Approval, Body: event.Request{Title: "May I?", Options: []event.Option{
		{ID: "yes", Kind: event.AllowOnce}, {ID: "no", Kind: event.RejectOnce, Reason: true}}}}}
	c := w.until("asked", func(c Chat) bool { return len(c.Waiting) == 1 && c.State == AwaitingInput })
	id := c.Waiting[0].Request
	for _, bad := range []GivenAnswer{{}, {Option: "maybe"}, {Option: "yes", Reason: "because"}} {
		var refused *Error
		if _, err := w.Answer(t.Context(), id, bad, "owner"); !errors.As(err, &refused) || refused.Code != "invalid" {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	var wg sync.WaitGroup
	results := make([]error, 8)
	for i := range results {
		wg.Go(func() {
			_, results[i] = w.Answer(t.Context(), id, GivenAnswer{Option: []string{"yes", "no"}[i%2]}, "owner")
		})
	}
	wg.Wait()
	won := 0
	for _, err := range results {
		var refused *Error
		if err == nil {
			won++
		} else if !errors.As(err, &refused) || refused.Code != "already_answered" || refused.Winner == nil {
			t.Errorf("error %v", err)
		}
	}
	if won != 1 || len(se.answer) > 1 {
		t.Errorf("%d answers won", won)
	}
	<-se.answer
	se.end()
	w.untilTurn(a.Turn, TurnCompleted)
}

func TestAgentThatEndsEarly(t *testing.T) {
	tests := []struct {
		name     string
		accepted bool
		want     TurnState
	}{
		{"before it accepted", false, TurnUncertain},
		{"after it accepted", true, TurnFailed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			a := w.send("work")
			se := w.session()
			w.sent(se)
			if tt.accepted {
				se.accept()
			}
			w.untilTurn(a.Turn, TurnRunning)
			_ = se.Close(t.Context())
			w.untilTurn(a.Turn, tt.want)
			if tt.want != TurnUncertain {
				return
			}
			// Only the user's word sends it again, and the timeline has it once.
			if err := w.Release(t.Context(), w.chat, a.Turn); err != nil {
				t.Fatal(err)
			}
			se = w.session()
			w.sent(se)
			se.accept()
			se.end()
			w.untilTurn(a.Turn, TurnCompleted)
			if got := w.items(event.UserMessage); len(got) != 1 {
				t.Errorf("%d messages in the timeline", len(got))
			}
		})
	}
}

func TestFailedStartKeepsTheMessage(t *testing.T) {
	w := newWorld(t)
	w.script.openErr = &provider.Error{Code: "signed_out", Text: "Script is signed out.", Action: "sign_in"}
	a := w.send("work")
	got := w.untilTurn(a.Turn, TurnFailed)
	if got.Error == nil || got.Error.Code != "signed_out" || got.Error.Action != "sign_in" || got.Text != "work" {
		t.Errorf("%+v", got)
	}
	if notices := w.items(event.Notice); len(notices) != 1 || notices[0].Body.Notice.Code != "signed_out" {
		t.Errorf("%+v", notices)
	}
}

func TestMissingFolderIsSaid(t *testing.T) {
	w := newWorld(t)
	if err := os.RemoveAll(w.cwd); err != nil {
		t.Fatal(err)
	}
	a := w.send("work")
	if got := w.untilTurn(a.Turn, TurnFailed); got.Error.Code != "cwd_missing" {
		t.Errorf("%+v", got.Error)
	}
}

// After a crash each turn is where what is proven of it puts it, nothing is
// sent again by itself, and what streamed is kept.
func TestRecovery(t *testing.T) {
	tests := []struct {
		name    string
		prepare func(w *world, turn string)
		want    TurnState
		resends bool
	}{
		{"not sent", func(w *world, turn string) { w.untilTurn(turn, TurnStarting) }, TurnRunning, true},
		{"written", func(w *world, turn string) {
			close(w.script.holdOpen)
			w.sent(w.session())
			w.untilTurn(turn, TurnRunning)
		}, TurnUncertain, false},
		{"accepted", func(w *world, turn string) {
			close(w.script.holdOpen)
			se := w.session()
			w.sent(se)
			se.accept()
			se.events <- provider.Event{Text: &provider.Text{Key: "m", Kind: event.Answer, Text: "so far"}}
			w.until("text stored", func(Chat) bool {
				var n int
				_ = w.db.Read().QueryRow("select count(*) from events where type = 'item.text'").Scan(&n)
				return n == 1
			})
		}, TurnInterrupted, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.script.holdOpen = make(chan struct{})
			a := w.send("work")
			b := w.send("next")
			tt.prepare(w, a.Turn)
			hold := w.script.holdOpen
			w.script.mu.Lock()
			w.script.holdOpen = nil
			w.script.mu.Unlock()
			w.crash()
			select {
			case <-hold:
			default:
				close(hold)
			}
			got := w.untilTurn(a.Turn, tt.want)
			if tt.resends {
				se := w.session()
				if in := w.sent(se); in.Text != "work" {
					t.Errorf("%q was sent", in.Text)
				}
				return
			}
			if len(w.script.sessions) != 0 {
				t.Error("an agent was started by itself")
			}
			if next := w.turnOf(b.Turn); next.State != TurnHeld || next.Reason != "restart" {
				t.Errorf("the message behind is %s, %s", next.State, next.Reason)
			}
			if got.State == TurnInterrupted {
				if answers := w.items(event.Answer); len(answers) != 1 || answers[0].Body.Text != "so far" || answers[0].Status != event.Completed {
					t.Errorf("answers %+v", answers)
				}
				if n := w.terminalEvents()[a.Turn]; n != 1 {
					t.Errorf("%d terminal events", n)
				}
			}
		})
	}
}

func TestCloseSettlesWhatRuns(t *testing.T) {
	w := newWorld(t)
	a := w.send("work")
	se := w.session()
	w.sent(se)
	se.accept()
	w.untilTurn(a.Turn, TurnRunning)
	w.close()
	w.open()
	if got := w.turnOf(a.Turn); got.State != TurnInterrupted || got.Reason != "closed" {
		t.Errorf("turn is %s, %s", got.State, got.Reason)
	}
}

func TestDeletedChatIsGone(t *testing.T) {
	w := newWorld(t)
	a := w.send("work")
	se := w.session()
	w.sent(se)
	se.accept()
	w.untilTurn(a.Turn, TurnRunning)
	if err := w.Delete(t.Context(), w.chat); err != nil {
		t.Fatal(err)
	}
	var refused *Error
	if _, err := w.Get(t.Context(), w.chat); !errors.As(err, &refused) || refused.Code != "not_found" {
		t.Errorf("error %v", err)
	}
	w.close()
	w.open() // what an end of the backend interrupts goes on at the next start
	w.purgeDeleted()
	for _, table := range []string{"chats where id", "items where chat_id", "turns where chat_id", "events where chat_id"} {
		var n int
		if err := w.db.Read().QueryRow("select count(*) from "+table+" = ?", w.chat).Scan(&n); err != nil || n != 0 {
			t.Errorf("%s: %d rows, %v", table, n, err)
		}
	}
}
