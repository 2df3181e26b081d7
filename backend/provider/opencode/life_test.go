package opencode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/backend/process"
	"berth/backend/provider"
	"berth/backend/store"
)

// stub is an HTTP server that plays OpenCode's part as a test scripts it.
type stub struct {
	t    *testing.T
	http *httptest.Server

	mu       sync.Mutex
	streams  []chan string
	prompts  chan map[string]any
	status   string // of every conversation
	sessions int
}

func newStub(t *testing.T) *stub {
	s := &stub{t: t, prompts: make(chan map[string]any, 10), status: "idle"}
	mux := http.NewServeMux()
	reply := func(pattern, text string) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) })
	}
	mux.HandleFunc("GET /event", s.events)
	reply("GET /config/providers", `{"providers":[{"id":"p","name":"P","models":{"m":{"name":"M","limit":{"context":1000},"variants":{"high":{},"low":{},"odd":{}}}}}]}`)
	reply("GET /config", `{"model":"p/m"}`)
	reply("GET /command", `[{"name":"go","description":"Go"}]`)
	reply("GET /agent", `[{"name":"build","mode":"primary","permission":[{"permission":"bash","pattern":"rm *","action":"deny"}]},{"name":"plan","mode":"primary"}]`)
	reply("POST /session/{id}/abort", `true`)
	reply("PATCH /session/{id}", `{}`)
	reply("GET /session/{id}/message", `[]`)
	mux.HandleFunc("GET /session/status", func(w http.ResponseWriter, _ *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		fmt.Fprintf(w, `{"ses_1":{"type":%q}}`, s.status)
	})
	mux.HandleFunc("POST /session", func(w http.ResponseWriter, _ *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.sessions++
		fmt.Fprintf(w, `{"id":"ses_%d"}`, s.sessions)
	})
	mux.HandleFunc("POST /session/{id}/prompt_async", s.prompt)
	mux.HandleFunc("POST /session/{id}/command", s.prompt)
	s.http = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, password, ok := r.BasicAuth(); !ok || password == "" {
			t.Errorf("%s without a password", r.URL.Path)
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		s.http.CloseClientConnections()
		s.http.Close()
	})
	return s
}

func (s *stub) prompt(w http.ResponseWriter, r *http.Request) {
	var body map[string]any
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		s.t.Error(err)
	}
	if parts, ok := body["parts"].([]any); ok && len(parts) > 0 && strings.Contains(fmt.Sprint(parts[len(parts)-1]), "refuse me") {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"data":{"message":"no"}}`)
		return
	}
	s.prompts <- body
	w.WriteHeader(http.StatusNoContent)
}

func (s *stub) events(w http.ResponseWriter, r *http.Request) {
	lines := make(chan string, 100)
	s.mu.Lock()
	s.streams = append(s.streams, lines)
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, "data: {\"type\":\"server.connected\",\"properties\":{}}\n\n")
	w.(http.Flusher).Flush()
	for {
		select {
		case line, ok := <-lines:
			if !ok {
				return // the stream breaks off
			}
			_, _ = io.WriteString(w, "data: "+line+"\n\n")
			w.(http.Flusher).Flush()
		case <-r.Context().Done():
			return
		}
	}
}

// tell sends an event to all.
func (s *stub) tell(kind, properties string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, lines := range s.streams {
		lines <- fmt.Sprintf(`{"type":%q,"properties":%s}`, kind, properties)
	}
}

func (s *stub) user(id string) {
	s.tell("message.updated", `{"sessionID":"ses_1","info":{"id":"`+id+`","sessionID":"ses_1","role":"user"}}`)
}

func (s *stub) assistant(id, parent, more string) {
	s.tell("message.updated", `{"sessionID":"ses_1","info":{"id":"`+id+`","sessionID":"ses_1","role":"assistant","parentID":"`+parent+`"`+more+`}}`)
}

func (s *stub) idle() { s.tell("session.idle", `{"sessionID":"ses_1"}`) }

// stubbed is a conversation with a stub.
func stubbed(t *testing.T) (*stub, *talk) {
	t.Helper()
	s := newStub(t)
	b := &bench{t: t, dir: t.TempDir(), host: provider.Host{Scratch: t.TempDir(), Clock: clock{}, Version: "test"}}
	b.srv = newFakeServer(t, b.host, http.DefaultTransport)
	b.srv.url, b.srv.password = s.http.URL, "secret"
	t.Cleanup(func() { http.DefaultTransport.(*http.Transport).CloseIdleConnections() })
	return s, b.open(provider.Spec{})
}

// hasty is time that passes twenty times as fast.
type hasty struct{}

func (hasty) Now() time.Time { return time.Now() }
func (hasty) AfterFunc(d time.Duration, f func()) func() bool {
	return time.AfterFunc(d/20, f).Stop
}

func TestPrompt(t *testing.T) {
	s, k := stubbed(t)
	send := func(in provider.Input) map[string]any {
		t.Helper()
		d, err := k.s.Send(t.Context(), in)
		if d != provider.Sent || err != nil {
			t.Fatalf("%v, %v", d, err)
		}
		got := <-s.prompts
		id := "msg_" + in.Turn
		s.user(id)
		s.assistant(id+"a", id, `,"finish":"stop","time":{"completed":1}`)
		s.idle()
		k.end()
		return got
	}
	got := send(provider.Input{Turn: "1", Text: " <x>\n", Model: "p/m", Effort: "high", Mode: provider.PlanOnly})
	want := `map[agent:plan model:map[modelID:m providerID:p] parts:[map[text: <x>
 type:text]] variant:high]`
	if fmt.Sprint(got) != want {
		t.Errorf("sent %v", got)
	}
	got = send(provider.Input{Turn: "2", Text: "/go there  and back", Mode: provider.Ask})
	if got["command"] != "go" || got["arguments"] != "there  and back" || got["model"] != "p/m" {
		t.Errorf("sent %v", got)
	}
	if got = send(provider.Input{Turn: "3", Text: "/gone"}); fmt.Sprint(got["parts"]) != "[map[text:/gone type:text]]" {
		t.Errorf("sent %v", got)
	}
	for _, in := range []provider.Input{{Text: "x", Model: "p/none"}, {Text: "x", Effort: "huge"}} {
		if d, err := k.s.Send(t.Context(), in); d != provider.NotSent || err == nil {
			t.Errorf("%+v: %v, %v", in, d, err)
		}
	}
	d, err := k.s.Send(t.Context(), provider.Input{Text: "refuse me"})
	var failed *provider.Error
	if d != provider.NotSent || !errors.As(err, &failed) || failed.Detail != "no" {
		t.Errorf("a refused message: %v, %v", d, err)
	}
	if m := k.s.known.models; len(m) != 1 || strings.Join(m[0].Efforts, " ") != "low high odd" {
		t.Errorf("models %+v", m)
	}
}

// The end of an earlier turn that OpenCode tells once more does not end this
// one; an end without an answer does, once the server confirms it.
func TestIdle(t *testing.T) {
	s, k := stubbed(t)
	s.mu.Lock()
	s.status = "busy"
	s.mu.Unlock()
	k.send("one")
	<-s.prompts
	s.idle() // before the message was even taken up
	s.user("msg_1")
	s.idle()
	s.assistant("msg_2", "msg_0", `,"finish":"stop","time":{"completed":1}`) // of another turn
	s.idle()
	s.assistant("msg_3", "msg_1", "")
	time.Sleep(2 * idleEvery) // the checks find it busy
	s.tell("message.part.updated", `{"sessionID":"ses_1","part":{"id":"prt_1","messageID":"msg_3","type":"text","text":""}}`)
	s.tell("message.part.delta", `{"sessionID":"ses_1","messageID":"msg_3","partID":"prt_1","field":"text","delta":"x"}`)
	k.until(func(e provider.Event) bool {
		if e.TurnEnded != nil {
			t.Fatalf("ended too early: %+v", e.TurnEnded)
		}
		return e.Text != nil
	})
	s.mu.Lock()
	s.status = "idle"
	s.mu.Unlock()
	s.idle()
	if end := k.end(); end.State != completed {
		t.Errorf("ended %+v", end)
	}
}

// A message that OpenCode does not even take up ends in an error.
func TestNotTakenUp(t *testing.T) {
	s, k := stubbed(t)
	k.s.host.Clock = hasty{}
	k.send("one")
	<-s.prompts
	s.tell("session.error", `{"sessionID":"ses_1","error":{"name":"UnknownError","data":{"message":"Agent not found: x\n    at somewhere"}}}`)
	if end := k.end(); end.State != failed || end.Err.Detail != "Agent not found: x" {
		t.Errorf("ended %+v, %+v", end, end.Err)
	}
}

// What belongs to another chat, or is of no known kind, does no harm.
func TestForeignEvents(t *testing.T) {
	s, k := stubbed(t)
	k.send("one")
	<-s.prompts
	s.user("msg_1")
	s.tell("message.updated", `{"sessionID":"ses_9","info":{"id":"msg_2","sessionID":"ses_9","role":"user"}}`)
	s.tell("permission.asked", `{"sessionID":"ses_9","id":"per_1","permission":"bash","patterns":["x"]}`)
	s.tell("hologram.shown", `{"sessionID":"ses_1"}`)
	s.tell("message.updated", `[]`)
	s.tell("session.idle", `{"sessionID":"ses_9"}`)
	s.assistant("msg_3", "msg_1", `,"finish":"stop","time":{"completed":1}`)
	s.tell("message.part.updated", `{"sessionID":"ses_1","part":{"id":"prt_1","messageID":"msg_3","type":"hologram"}}`)
	s.tell("message.part.updated", `{"sessionID":"ses_1","part":{"id":"prt_2","messageID":"msg_3","type":"hologram"}}`)
	s.idle()
	k.end()
	var accepted, requests, notices int
	for _, e := range k.seen {
		switch {
		case e.Accepted != nil:
			accepted++
		case e.Request != nil:
			requests++
		case e.Item != nil && e.Item.Body.Notice != nil:
			notices++
		}
	}
	if accepted != 1 || requests != 0 || notices != 1 {
		t.Errorf("accepted %d, requests %d, notices %d", accepted, requests, notices)
	}
}

func TestStreamBreaksOff(t *testing.T) {
	s, k := stubbed(t)
	k.send("one")
	<-s.prompts
	s.user("msg_1")
	k.until(func(e provider.Event) bool { return e.Accepted != nil })
	proc := k.srv.proc.(*goneProcess)
	proc.exit = process.Exit{Code: 7}
	close(proc.done)
	s.mu.Lock()
	close(s.streams[0])
	s.streams = nil
	s.mu.Unlock()
	closed := k.until(func(e provider.Event) bool { return e.Closed != nil }).Closed
	if closed.Err == nil || closed.Err.Code != "agent_ended" || closed.Err.Detail != "last words" || *closed.ExitCode != 7 {
		t.Errorf("closed %+v", closed)
	}
	if d, err := k.s.Send(t.Context(), provider.Input{Text: "x"}); d == provider.Sent || err == nil {
		t.Errorf("after the end: %v, %v", d, err)
	}
}

// A driver with a program in OpenCode's place that names the stub's address.
func newDriver(t *testing.T, script string) (*Driver, provider.Host) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in program is a shell script")
	}
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "berth.db"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "opencode")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	d, processes := New(), process.NewSupervisor(db, slog.New(slog.DiscardHandler))
	t.Cleanup(func() {
		if err := errors.Join(d.Close(context.Background()), processes.Close(context.Background()), db.Close()); err != nil {
			t.Error(err)
		}
	})
	return d, provider.Host{Processes: processes, Executable: path, Scratch: t.TempDir(), Clock: clock{}, Version: "test"}
}

func TestSharedServer(t *testing.T) {
	s := newStub(t)
	d, host := newDriver(t, `echo "$SHELL $OPENCODE_PERMISSION" > "$PWD/env"; echo "opencode server listening on `+s.http.URL+`"; exec cat`)
	open := func() provider.Session {
		t.Helper()
		session, err := d.Open(t.Context(), host, provider.Spec{Cwd: t.TempDir(), Mode: provider.Ask})
		if err != nil {
			t.Fatal(err)
		}
		return session
	}
	finish := func(session provider.Session) *provider.Closed {
		t.Helper()
		ended := make(chan *provider.Closed, 1)
		go func() {
			var last *provider.Closed
			for e := range session.Events() {
				last = e.Closed
			}
			ended <- last
		}()
		if err := session.Close(t.Context()); err != nil {
			t.Error(err)
		}
		return <-ended
	}
	one, two := open(), open()
	if live := host.Processes.List(); len(live) != 1 {
		t.Fatalf("%d processes serve two chats", len(live))
	}
	env, err := os.ReadFile(filepath.Join(host.Scratch, Name, "env"))
	shell, permission, _ := strings.Cut(strings.TrimSpace(string(env)), " ")
	if err != nil || !strings.HasPrefix(shell, host.Scratch) || !strings.Contains(permission, `"bash":{"*":"ask"}`) {
		t.Errorf("environment %q, %v", env, err)
	}
	if end := finish(one); end == nil || end.Err != nil {
		t.Errorf("closed %+v", end)
	}
	// The server is killed: the other chat is told, and the next gets a new one.
	before := host.Processes.List()[0].Pid
	killed, err := os.FindProcess(before)
	if err != nil {
		t.Fatal(err)
	}
	if err := killed.Kill(); err != nil {
		t.Fatal(err)
	}
	s.http.CloseClientConnections()
	var end *provider.Closed
	for e := range two.Events() {
		end = e.Closed
	}
	if end == nil || end.Err == nil || end.Err.Code != "agent_ended" || end.Err.Detail != "signal SIGKILL" {
		t.Errorf("closed %+v", end)
	}
	three := open()
	if after := host.Processes.List(); len(after) != 1 || after[0].Pid == before {
		t.Errorf("processes %+v", after)
	}
	finish(three)
}

// Commands do not see the server's password.
func TestShellHidesThePassword(t *testing.T) {
	_, host := newDriver(t, "")
	for _, shell := range []string{"/bin/sh", "/no/such/shell", "", "/usr/bin/fish"} {
		host.Env = []string{"SHELL=" + shell}
		srv := newServer(host, host.Executable, func(*server) {})
		path, err := srv.shell()
		if err != nil {
			t.Fatal(err)
		}
		proc, err := host.Processes.Start(t.Context(), process.Spec{
			Path: path, Args: []string{"-c", `echo "[$OPENCODE_SERVER_PASSWORD] $KEPT $1"`, "opencode", "a b"}, Dir: t.TempDir(),
			Env: []string{passwordVariable + "=secret", "KEPT=yes"}, Label: "shell",
		})
		if err != nil {
			t.Fatal(err)
		}
		out, err := io.ReadAll(proc.Stdout())
		if err != nil || string(out) != "[] yes a b\n" {
			t.Errorf("%q: %q, %v", shell, out, err)
		}
	}
}

func TestServerDoesNotStart(t *testing.T) {
	tests := []struct{ name, script, code, detail string }{
		{"exits", "echo no config >&2; exit 3", "start_failed", "no config"},
		{"says something else", "echo hello; exec sleep 0.2", "start_failed", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d, host := newDriver(t, test.script)
			_, err := d.Open(t.Context(), host, provider.Spec{Cwd: t.TempDir(), Mode: provider.Ask})
			var failed *provider.Error
			if !errors.As(err, &failed) || failed.Code != test.code || failed.Detail != test.detail {
				t.Errorf("%+v", err)
			}
		})
	}
	d, host := newDriver(t, "exec cat")
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err := d.Open(ctx, host, provider.Spec{Cwd: t.TempDir(), Mode: provider.Ask})
	var failed *provider.Error
	if !errors.As(err, &failed) || failed.Code != "no_answer" {
		t.Errorf("a silent one: %v", err)
	}
	// Closing does not wait for it.
	if err := d.Close(t.Context()); err != nil {
		t.Error(err)
	}
	d = New()
	if _, err := d.Open(t.Context(), host, provider.Spec{Cwd: "/no/such/folder"}); !errors.As(err, &failed) || failed.Code != "cwd_missing" {
		t.Errorf("a folder that is gone: %v", err)
	}
	host.Executable = "/no/such/program"
	if _, err := d.Open(t.Context(), host, provider.Spec{Cwd: t.TempDir()}); !errors.As(err, &failed) || failed.Code != "missing" {
		t.Errorf("not installed: %v", err)
	}
}

func TestDescribe(t *testing.T) {
	tests := []struct {
		script, version string
		status          provider.Status
	}{
		{`echo 1.18.33`, "1.18.33", provider.Ready},
		{`echo 1.17.9`, "1.17.9", provider.TooOld},
		{`echo broken >&2; exit 1`, "", provider.Broken},
	}
	for _, test := range tests {
		d, host := newDriver(t, test.script)
		home := t.TempDir()
		if err := os.MkdirAll(filepath.Join(home, "opencode"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, "opencode", "auth.json"), []byte(`{"openai":{},"anthropic":{}}`), 0o600); err != nil {
			t.Fatal(err)
		}
		host.Env = []string{"XDG_DATA_HOME=" + home}
		desc := d.Describe(t.Context(), host)
		if desc.Status != test.status || desc.Version != test.version || desc.Status == provider.Ready && desc.Account != "anthropic, openai" {
			t.Errorf("%s: %+v", test.script, desc)
		}
	}
}
