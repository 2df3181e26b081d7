package opencode

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"berth/backend/process"
	"berth/backend/provider"
	"berth/backend/store"
	"berth/test/clis"
	"berth/test/modelserver"
)

// A tape is a conversation of the driver with the real server, in the order
// seen: "> " is a request, "< " its reply, "! " an event. Paths, addresses and
// what is of no use to the driver are taken out. Replayed, an event comes when
// all requests before it were made, and each request must be one of the tape.
// -record makes the tapes anew with the real OpenCode (see docs/agents.md).

var record = flag.Bool("record", false, "make the tapes in testdata anew with the real OpenCode")

func TestMain(m *testing.M) {
	flag.Parse()
	goleak.VerifyTestMain(m)
}

// request of a tape, and its reply.
type exchange struct {
	Method string          `json:"method"`
	Path   string          `json:"path"`
	Body   json.RawMessage `json:"body,omitempty"`
}

type reply struct {
	Status int             `json:"status"`
	Body   json.RawMessage `json:"body,omitempty"`
}

// recorder is a transport that writes a tape.
type recorder struct {
	inner http.RoundTripper
	scrub func([]byte) []byte

	mu    sync.Mutex
	lines []string
}

func (r *recorder) add(mark string, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, mark+string(r.scrub(data)))
}

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Path == "/event" {
		res, err := r.inner.RoundTrip(req)
		if err == nil {
			res.Body = &tappedStream{ReadCloser: res.Body, r: r}
		}
		return res, err
	}
	var body []byte
	if req.Body != nil {
		body, _ = io.ReadAll(req.Body)
		req.Body = io.NopCloser(bytes.NewReader(body))
	}
	r.add("> ", exchange{req.Method, pathOf(req), bytes.TrimSpace(body)})
	res, err := r.inner.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(res.Body)
	res.Body.Close()
	if err != nil {
		return nil, err
	}
	res.Body = io.NopCloser(bytes.NewReader(data))
	if len(data) > 0 && !json.Valid(data) {
		data, _ = json.Marshal(string(data))
	}
	r.add("< ", reply{res.StatusCode, thin(req.URL.Path, data)})
	return res, nil
}

// pathOf is a request's path and what is asked besides the folder.
func pathOf(req *http.Request) string {
	query := req.URL.Query()
	query.Del("directory")
	if len(query) == 0 {
		return req.URL.Path
	}
	return req.URL.Path + "?" + query.Encode()
}

// tappedStream records the events that pass.
type tappedStream struct {
	io.ReadCloser
	r    *recorder
	part []byte
}

func (s *tappedStream) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	s.part = append(s.part, p[:n]...)
	for {
		line, rest, ok := bytes.Cut(s.part, []byte("\n"))
		if !ok {
			return n, err
		}
		s.part = rest
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok && wanted(data) {
			s.r.add("! ", json.RawMessage(bytes.TrimSpace(data)))
		}
	}
}

// wanted says whether an event is of use to the driver.
func wanted(data []byte) bool {
	var e envelope
	if json.Unmarshal(data, &e) != nil || e.Type == "session.updated" || e.Type == "session.diff" {
		return false
	}
	return e.Type == "server.connected" || bytes.Contains(e.Properties, []byte(`"sessionID"`))
}

// thin shortens the long lists that are asked for at the start.
func thin(path string, data []byte) []byte {
	var v any
	if json.Unmarshal(data, &v) != nil {
		return data
	}
	switch path {
	case "/config/providers":
		m := v.(map[string]any)
		m["providers"] = slices.DeleteFunc(m["providers"].([]any), func(p any) bool { return p.(map[string]any)["id"] != "scripted" })
	case "/config":
		v = map[string]any{"model": v.(map[string]any)["model"]}
	case "/agent":
		v = slices.DeleteFunc(v.([]any), func(a any) bool { return !slices.Contains([]any{"build", "plan"}, a.(map[string]any)["name"]) })
		for _, a := range v.([]any) {
			for _, long := range []string{"prompt", "description", "options"} {
				delete(a.(map[string]any), long)
			}
		}
	case "/command":
		for _, c := range v.([]any) {
			delete(c.(map[string]any), "template")
			c.(map[string]any)["description"] = "…"
		}
	default:
		return data
	}
	out, err := json.Marshal(v)
	if err != nil {
		return data
	}
	return out
}

// player is a transport that plays a tape.
type player struct {
	t     *testing.T
	lines []string

	mu      sync.Mutex
	changed *sync.Cond
	made    map[int]bool // requests of the tape that were made
	closed  bool
}

func newPlayer(t *testing.T, lines []string) *player {
	p := &player{t: t, lines: lines, made: map[int]bool{}}
	p.changed = sync.NewCond(&p.mu)
	return p
}

func (p *player) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Path == "/event" {
		return p.stream(req), nil
	}
	var body []byte
	if req.Body != nil {
		body, _ = io.ReadAll(req.Body)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, line := range p.lines {
		text, ok := strings.CutPrefix(line, "> ")
		if !ok || p.made[i] {
			continue
		}
		var e exchange
		if err := json.Unmarshal([]byte(text), &e); err != nil {
			p.t.Errorf("tape: %v", err)
			continue
		}
		if e.Method != req.Method || e.Path != pathOf(req) || !sameJSON(e.Body, body) {
			continue
		}
		p.made[i] = true
		p.changed.Broadcast()
		for _, after := range p.lines[i+1:] {
			if text, ok := strings.CutPrefix(after, "< "); ok {
				var r reply
				if err := json.Unmarshal([]byte(text), &r); err != nil {
					return nil, err
				}
				return response(req, r.Status, r.Body), nil
			}
		}
	}
	switch {
	case req.URL.Path == "/session/status":
		return response(req, 200, []byte(`{}`)), nil // asked as often as time allows
	case strings.HasSuffix(req.URL.Path, "/abort"):
		return response(req, 200, []byte(`true`)), nil // repeated, or the end of the test
	}
	p.t.Errorf("not on the tape: %s %s %s", req.Method, pathOf(req), body)
	return response(req, 404, []byte(`{"data":{"message":"not on the tape"}}`)), nil
}

func response(req *http.Request, status int, body []byte) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(body)), Request: req}
}

func sameJSON(a, b []byte) bool {
	var x, y any
	if len(bytes.TrimSpace(a)) == 0 || len(bytes.TrimSpace(b)) == 0 {
		return len(bytes.TrimSpace(a)) == len(bytes.TrimSpace(b))
	}
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && fmt.Sprint(x) == fmt.Sprint(y)
}

// stream plays the events.
func (p *player) stream(req *http.Request) *http.Response {
	r, w := io.Pipe()
	stop := context.AfterFunc(req.Context(), func() {
		p.mu.Lock()
		p.closed = true
		p.changed.Broadcast()
		p.mu.Unlock()
		w.CloseWithError(req.Context().Err())
	})
	go func() {
		defer stop()
		for i, line := range p.lines {
			if strings.HasPrefix(line, "> ") {
				p.mu.Lock()
				for !p.made[i] && !p.closed {
					p.changed.Wait()
				}
				p.mu.Unlock()
			}
			if text, ok := strings.CutPrefix(line, "! "); ok {
				if _, err := io.WriteString(w, "data: "+text+"\n\n"); err != nil {
					return
				}
			}
		}
		<-req.Context().Done()
	}()
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: r, Request: req}
}

type clock struct{}

func (clock) Now() time.Time { return time.Now() }
func (clock) AfterFunc(d time.Duration, f func()) func() bool {
	return time.AfterFunc(d, f).Stop
}

// bench is what a recorded test works on.
type bench struct {
	t     *testing.T
	dir   string // the chat's folder
	srv   *server
	host  provider.Host
	model *modelserver.Server // only while recording
}

const (
	cwdMark   = "{{cwd}}"
	homeMark  = "{{home}}"
	modelMark = "{{model}}"
	tempMark  = "{{tmp}}"
	// relativeMark is the folder as seen from the root: OpenCode names files
	// so outside of a repository.
	relativeMark = "{{cwd-}}"
)

// newBench records or replays the tape of the test.
func newBench(t *testing.T) *bench {
	t.Helper()
	file := filepath.Join("testdata", t.Name()+".jsonl")
	if *record {
		return newRecording(t, file)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, dir: t.TempDir(), host: provider.Host{Scratch: t.TempDir(), Clock: clock{}, Version: "test"}}
	text := strings.NewReplacer(cwdMark, b.dir, relativeMark, filepath.ToSlash(b.dir)[1:], tempMark, "/somewhere", homeMark, "/home/someone", modelMark, "http://127.0.0.1:1").Replace(string(data))
	var lines []string
	scanner := bufio.NewScanner(strings.NewReader(text))
	scanner.Buffer(nil, 8<<20)
	for scanner.Scan() {
		lines = append(lines, scanner.Text())
	}
	b.srv = newFakeServer(t, b.host, newPlayer(t, lines))
	return b
}

// newFakeServer is a server that runs, as far as sessions can tell.
func newFakeServer(t *testing.T, host provider.Host, transport http.RoundTripper) *server {
	t.Helper()
	srv := newServer(host, "opencode", func(*server) {})
	srv.http, srv.url, srv.proc = &http.Client{Transport: transport}, "http://opencode", &goneProcess{done: make(chan struct{})}
	if err := os.MkdirAll(srv.dir(), 0o700); err != nil {
		t.Fatal(err)
	}
	close(srv.ready)
	srv.use()
	return srv
}

// goneProcess is a process of which only the end matters.
type goneProcess struct {
	done chan struct{}
	exit process.Exit
}

func (p *goneProcess) ID() string                                { return "proc_test" }
func (p *goneProcess) Pid() int                                  { return 1 }
func (p *goneProcess) Stdin() io.WriteCloser                     { return nil }
func (p *goneProcess) Stdout() io.Reader                         { return strings.NewReader("") }
func (p *goneProcess) StderrTail() string                        { return "last words\n" }
func (p *goneProcess) Done() <-chan struct{}                     { return p.done }
func (p *goneProcess) Exit() process.Exit                        { return p.exit }
func (p *goneProcess) Stop(context.Context, time.Duration) error { return nil }

// newRecording starts the real OpenCode and a model for it.
func newRecording(t *testing.T, file string) *bench {
	t.Helper()
	path, err := clis.Find("opencode")
	if err != nil {
		t.Fatal(err)
	}
	model, err := modelserver.Start()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	env, err := model.OpenCode(home)
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "berth.db"))
	if err != nil {
		t.Fatal(err)
	}
	processes := process.NewSupervisor(db, slog.New(slog.DiscardHandler))
	b := &bench{t: t, dir: filepath.Join(home, "work"), model: model}
	if err := os.Mkdir(b.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	b.host = provider.Host{Processes: processes, Executable: path, Env: env, Scratch: t.TempDir(), Clock: clock{}, Version: "test"}
	driver := New()
	if b.srv, err = driver.acquire(t.Context(), b.host); err != nil {
		t.Fatal(err)
	}
	address := regexp.MustCompile(`http://127\.0\.0\.1:\d+`)
	r := &recorder{inner: b.srv.http.Transport, scrub: func(line []byte) []byte {
		text := strings.NewReplacer(b.dir, cwdMark, b.dir[1:], relativeMark, home, homeMark, home[1:], homeMark, os.TempDir()+"/", tempMark+"/").Replace(string(line))
		return []byte(address.ReplaceAllString(text, modelMark))
	}}
	b.srv.http = &http.Client{Transport: r}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		b.srv.http = &http.Client{Transport: r.inner}
		if err := errors.Join(driver.Close(ctx), processes.Close(ctx), model.Close(), db.Close()); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if err := os.WriteFile(file, []byte(strings.Join(r.lines, "\n")+"\n"), 0o644); err != nil {
			t.Error(err)
		}
	})
	return b
}

// file writes a file into the chat's folder and gives its path.
func (b *bench) file(name, text string) string {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
	return path
}

// talk is a conversation under test.
type talk struct {
	*bench
	s    *session
	seen []provider.Event // of the last turn
	conv string
}

func (b *bench) open(spec provider.Spec) *talk {
	b.t.Helper()
	k, err := b.tryOpen(spec)
	if err != nil {
		b.t.Fatal(err)
	}
	return k
}

func (b *bench) tryOpen(spec provider.Spec) (*talk, error) {
	b.t.Helper()
	if spec.Cwd == "" {
		spec.Cwd = b.dir
	}
	if spec.Mode == "" {
		spec.Mode = provider.Ask
	}
	if b.model != nil {
		b.srv.use()
	}
	s, err := openSession(b.t.Context(), b.host, spec, b.srv)
	if err != nil {
		return nil, err
	}
	k := &talk{bench: b, s: s}
	b.t.Cleanup(func() {
		s.unread()
		if err := s.Close(context.Background()); err != nil {
			b.t.Error(err)
		}
		<-s.done
	})
	return k, nil
}

func (k *talk) send(text string, attachments ...provider.Attachment) {
	k.t.Helper()
	k.seen = nil
	if d, err := k.s.Send(k.t.Context(), provider.Input{Turn: "turn_1", Text: text, Attachments: attachments}); err != nil || d != provider.Sent {
		k.t.Fatalf("send: %v, %v", d, err)
	}
}

// until reads events until one that ok takes.
func (k *talk) until(ok func(provider.Event) bool) provider.Event {
	k.t.Helper()
	limit := time.After(2 * time.Minute)
	for {
		select {
		case e, open := <-k.s.events:
			if !open {
				k.t.Fatalf("the session ended; seen %s", describe(k.seen))
			}
			if e.Conversation != "" {
				k.conv = e.Conversation
			}
			if e.Raw == nil {
				k.seen = append(k.seen, e)
			}
			if ok(e) {
				return e
			}
		case <-limit:
			k.t.Fatalf("nothing came; seen %s", describe(k.seen))
		}
	}
}

func describe(events []provider.Event) string {
	var b strings.Builder
	for _, e := range events {
		data, err := json.Marshal(e)
		if err == nil {
			fmt.Fprintf(&b, "\n%.300s", data)
		}
	}
	return b.String()
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
