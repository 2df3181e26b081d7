package demo

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"berth/backend/event"
	"berth/backend/process"
	"berth/backend/provider"
	"berth/backend/store"
)

// The test's own executable is the agent, as Berth's is.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "demo-agent" {
		if err := Main(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	// A raced program lingers for a second when it ends.
	os.Setenv("GORACE", "atexit_sleep_ms=0")
	goleak.VerifyTestMain(m)
}

type clock struct{}

func (clock) Now() time.Time { return time.Now() }
func (clock) AfterFunc(d time.Duration, f func()) func() bool {
	return time.AfterFunc(d, f).Stop
}

func newSupervisor(t *testing.T) *process.Supervisor {
	t.Helper()
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "berth.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	s := process.NewSupervisor(db, slog.New(slog.DiscardHandler))
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

func newHost(t *testing.T) provider.Host {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return provider.Host{Processes: newSupervisor(t), Self: self, Scratch: t.TempDir(), Version: "test", Clock: clock{}}
}

// talk is a conversation under test.
type talk struct {
	spec provider.Spec
	t    *testing.T
	s    provider.Session
	said map[string]string // text by item key
	seen []provider.Event  // of the last turn
	conv string
}

func open(t *testing.T, host provider.Host, spec provider.Spec) *talk {
	t.Helper()
	s, err := New().Open(t.Context(), host, spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		go func() {
			for range s.Events() {
			}
		}()
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return &talk{t: t, s: s, spec: spec, said: map[string]string{}}
}

func (k *talk) send(text string, attachments ...provider.Attachment) {
	k.t.Helper()
	k.seen = nil
	if d, err := k.s.Send(k.t.Context(), provider.Input{Turn: "turn_1", Text: text, Attachments: attachments, Model: k.spec.Model, Mode: k.spec.Mode}); err != nil || d != provider.Sent {
		k.t.Fatalf("send: %v, %v", d, err)
	}
}

// until reads events until one that ok takes.
func (k *talk) until(ok func(provider.Event) bool) provider.Event {
	k.t.Helper()
	limit := time.After(30 * time.Second)
	for {
		select {
		case e, open := <-k.s.Events():
			if !open {
				k.t.Fatalf("the session ended; seen %d events", len(k.seen))
			}
			if e.Conversation != "" {
				k.conv = e.Conversation
			}
			if e.Text != nil {
				k.said[e.Text.Key] += e.Text.Text
			}
			if e.Raw == nil {
				k.seen = append(k.seen, e)
			}
			if ok(e) {
				return e
			}
		case <-limit:
			k.t.Fatalf("nothing came; seen %d events", len(k.seen))
		}
	}
}

func (k *talk) end() *provider.TurnEnded {
	k.t.Helper()
	return k.until(func(e provider.Event) bool { return e.TurnEnded != nil }).TurnEnded
}

func (k *talk) request() *provider.Request {
	k.t.Helper()
	return k.until(func(e provider.Event) bool { return e.Request != nil }).Request
}

func (k *talk) answer(key string, a provider.Answer) {
	k.t.Helper()
	if err := k.s.Answer(k.t.Context(), key, a); err != nil {
		k.t.Fatal(err)
	}
}

// text is all that was said in the last turn.
func (k *talk) text() string {
	var b strings.Builder
	for _, e := range k.seen {
		if e.Text != nil && e.Text.Kind == event.Answer {
			b.WriteString(e.Text.Text)
		}
	}
	return b.String()
}

// last is the last state of each item of a kind in the last turn.
func (k *talk) last(kind event.Kind) []*provider.Item {
	var list []*provider.Item
	at := map[string]int{}
	for _, e := range k.seen {
		if e.Item == nil || e.Item.Kind != kind {
			continue
		}
		if i, ok := at[e.Item.Key]; ok {
			list[i] = e.Item
			continue
		}
		at[e.Item.Key] = len(list)
		list = append(list, e.Item)
	}
	return list
}

func sample(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "README.md"), []byte("# Sample\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestAnswerRepeatsTheText(t *testing.T) {
	k := open(t, newHost(t), provider.Spec{Cwd: sample(t), Mode: provider.Ask})
	const said = "Grüße, 世界 🚢 <b>&amp;</b>"
	k.send(said)
	if end := k.end(); end.State != "completed" || end.StopReason != "end_turn" {
		t.Fatalf("ended %+v", end)
	}
	if !strings.Contains(k.text(), "You said: "+said+"\n") {
		t.Errorf("answer: %q", k.text())
	}
	accepted, usage := 0, false
	for _, e := range k.seen {
		if e.Accepted != nil {
			accepted++
		}
		usage = usage || e.Usage != nil && e.Usage.ContextTokens != nil && *e.Usage.ContextWindow == window
	}
	if accepted != 1 || !usage {
		t.Errorf("accepted %d times, usage %v", accepted, usage)
	}
}

func TestEditWithPermission(t *testing.T) {
	dir := sample(t)
	k := open(t, newHost(t), provider.Spec{Cwd: dir, Mode: provider.Ask})
	k.send("please edit the file README.md")
	ask := k.request()
	if ask.Kind != event.Approval || len(ask.Body.Options) != 4 || len(ask.Body.Files) != 1 || ask.Body.Files[0].Path != "README.md" {
		t.Fatalf("asked %+v", ask)
	}
	if got := read(t, filepath.Join(dir, "README.md")); got != "# Sample\n" {
		t.Fatalf("written before it was permitted: %q", got)
	}
	k.answer(ask.Key, provider.Answer{Option: "allow_once"})
	if end := k.end(); end.State != "completed" {
		t.Fatalf("ended %+v", end)
	}
	if got := read(t, filepath.Join(dir, "README.md")); got != "# Sample\n\n"+editedLine+"\n" {
		t.Errorf("the file is %q", got)
	}
	calls := k.last(event.ToolCall)
	if len(calls) != 1 || calls[0].Status != event.Completed || calls[0].Body.Tool.Files[0].Added != 2 {
		t.Errorf("calls %+v", calls)
	}
}

func TestEditDenied(t *testing.T) {
	dir := sample(t)
	k := open(t, newHost(t), provider.Spec{Cwd: dir, Mode: provider.Ask})
	k.send("/edit")
	k.answer(k.request().Key, provider.Answer{Option: "reject_once"})
	if end := k.end(); end.State != "completed" {
		t.Fatalf("ended %+v", end)
	}
	if got := read(t, filepath.Join(dir, "README.md")); got != "# Sample\n" {
		t.Errorf("the file is %q", got)
	}
	if calls := k.last(event.ToolCall); calls[0].Status != event.Failed {
		t.Errorf("the call is %s", calls[0].Status)
	}
}
