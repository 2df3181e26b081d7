package claude

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/backend/event"
	"berth/backend/process"
	"berth/backend/provider"
	"berth/backend/store"
	"berth/test/clis"
	"berth/test/modelserver"
)

// The tests in this file run the real CLI against the model server. Without
// the CLI at its pinned version they are skipped; the conformance suite, where
// a missing CLI is a failure, covers the same ground.

// patience bounds each wait in these tests.
const patience = 60 * time.Second

// realClock is the clock of the machine.
type realClock struct{}

func (realClock) Now() time.Time { return time.Now() }
func (realClock) AfterFunc(d time.Duration, f func()) func() bool {
	return time.AfterFunc(d, f).Stop
}

// bench is what a test with the real CLI stands on.
type bench struct {
	t     *testing.T
	model *modelserver.Server
	host  provider.Host
	cwd   string
	home  string
	tape  string // to replay or to record
}

// real says whether the CLI is the real one.
func (b *bench) real() bool { return b.model != nil }

func newBench(t *testing.T, env ...string) *bench {
	t.Helper()
	path, err := clis.Find("claude")
	if err != nil {
		t.Skipf("the real CLI is not here: %v", err)
	}
	model, err := modelserver.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = model.Close() })
	home := t.TempDir()
	vars, err := model.Claude(home)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	db, err := store.Open(context.Background(), filepath.Join(t.TempDir(), "berth.db"))
	if err != nil {
		t.Fatal(err)
	}
	supervisor := process.NewSupervisor(db, log)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := supervisor.Close(ctx); err != nil {
			t.Errorf("processes are left: %v", err)
		}
		_ = db.Close()
	})
	cwd := t.TempDir()
	// The CLI looks for settings, and keeps what is always allowed, in the
	// nearest folder above that has a .git.
	if err := os.Mkdir(filepath.Join(cwd, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	return &bench{t: t, model: model, home: home, cwd: cwd,
		host: provider.Host{Processes: supervisor, Executable: path, Env: append(vars, env...), Clock: realClock{}, Version: "test"}}
}

func (b *bench) spec() provider.Spec {
	return provider.Spec{Chat: "chat_test", Cwd: b.cwd, Mode: provider.Ask}
}

// talk is a session with all that it has said.
type talk struct {
	provider.Session
	t    *testing.T
	mu   sync.Mutex
	seen []provider.Event
	more chan struct{}
	end  chan struct{}
}

func (b *bench) open(spec provider.Spec) *talk {
	b.t.Helper()
	var s provider.Session
	var err error
	switch {
	case !b.real():
		s, err = b.replay(spec)
	case *record && b.tape != "":
		s, err = b.openTaped(spec)
	default:
		s, err = New().Open(b.t.Context(), b.host, spec)
	}
	if err != nil {
		b.t.Fatalf("open: %v", err)
	}
	return follow(b.t, s)
}

func follow(t *testing.T, s provider.Session) *talk {
	k := &talk{Session: s, t: t, more: make(chan struct{}), end: make(chan struct{})}
	go func() {
		defer close(k.end)
		for e := range s.Events() {
			k.mu.Lock()
			k.seen = append(k.seen, e)
			close(k.more)
			k.more = make(chan struct{})
			k.mu.Unlock()
		}
	}()
	t.Cleanup(func() { k.close() })
	return k
}

func (k *talk) close() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := k.Close(ctx); err != nil {
		k.t.Errorf("close: %v", err)
	}
	select {
	case <-k.end:
	case <-ctx.Done():
		k.t.Error("the events did not end")
	}
}

// until waits for an event from the one numbered from on, and gives the
// number behind it.
func (k *talk) until(from int, what string, match func(provider.Event) bool) (provider.Event, int) {
	k.t.Helper()
	timeout := time.After(patience)
	for i := from; ; i++ {
		for {
			k.mu.Lock()
			more := k.more
			if i < len(k.seen) {
				k.mu.Unlock()
				break
			}
			k.mu.Unlock()
			select {
			case <-more:
			case <-timeout:
				k.t.Fatalf("no %s; seen: %s", what, k.story(from))
			case <-k.end:
				k.mu.Lock()
				left := i < len(k.seen)
				k.mu.Unlock()
				if !left {
					k.t.Fatalf("the session ended without %s; seen: %s", what, k.story(from))
				}
			}
		}
		k.mu.Lock()
		e := k.seen[i]
		k.mu.Unlock()
		if match(e) {
			return e, i + 1
		}
	}
}

// story tells what was seen, for messages.
func (k *talk) story(from int) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return tale(k.seen[min(from, len(k.seen)):])
}

func (k *talk) events() []provider.Event {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.seen)
}

func isEnd(e provider.Event) bool     { return e.TurnEnded != nil }
func isRequest(e provider.Event) bool { return e.Request != nil }
func isClosed(e provider.Event) bool  { return e.Closed != nil }

// say sends a message and waits for the end of its turn.
func (k *talk) say(turn, text string) (*provider.TurnEnded, []provider.Event) {
	k.t.Helper()
	from := len(k.events())
	k.send(turn, text)
	e, to := k.until(from, "end of the turn", isEnd)
	return e.TurnEnded, k.events()[from:to]
}

func (k *talk) send(turn, text string) {
	k.t.Helper()
	d, err := k.Send(k.t.Context(), provider.Input{Turn: turn, Text: text, Mode: provider.Ask})
	if err != nil || d != provider.Sent {
		k.t.Fatalf("send: %v, %v", d, err)
	}
}

// items are the last states of the items in events, in order of appearance,
// with the text that streamed.
func items(events []provider.Event) []provider.Item {
	var list []provider.Item
	at := map[string]int{}
	for _, e := range events {
		switch {
		case e.Text != nil:
			i, ok := at[e.Text.Key]
			if !ok {
				i = len(list)
				at[e.Text.Key] = i
				list = append(list, provider.Item{Key: e.Text.Key, Parent: e.Text.Parent, Kind: e.Text.Kind, Status: event.InProgress})
			}
			list[i].Body.Text += e.Text.Text
		case e.Item != nil:
			i, ok := at[e.Item.Key]
			if !ok {
				at[e.Item.Key] = len(list)
				list = append(list, *e.Item)
				continue
			}
			text := list[i].Body.Text
			list[i] = *e.Item
			if list[i].Body.Text == "" {
				list[i].Body.Text = text
			}
		}
	}
	return list
}

func ofKind(events []provider.Event, kind event.Kind) []provider.Item {
	var list []provider.Item
	for _, it := range items(events) {
		if it.Kind == kind {
			list = append(list, it)
		}
	}
	return list
}

func (b *bench) write(name, content string) string {
	b.t.Helper()
	path := filepath.Join(b.cwd, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		b.t.Fatal(err)
	}
	return path
}

func (b *bench) delivered(text string) {
	b.t.Helper()
	if !b.real() {
		return
	}
	if err := b.model.DeliveredOnce(text); err != nil {
		b.t.Error(err)
	}
}

// got says whether the model got a text within its last request.
func (b *bench) got(text string) {
	b.t.Helper()
	if !b.real() {
		return
	}
	turns := modelserver.Turns(b.model.Requests())
	if last := turns[len(turns)-1]; !strings.Contains(strings.Join(append(last.Texts, last.Results...), "\n"), text) {
		b.t.Errorf("the model did not get %q; it got %q and %q", text, last.Texts, last.Results)
	}
}

// made waits until there is a file in the folder of the chat.
func (b *bench) made(name string) {
	b.t.Helper()
	if b.real() {
		waitFor(b.t, func() bool { _, err := os.Stat(filepath.Join(b.cwd, name)); return err == nil })
	}
}

// do is a message that has the model do what the steps say.
func do(steps ...modelserver.Step) string {
	var b strings.Builder
	for _, s := range steps {
		b.WriteString(modelserver.Directive(s))
	}
	return b.String()
}

func TestAnswer(t *testing.T) {
	play(t, func(b *bench) {
		t := b.t
		spec := b.spec()
		spec.Instructions = "Be brief in all you say."
		k := b.open(spec)
		text := "Hello <there> & \"you\"\n\t你好 🎉  \n"
		end, events := k.say("turn_1", text)
		if end.State != "completed" || end.StopReason != "end_turn" {
			t.Errorf("end: %+v", end)
		}
		answers := ofKind(events, event.Answer)
		if len(answers) != 1 || !strings.Contains(answers[0].Body.Text, "你好 🎉") || answers[0].Status != event.Completed {
			t.Errorf("answers: %+v", answers)
		}
		b.delivered(text)
		var accepted, conversation bool
		for _, e := range events {
			accepted = accepted || e.Accepted != nil && e.Accepted.Turn == "turn_1" && !e.Accepted.Steered
			conversation = conversation || e.Conversation != ""
		}
		if !accepted || !conversation {
			t.Errorf("accepted %v, conversation %v: %s", accepted, conversation, tale(events))
		}
		if b.real() && !strings.Contains(string(b.model.Requests()[0].Body), "Be brief in all you say.") {
			t.Error("the instructions did not reach the model")
		}
		e, _ := k.until(0, "usage with a window", func(e provider.Event) bool { return e.Usage != nil && e.Usage.ContextWindow != nil })
		if *e.Usage.ContextWindow <= 0 || e.Usage.CostUSD == nil || *e.Usage.OutputTokens <= 0 {
			t.Errorf("usage: %+v", e.Usage)
		}
		if e, _ := k.until(0, "commands", func(e provider.Event) bool { return e.Commands != nil }); len(*e.Commands) == 0 {
			t.Error("no commands")
		}
	})
}
