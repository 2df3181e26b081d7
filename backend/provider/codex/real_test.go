package codex

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"log/slog"
	"mime"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/backend/event"
	"berth/backend/process"
	"berth/backend/provider"
	"berth/backend/store"
	"berth/test/clis"
	"berth/test/modelserver"
)

// The tests of the files real_*_test.go run the real CLI against the model
// server. Without the CLI at its pinned version they are skipped; the
// conformance suite, where a missing CLI is a failure, covers the same ground.

// record renews the fixtures: what the real CLI wrote is put into testdata.
var record = flag.Bool("record", false, "write the real CLI's lines to testdata")

// patience bounds each wait of these tests.
const patience = 60 * time.Second

// realClock is the clock of the machine.
type realClock struct{}

func (realClock) Now() time.Time { return time.Now() }
func (realClock) AfterFunc(d time.Duration, f func()) func() bool {
	return time.AfterFunc(d, f).Stop
}

// newSupervisor starts what starts processes, and checks that none is left.
func newSupervisor(t *testing.T) *process.Supervisor {
	t.Helper()
	db, err := store.Open(context.Background(), filepath.Join(t.TempDir(), "berth.db"))
	if err != nil {
		t.Fatal(err)
	}
	s := process.NewSupervisor(db, slog.New(slog.DiscardHandler))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Errorf("processes are left: %v", err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// bench is what a test with the real CLI stands on.
type bench struct {
	t      *testing.T
	model  *modelserver.Server
	driver *Driver
	host   provider.Host
	cwd    string
	home   string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	path, err := clis.Find("codex")
	if err != nil {
		t.Skipf("the real CLI is not here: %v", err)
	}
	t.Parallel()
	model, err := modelserver.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = model.Close() })
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	env, err := model.Codex(home)
	if err != nil {
		t.Fatal(err)
	}
	cwd := filepath.Join(home, "project")
	if err := os.Mkdir(cwd, 0o755); err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, model: model, driver: New(), cwd: cwd, home: home}
	b.host = provider.Host{
		Processes: newSupervisor(t), Executable: path, Env: env, Scratch: t.TempDir(), Version: "test", Clock: realClock{},
	}
	t.Cleanup(func() { closeDriver(t, b.driver) })
	return b
}

func closeDriver(t *testing.T, d *Driver) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := d.Close(ctx); err != nil {
		t.Errorf("close the driver: %v", err)
	}
}

func (b *bench) open(spec provider.Spec) *talk {
	b.t.Helper()
	if spec.Cwd == "" {
		spec.Cwd = b.cwd
	}
	return openTalk(b.t, b.driver, b.host, spec)
}

func (b *bench) read(name string) string {
	data, err := os.ReadFile(filepath.Join(b.cwd, name))
	if err != nil {
		return "nothing: " + err.Error()
	}
	return string(data)
}

// fixture keeps what was read of the CLI as testdata/<name>.jsonl.
func (b *bench) fixture(name string, k *talk) {
	b.t.Helper()
	if !*record {
		return
	}
	var out bytes.Buffer
	for _, line := range k.raw {
		text := strings.ReplaceAll(string(line), b.cwd, "/project")
		text = strings.ReplaceAll(text, b.home, "/home/user")
		text = strings.ReplaceAll(text, strings.TrimPrefix(b.model.URL(), "http://"), "127.0.0.1:1")
		out.WriteString(text + "\n")
	}
	if err := os.MkdirAll("testdata", 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("testdata", name+".jsonl"), out.Bytes(), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// talk is a conversation under test, and what was seen of it.
type talk struct {
	t       *testing.T
	s       provider.Session
	mode    provider.Permission
	thread  string
	events  []provider.Event // without the raw lines
	raw     []json.RawMessage
	items   []*seen
	pending []provider.Request
	closed  *provider.Closed
}

// seen is an item as it stands.
type seen struct {
	provider.Item
	text string
}

func openTalk(t *testing.T, d *Driver, host provider.Host, spec provider.Spec) *talk {
	t.Helper()
	if spec.Mode == "" {
		spec.Mode = provider.Full
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	s, err := d.Open(ctx, host, spec)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	k := &talk{t: t, s: s, mode: spec.Mode}
	t.Cleanup(k.close)
	return k
}

// close ends the conversation while its last events are read.
func (k *talk) close() {
	if k.s == nil {
		return
	}
	s := k.s
	k.s = nil
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		for range s.Events() { //nolint:revive // nobody asks for them
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := s.Close(ctx); err != nil {
		k.t.Errorf("close: %v", err)
	}
	<-drained
}

func (k *talk) input(text string, files ...string) provider.Input {
	k.t.Helper()
	in := provider.Input{Turn: store.NewID("turn"), Text: text, Mode: k.mode}
	for _, path := range files {
		info, err := os.Stat(path)
		if err != nil {
			k.t.Fatal(err)
		}
		in.Attachments = append(in.Attachments, provider.Attachment{
			Path: path, Name: filepath.Base(path), Type: mime.TypeByExtension(filepath.Ext(path)), Size: info.Size(),
		})
	}
	return in
}

func (k *talk) send(text string, files ...string) {
	k.t.Helper()
	k.sendInput(k.input(text, files...))
}

func (k *talk) sendInput(in provider.Input) {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(k.t.Context(), patience)
	defer cancel()
	if d, err := k.s.Send(ctx, in); err != nil || d != provider.Sent {
		k.t.Fatalf("send: delivery %d, %v", d, err)
	}
}

// until reads events until one of them satisfies done, and gives it.
func (k *talk) until(what string, done func(provider.Event) bool) provider.Event {
	k.t.Helper()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		select {
		case e, ok := <-k.s.Events():
			if !ok {
				k.t.Fatalf("the events ended before %s; seen:%s", what, tale(k.events))
			}
			k.take(e)
			if done(e) {
				return e
			}
		case <-limit.C:
			k.t.Fatalf("waited in vain for %s; seen:%s", what, tale(k.events))
		}
	}
}

func (k *talk) take(e provider.Event) {
	if e.Raw != nil {
		k.raw = append(k.raw, e.Raw)
		return
	}
	k.events = append(k.events, e)
	switch {
	case e.Conversation != "":
		k.thread = e.Conversation
	case e.Item != nil:
		i := k.item(e.Item.Key)
		i.Item = *e.Item
		if e.Item.Body.Text != "" {
			i.text = e.Item.Body.Text
		}
	case e.Text != nil:
		i := k.item(e.Text.Key)
		if i.Kind == "" {
			i.Kind, i.Parent, i.Status = e.Text.Kind, e.Text.Parent, event.InProgress
		}
		i.text += e.Text.Text
	case e.Request != nil:
		k.pending = append(k.pending, *e.Request)
	case e.Withdrawn != "":
		k.pending = slices.DeleteFunc(k.pending, func(r provider.Request) bool { return r.Key == e.Withdrawn })
	case e.Closed != nil:
		k.closed = e.Closed
	}
}

func (k *talk) item(key string) *seen {
	for _, i := range k.items {
		if i.Key == key {
			return i
		}
	}
	i := &seen{Item: provider.Item{Key: key}}
	k.items = append(k.items, i)
	return i
}

// ended waits for the end of the turn.
func (k *talk) ended() *provider.TurnEnded {
	k.t.Helper()
	return k.until("the end of the turn", func(e provider.Event) bool { return e.TurnEnded != nil }).TurnEnded
}

func (k *talk) wantEnd(state, code string) *provider.TurnEnded {
	k.t.Helper()
	end := k.ended()
	got := ""
	if end.Err != nil {
		got = end.Err.Code
	}
	if end.State != state || got != code {
		k.t.Fatalf("the turn ended %s %s (%v), want %s %s; seen:%s", end.State, got, end.Err, state, code, tale(k.events))
	}
	return end
}

// asked waits for a request.
func (k *talk) asked() provider.Request {
	k.t.Helper()
	if len(k.pending) == 0 {
		k.until("a request", func(e provider.Event) bool { return e.Request != nil })
	}
	r := k.pending[0]
	k.pending = k.pending[1:]
	return r
}

func (k *talk) answer(r provider.Request, a provider.Answer) {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(k.t.Context(), patience)
	defer cancel()
	if err := k.s.Answer(ctx, r.Key, a); err != nil {
		k.t.Fatalf("answer: %v", err)
	}
}

// decide answers with the option of that kind.
func (k *talk) decide(r provider.Request, kind event.OptionKind) {
	k.t.Helper()
	for _, o := range r.Body.Options {
		if o.Kind == kind {
			k.answer(r, provider.Answer{Option: o.ID})
			return
		}
	}
	k.t.Fatalf("no option %s in %+v", kind, r.Body.Options)
}

// said is all text of one kind.
func (k *talk) said(kind event.Kind) string {
	var b strings.Builder
	for _, i := range k.items {
		if i.Kind == kind && i.Parent == "" {
			b.WriteString(i.text)
		}
	}
	return b.String()
}

// tools are the calls of one kind.
func (k *talk) tools(kind event.ToolKind) []*seen {
	var list []*seen
	for _, i := range k.items {
		if i.Body.Tool != nil && i.Body.Tool.Kind == kind {
			list = append(list, i)
		}
	}
	return list
}

// notices are the codes of what was told.
func (k *talk) notices() []string {
	var codes []string
	for _, i := range k.items {
		if i.Body.Notice != nil {
			codes = append(codes, i.Body.Notice.Code)
		}
	}
	return codes
}

func step(s modelserver.Step) string { return modelserver.Directive(s) }
