package kill

import (
	"context"

	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/backend/chat"
	"berth/backend/event"
	"berth/backend/fault"
	"berth/backend/provider"
	"berth/test/program"
)

// patience bounds each wait; the program answers in milliseconds, the real
// agents in seconds.
const patience = 60 * time.Second

// agentUnder is how an agent is set up for a kill, and what it received.
type agentUnder interface {
	// received says how often the agent, or the model behind it, got the
	// text as a message of the user.
	received(text string) (int, error)
}

// message is one message the script sent.
type message struct {
	clientID string
	text     string
	turn     string // set when it was accepted
}

// world is one state directory and what is done to it.
type world struct {
	t     *testing.T
	state string
	agent agentUnder
	// atAgent says that received counts at the agent's own input; a message
	// that an agent took need not have reached the model behind it.
	atAgent bool
	name    string // of the agent
	slow    string // a text that is answered slowly
	ask     string // a text whose work needs a permission
	env     []string

	program  *program.Program
	chat     string
	messages []*message
	removed  []string // turns that the test took out of the queue
	follower *follower
}

// serve starts Berth, armed to die at a point, or not.
func (w *world) serve(point string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	env := w.env
	if point != "" {
		env = append(env[:len(env):len(env)], fault.Env+"="+point)
	}
	p, err := program.Serve(ctx, binary, w.state, env...)
	if err != nil {
		if point != "" && strings.HasPrefix(point, "recover.") {
			return // it died while it started, as it should
		}
		w.t.Fatal(err)
	}
	w.program = p
	w.t.Cleanup(func() { _ = p.Kill() })
}

// awaitDeath waits until the armed program is gone, and with it its agent.
func (w *world) awaitDeath() {
	w.t.Helper()
	if w.program != nil {
		select {
		case <-w.program.Done():
		case <-time.After(patience):
			w.t.Fatalf("the point was never passed; log:\n%s", w.program.Log())
		}
	}
	w.nothingLeft("after the death")
}

// nothingLeft waits until no process of this state directory is alive.
func (w *world) nothingLeft(when string) {
	w.t.Helper()
	var left []string
	w.eventually("no process is left "+when, func() (bool, error) {
		var err error
		left, err = program.Left(w.state)
		return len(left) == 0, err
	}, func() string { return strings.Join(left, "\n") })
}

// eventually polls for a fact that nothing announces.
func (w *world) eventually(what string, ok func() (bool, error), explain func() string) {
	w.t.Helper()
	limit := time.After(patience)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		done, err := ok()
		if err != nil {
			w.t.Fatalf("%s: %v", what, err)
		}
		if done {
			return
		}
		select {
		case <-tick.C:
		case <-limit:
			w.t.Fatalf("waited %s in vain: %s\n%s", patience, what, explain())
		}
	}
}

func (w *world) createChat(dir string) {
	w.t.Helper()
	c, err := w.program.CreateChat(w.t.Context(), chat.NewChat{Agent: w.name, Cwd: dir, Permissions: provider.Ask})
	if err != nil {
		w.t.Fatal(err)
	}
	w.chat = c.ID
}

// send posts a message. A program that dies meanwhile leaves it unaccepted.
func (w *world) send(text string) *message {
	m := &message{clientID: fmt.Sprintf("client-%d", len(w.messages)+1), text: text}
	w.messages = append(w.messages, m)
	w.post(m)
	return m
}

// post sends or repeats a message; the same client id may never make two
// turns.
func (w *world) post(m *message) {
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	a, err := w.program.Send(ctx, w.chat, chat.NewTurn{Text: m.text, ClientID: m.clientID})
	if err != nil {
		return // dead, or dying
	}
	if m.turn != "" && m.turn != a.Turn {
		w.t.Errorf("the message %s was turn %s and became turn %s", m.clientID, m.turn, a.Turn)
	}
	m.turn = a.Turn
}

// play runs a script until the program dies or the script is done.
func (w *world) play(s script) {
	switch s {
	case scriptHello:
		w.send("Say hello, 你好 👋")
	case scriptSecond:
		w.send("The first message")
		if w.until(func(c chat.Chat) bool { return ended(c) }) {
			w.send("The second message")
		}
	case scriptQueue:
		w.send(w.slow)
		w.send("The queued message")
	case scriptAsk:
		w.send(w.ask)
		w.allow()
	case scriptStop:
		w.send(w.slow)
		if w.until(func(c chat.Chat) bool { return c.Turn != nil && c.Turn.State == chat.TurnRunning }) {
			ctx, cancel := context.WithTimeout(w.t.Context(), patience)
			defer cancel()
			_, _ = w.program.Stop(ctx, w.chat) // it dies under this
		}
	}
}

// ended says whether the chat's last turn has ended.
func ended(c chat.Chat) bool { return c.Turn != nil && c.Turn.State.Terminal() && c.Queued == 0 }

// until waits until the chat looks so; false if the program died first.
func (w *world) until(ok func(chat.Chat) bool) bool {
	limit := time.After(patience)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		c, err := w.program.Chat(w.t.Context(), w.chat)
		if err == nil && ok(c) {
			return true
		}
		select {
		case <-tick.C:
		case <-w.program.Done():
			return false
		case <-limit:
			w.t.Errorf("waited %s in vain; the chat is %+v", patience, c)
			return false
		}
	}
}

// allow answers the first request with the first option that allows.
func (w *world) allow() {
	if !w.until(func(c chat.Chat) bool { return len(c.Waiting) > 0 }) {
		return
	}
	w.answerAll()
}

// answerAll allows once whatever is asked.
func (w *world) answerAll() {
	list, err := w.program.Requests(w.t.Context(), w.chat, false)
	if err != nil {
		return
	}
	for _, i := range list {
		if i.Body.Request == nil {
			continue
		}
		for _, o := range i.Body.Request.Options {
			if o.Kind == event.AllowOnce {
				_, _ = w.program.Answer(w.t.Context(), i.Body.Request.ID, chat.GivenAnswer{Option: o.ID})
				break
			}
		}
	}
}

// settle lets the program recover and finish what it goes on with by itself.
func (w *world) settle() chat.Chat {
	w.t.Helper()
	var settled chat.Chat
	if !w.until(func(c chat.Chat) bool {
		if len(c.Waiting) > 0 {
			w.answerAll()
		}
		settled = c
		switch c.State {
		case chat.Running, chat.AwaitingInput:
			return false
		}
		return c.Queued == c.Held || w.headUncertain()
	}) {
		w.t.Fatalf("the chat did not settle: %+v\n%s", settled, w.program.Log())
	}
	return settled
}

// headUncertain says whether an uncertain message keeps the queue.
func (w *world) headUncertain() bool {
	rows, err := w.program.Queue(w.t.Context(), w.chat)
	return err == nil && len(rows) > 0 && rows[0].State == chat.TurnUncertain
}

// goOn clears the queue, as a user would who has read it, and checks that the
// chat answers.
func (w *world) goOn() {
	w.t.Helper()
	rows, err := w.program.Queue(w.t.Context(), w.chat)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, r := range rows {
		if err := w.program.RemoveQueued(w.t.Context(), r.ID); err != nil {
			w.t.Fatal(err)
		}
		w.removed = append(w.removed, r.ID)
	}
	m := w.send("A message after the death")
	if m.turn == "" {
		w.t.Fatal("a message after the death was not accepted")
	}
	if !w.until(func(c chat.Chat) bool { return c.Turn != nil && c.Turn.ID == m.turn && c.Turn.State.Terminal() }) {
		w.t.Fatal("a message after the death was not answered")
	}
	c, err := w.program.Chat(w.t.Context(), w.chat)
	if err != nil {
		w.t.Fatal(err)
	}
	if c.Turn.State != chat.TurnCompleted {
		w.t.Errorf("the turn after the death ended %s: %+v", c.Turn.State, c.Turn.Error)
	}
	if n, err := w.agent.received(m.text); err != nil || n != 1 {
		w.t.Errorf("the agent received the message after the death %d times, %v", n, err)
	}
}

// follower reads the stream of a chat like a page does, across deaths.
type follower struct {
	mu     sync.Mutex
	cursor string
	began  int64 // id of the first cursor
	events []event.Event
	items  map[string]event.Item
	cancel context.CancelFunc
	done   chan struct{}
	reset  string
}

// follow begins, or goes on after, the last cursor.
func (w *world) follow() {
	w.t.Helper()
	f := w.follower
	if f == nil {
		f = &follower{items: map[string]event.Item{}}
		w.follower = f
	}
	again := f.cursor != ""
	ctx, cancel := context.WithCancel(w.t.Context())
	f.cancel, f.done = cancel, make(chan struct{})
	stream := w.program.Follow("page", f.cursor, w.chat)
	first := make(chan error, 1)
	go func() {
		defer close(f.done)
		for told := false; ; told = true {
			b, err := stream.Next(ctx)
			if err == nil {
				f.take(b)
			}
			if !told {
				first <- err
			}
			if err != nil {
				return
			}
		}
	}()
	if again {
		return // it may wait for something to happen
	}
	if err := <-first; err != nil {
		w.t.Fatalf("follow: %v", err)
	}
	f.began = f.lastID()
}

// at is the last cursor.
func (f *follower) at() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cursor
}

// lastID is the id in the last cursor, 0 if there is none.
func (f *follower) lastID() int64 {
	_, id, _ := strings.Cut(f.at(), ".")
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func (f *follower) take(b event.Batch) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if b.Reset != "" && f.cursor != "" {
		f.reset = b.Reset
	}
	f.cursor = b.Next
	for _, e := range b.Events {
		if e.ID != 0 { // summaries have none
			f.events = append(f.events, e)
		}
	}
	for _, i := range b.Items {
		f.items[i.ID] = i
	}
}

// unfollow ends the reading and waits for it.
func (w *world) unfollow() {
	if f := w.follower; f != nil && f.cancel != nil {
		f.cancel()
		<-f.done
		f.cancel = nil
	}
}

// stop ends the program as a user does.
func (w *world) stop() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := w.program.End(ctx); err != nil {
		w.t.Error(err)
	}
	w.nothingLeft("after the end")
}

func (w *world) database() string { return filepath.Join(w.state, "berth.db") }
