package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"

	"berth/backend/artifact"
	"berth/backend/chat"
	"berth/backend/event"
	"berth/backend/process"
	"berth/backend/provider"
	"berth/backend/settings"
	"berth/backend/store"
	"berth/backend/terminal"
	"berth/backend/workspace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is the API on real features; only the agent is the test's own.
type world struct {
	*Handler
	t      testing.TB
	chats  *chat.Service
	hub    *event.Hub
	events *event.Log
	db     *store.DB
	state  *testBackend
	home   string
	logged *bytes.Buffer
}

func newWorld(t testing.TB) *world {
	t.Helper()
	ctx := context.Background()
	dir := t.TempDir()
	w := &world{t: t, state: &testBackend{}, home: t.TempDir(), logged: &bytes.Buffer{}}
	t.Setenv("HOME", w.home)
	t.Setenv("USERPROFILE", w.home)
	log := slog.New(slog.NewTextHandler(&lockedWriter{w: w.logged}, nil))
	var err error
	if w.db, err = store.Open(ctx, filepath.Join(dir, "berth.db")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.db.Close() })
	if w.hub, err = event.NewHub(ctx, w.db); err != nil {
		t.Fatal(err)
	}
	w.events = event.NewLog(w.db, w.hub)
	files, err := artifact.Open(ctx, w.db, filepath.Join(dir, "files"))
	if err != nil {
		t.Fatal(err)
	}
	prefs, err := settings.Open(ctx, w.db, w.events, log)
	if err != nil {
		t.Fatal(err)
	}
	processes := process.NewSupervisor(w.db, log)
	t.Cleanup(func() { closeWithin(t, processes.Close) })
	terminals := terminal.NewTerminals(processes, log)
	t.Cleanup(func() { closeWithin(t, terminals.CloseAll) })
	catalog := provider.NewCatalog(provider.Host{Processes: processes}, func(string) (string, []string) { return "", nil }, func() {})
	catalog.Add(&echo{})
	catalog.List(ctx, true)
	bounds := chat.DefaultBounds
	bounds.FlushEvery = time.Millisecond
	w.chats, err = chat.Open(ctx, chat.Options{DB: w.db, Log: w.events, Hub: w.hub, Agents: catalog, Files: files, Logger: log, Bounds: bounds})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeWithin(t, w.chats.Close) })
	w.Handler = New(Features{
		Backend: w.state, Chats: w.chats, Hub: w.hub, Agents: catalog, Files: files, Settings: prefs,
		Phrases: settings.NewPhrases(w.db, w.events), Finder: workspace.NewFinder(processes),
		Terminals: terminals, Processes: processes, Demo: demoChat{w.chats, w.home}, Pages: testPages, Log: log,
	})
	t.Cleanup(w.Handler.Close)
	return w
}

func closeWithin(t testing.TB, f func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := f(ctx); err != nil {
		t.Error(err)
	}
}

var testPages = fstest.MapFS{
	"index.html":            {Data: []byte("<!doctype html><title>Berth</title>")},
	"assets/index-abc.js":   {Data: []byte("export {}")},
	"assets/a.woff2":        {Data: []byte("font")},
	"favicon.svg":           {Data: []byte("<svg/>")},
	"assets/deep/nested.js": {Data: []byte("1")},
}

// lockedWriter makes a log that several goroutines write.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

type testBackend struct{ closed bool }

func (b *testBackend) Health() Health {
	h := Health{Version: "1.2.3", Epoch: "e_1", OS: "linux", Admission: Admission{State: "open"}, StartedAt: store.Now()}
	if b.closed {
		h.Admission = Admission{State: "closed", Reason: "damaged", Detail: "The database is damaged."}
	}
	return h
}

type demoChat struct {
	chats *chat.Service
	dir   string
}

func (d demoChat) Start(ctx context.Context) (chat.Chat, error) {
	return d.chats.Create(ctx, chat.NewChat{Agent: "echo", Cwd: d.dir})
}

// reply is what an operation answered.
type answered struct {
	t      testing.TB
	status int
	header http.Header
	body   []byte
}

// call asks the API through the window's door. body may be a string of raw
// JSON, bytes, or a value.
func (w *world) call(method, path string, body any) answered {
	w.t.Helper()
	var r io.Reader
	kind := "application/json"
	switch b := body.(type) {
	case nil:
	case string:
		r = strings.NewReader(b)
	case []byte:
		r, kind = bytes.NewReader(b), "application/octet-stream"
	default:
		text, err := json.Marshal(body)
		if err != nil {
			w.t.Fatal(err)
		}
		r = bytes.NewReader(text)
	}
	req := httptest.NewRequest(method, path, r)
	if r != nil {
		req.Header.Set("Content-Type", kind)
		req.ContentLength = -1 // as the window has it
	}
	return w.ask(w.Window(), req)
}

func (w *world) ask(h http.Handler, req *http.Request) answered {
	w.t.Helper()
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, req)
	return answered{w.t, rec.Code, rec.Header(), rec.Body.Bytes()}
}

// want checks the status and gives the answer back.
func (a answered) want(status int) answered {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("status %d, want %d: %s", a.status, status, a.body)
	}
	return a
}

// problem checks that the answer is a problem with that code, and where the
// input was wrong.
func (a answered) problem(status int, code string, locations ...string) Problem {
	a.t.Helper()
	var p Problem
	if a.header.Get("Content-Type") != "application/problem+json" {
		a.t.Errorf("%d is told as %q: %s", a.status, a.header.Get("Content-Type"), a.body)
	}
	if err := json.Unmarshal(a.body, &p); err != nil {
		a.t.Fatalf("%v: %s", err, a.body)
	}
	if a.status != status || p.Status != status || p.Code != code || p.Title != http.StatusText(status) || p.Detail == "" {
		a.t.Errorf("got %d %+v, want %d %s", a.status, p, status, code)
	}
	var at []string
	for _, e := range p.Errors {
		at = append(at, e.Location)
	}
	if len(locations) > 0 && fmt.Sprint(at) != fmt.Sprint(locations) {
		a.t.Errorf("errors are at %v, want %v: %s", at, locations, a.body)
	}
	return p
}

func decoded[T any](a answered) T {
	a.t.Helper()
	var out T
	if err := json.Unmarshal(a.body, &out); err != nil {
		a.t.Fatalf("%v: %s", err, a.body)
	}
	return out
}

// newChat begins a chat with the echo agent.
func (w *world) newChat() chat.Chat {
	w.t.Helper()
	return decoded[chat.Chat](w.call("POST", "/api/v1/chats", chat.NewChat{Agent: "echo", Cwd: w.home}).want(201))
}

// send sends a message.
func (w *world) send(id, text string) chat.Accepted {
	w.t.Helper()
	return decoded[chat.Accepted](w.call("POST", "/api/v1/chats/"+id+"/turns", chat.NewTurn{Text: text, ClientID: store.NewID("c")}).want(202))
}

// follower reads the stream by long polls.
type follower struct {
	w      *world
	client string
	chats  string
	cursor string
}

func (w *world) follow(chats ...string) *follower {
	w.t.Helper()
	f := &follower{w: w, client: "test-" + store.NewID("f"), chats: strings.Join(chats, ",")}
	f.poll(0)
	return f
}

func (f *follower) poll(wait int) event.Batch {
	f.w.t.Helper()
	path := fmt.Sprintf("/api/v1/stream?client=%s&after=%s&chats=%s&wait=%d", f.client, f.cursor, f.chats, wait)
	b := decoded[event.Batch](f.w.call("GET", path, nil).want(200))
	f.cursor = b.Next
	return b
}

// until polls until something in a batch satisfies ok.
func (f *follower) until(what string, ok func(event.Batch) bool) event.Batch {
	f.w.t.Helper()
	for range 200 {
		if b := f.poll(5); ok(b) {
			return b
		}
	}
	f.w.t.Fatalf("never came: %s", what)
	return event.Batch{}
}

// ended waits for the end of a turn and gives it.
func (f *follower) ended(turn string) (t chat.Turn) {
	f.w.t.Helper()
	f.until("the end of the turn", func(b event.Batch) bool {
		for _, e := range b.Events {
			if e.Type == event.TypeTurn && e.Turn == turn && json.Unmarshal(e.Body, &t) == nil && t.State.Terminal() {
				return true
			}
		}
		return false
	})
	return t
}

// asked waits for a request of the agent and gives its id.
func (f *follower) asked() (id string) {
	f.w.t.Helper()
	f.until("a request", func(b event.Batch) bool {
		for _, i := range b.Items {
			if i.Body.Request != nil {
				id = i.Body.Request.ID
			}
		}
		return id != ""
	})
	return id
}
