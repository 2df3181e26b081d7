package backend

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"

	"berth/backend/api/client"
	"berth/backend/chat"
	"berth/backend/event"
	"berth/backend/provider/demo"
	"berth/backend/store"
)

// The test's own executable is the demo agent, as Berth's is.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "demo-agent" {
		if err := demo.Main(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// berth is a backend in a state directory, reached as commands reach it.
type berth struct {
	*client.Client
	t       *testing.T
	state   string
	backend *Backend
}

func start(t *testing.T) *berth {
	t.Helper()
	b := &berth{t: t, state: t.TempDir()}
	b.open()
	t.Cleanup(b.close)
	return b
}

func (b *berth) open() {
	b.t.Helper()
	self, err := os.Executable()
	if err != nil {
		b.t.Fatal(err)
	}
	b.backend, err = Open(b.t.Context(), Options{State: b.state, Version: "test", Kind: "serve", Self: self,
		Pages: fstest.MapFS{"index.html": {Data: []byte("<!doctype html>")}}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.t.Fatal(err)
	}
	b.Client = client.New(b.state)
}

func (b *berth) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	b.Client.Close()
	if err := b.backend.Close(ctx); err != nil {
		b.t.Error(err)
	}
}

func (b *berth) demo() string {
	b.t.Helper()
	c, err := b.StartDemo(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	return c.ID
}

func (b *berth) say(chatID, text string) string {
	b.t.Helper()
	a, err := b.Send(b.t.Context(), chatID, chat.NewTurn{Text: text, ClientID: store.NewID("client")})
	if err != nil {
		b.t.Fatal(err)
	}
	return a.Turn
}

// until follows the stream until the chat is as wanted.
func (b *berth) until(chatID, what string, ok func(chat.Chat) bool) chat.Chat {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 20*time.Second)
	defer cancel()
	s := b.Follow(store.NewID("test"), "", chatID)
	for {
		if _, err := s.Next(ctx); err != nil {
			b.t.Fatalf("wait for %s: %v", what, err)
		}
		c, err := b.Chat(ctx, chatID)
		if err != nil {
			b.t.Fatalf("wait for %s: %v", what, err)
		}
		if ok(c) {
			return c
		}
	}
}

func ended(turn string) func(chat.Chat) bool {
	return func(c chat.Chat) bool { return c.Turn != nil && c.Turn.ID == turn && c.Turn.State.Terminal() }
}

func (b *berth) items(chatID string) []event.Item {
	b.t.Helper()
	p, err := b.Items(b.t.Context(), chatID, 0, 0, 200)
	if err != nil {
		b.t.Fatal(err)
	}
	return p.Items
}

func TestDemoAgentEditsAFileWithPermission(t *testing.T) {
	b := start(t)
	id := b.demo()
	turn := b.say(id, "/edit")
	c := b.until(id, "a request", func(c chat.Chat) bool { return len(c.Waiting) == 1 })
	if c.State != chat.AwaitingInput {
		t.Errorf("the chat is %s", c.State)
	}
	waiting, err := b.Attention(t.Context())
	if err != nil || len(waiting) != 1 || waiting[0].Request != c.Waiting[0].Request {
		t.Errorf("attention %+v, %v", waiting, err)
	}
	before, err := os.ReadFile(filepath.Join(c.Cwd, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Answer(t.Context(), c.Waiting[0].Request, chat.GivenAnswer{Option: "allow_once"}); err != nil {
		t.Fatal(err)
	}
	if c = b.until(id, "the end", ended(turn)); c.Turn.State != chat.TurnCompleted {
		t.Errorf("the turn is %s", c.Turn.State)
	}
	after, err := os.ReadFile(filepath.Join(c.Cwd, "README.md"))
	if err != nil || string(after) == string(before) {
		t.Errorf("the file did not change (%v)", err)
	}
	var edits int
	for _, it := range b.items(id) {
		if it.Body.Tool != nil && len(it.Body.Tool.Files) > 0 && it.Status == event.Completed {
			edits++
		}
	}
	if edits != 1 {
		t.Errorf("%d edits with a diff", edits)
	}
}

func TestStopAndGoOnInTheSameConversation(t *testing.T) {
	b := start(t)
	id := b.demo()
	turn := b.say(id, "/slow 60")
	b.until(id, "running", func(c chat.Chat) bool { return c.State == chat.Running && c.LastLine != "" || hasAnswer(b.items(id)) })
	r, err := b.Stop(t.Context(), id)
	if err != nil || r.State != "stopped" {
		t.Fatalf("%+v, %v", r, err)
	}
	c, err := b.Chat(t.Context(), id)
	if err != nil || c.Turn.ID != turn || c.Turn.State != chat.TurnStopped {
		t.Errorf("%+v, %v", c.Turn, err)
	}
	turn = b.say(id, "still there?")
	if c = b.until(id, "the answer", ended(turn)); c.Turn.State != chat.TurnCompleted {
		t.Errorf("the turn is %s: %+v", c.Turn.State, c.Turn.Error)
	}
}

func hasAnswer(items []event.Item) bool {
	for _, it := range items {
		if it.Kind == event.Answer {
			return true
		}
	}
	return false
}

func TestAgentCrashesAreToldAndSurvived(t *testing.T) {
	for _, how := range []string{"exit", "kill", "garbage"} {
		t.Run(how, func(t *testing.T) {
			b := start(t)
			id := b.demo()
			turn := b.say(id, "/crash "+how)
			c := b.until(id, "the end", func(c chat.Chat) bool {
				return ended(turn)(c) || c.Turn != nil && c.Turn.State == chat.TurnUncertain
			})
			if c.Turn.State == chat.TurnCompleted {
				t.Errorf("the turn is %s", c.Turn.State)
			}
			if c.Turn.State == chat.TurnUncertain {
				if err := b.RemoveQueued(t.Context(), turn); err != nil {
					t.Fatal(err)
				}
			}
			turn = b.say(id, "and now?")
			if c = b.until(id, "the answer", ended(turn)); c.Turn.State != chat.TurnCompleted {
				t.Errorf("the next turn is %s: %+v", c.Turn.State, c.Turn.Error)
			}
		})
	}
}

func TestEverythingIsThereAfterARestart(t *testing.T) {
	b := start(t)
	id := b.demo()
	b.until(id, "the end", ended(b.say(id, "remember me")))
	before := b.items(id)
	running := b.say(id, "/slow 60")
	b.until(id, "running", func(c chat.Chat) bool {
		return c.Turn.ID == running && len(b.items(id)) > len(before)+1
	})
	behind := b.say(id, "behind")
	b.close()
	b.open()
	after := b.items(id)
	if len(after) < len(before) {
		t.Fatalf("%d items of %d", len(after), len(before))
	}
	for i := range before {
		if after[i].ID != before[i].ID || after[i].Body.Text != before[i].Body.Text {
			t.Errorf("item %d is %q, was %q", i, after[i].Body.Text, before[i].Body.Text)
		}
	}
	c, err := b.Chat(t.Context(), id)
	if err != nil || c.Turn.ID != running || c.Turn.State != chat.TurnInterrupted {
		t.Errorf("%+v, %v", c.Turn, err)
	}
	queue, err := b.Queue(t.Context(), id)
	if err != nil || len(queue) != 1 || queue[0].ID != behind || queue[0].State != chat.TurnHeld {
		t.Errorf("queue %+v, %v", queue, err)
	}
	if err := b.Release(t.Context(), id, ""); err != nil {
		t.Fatal(err)
	}
	if c = b.until(id, "the answer", ended(behind)); c.Turn.State != chat.TurnCompleted {
		t.Errorf("%+v", c.Turn)
	}
	answer := ""
	for _, it := range b.items(id) {
		if it.Kind == event.Answer {
			answer = it.Body.Text
		}
	}
	if !strings.Contains(answer, "message 3") {
		t.Errorf("the agent has lost its conversation: %q", answer)
	}
}

func TestOneBackendPerStateDirectory(t *testing.T) {
	b := start(t)
	_, err := Open(t.Context(), Options{State: b.state, Kind: "window", Log: slog.New(slog.DiscardHandler)})
	var held *HeldError
	if !errors.As(err, &held) || held.By.Kind != "serve" || held.By.Pid != os.Getpid() {
		t.Errorf("error %v", err)
	}
}

func TestDamagedDatabaseStopsTheStart(t *testing.T) {
	b := start(t)
	b.close()
	path := filepath.Join(b.state, "berth.db")
	if err := os.WriteFile(path, []byte("not a database at all, but long enough"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), Options{State: b.state, Kind: "serve", Log: slog.New(slog.DiscardHandler)})
	if !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), "backups") {
		t.Errorf("error %v", err)
	}
}

func TestNoProcessIsLeft(t *testing.T) {
	b := start(t)
	id := b.demo()
	b.say(id, "/slow 60")
	b.until(id, "words", func(chat.Chat) bool { return hasAnswer(b.items(id)) })
	live, err := b.Processes(t.Context())
	if err != nil || len(live) == 0 {
		t.Fatalf("processes %+v, %v", live, err)
	}
	b.close()
	for _, p := range live {
		if _, err := os.Stat(fmt.Sprintf("/proc/%d", p.Pid)); err == nil {
			t.Errorf("%s (%d) is left", p.Label, p.Pid)
		}
	}
}
