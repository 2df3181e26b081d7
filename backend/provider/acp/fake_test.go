package acp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"berth/backend/process"
	"berth/backend/provider"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if *record {
		wait = 3 * time.Minute // the real agent, on whatever machine
	}
	goleak.VerifyTestMain(m)
}

// wait bounds what a test waits for; nothing takes that long.
var wait = 20 * time.Second

// pipeProcess is a process whose program is a goroutine of the test.
type pipeProcess struct {
	stdin  *io.PipeWriter
	stdout *io.PipeReader
	inner  *io.PipeReader
	outer  *io.PipeWriter
	stderr string
	once   sync.Once
	done   chan struct{}
	exit   process.Exit
}

func newPipeProcess() *pipeProcess {
	p := &pipeProcess{done: make(chan struct{})}
	p.inner, p.stdin = io.Pipe()
	p.stdout, p.outer = io.Pipe()
	return p
}

func (p *pipeProcess) ID() string            { return "proc_test" }
func (p *pipeProcess) Pid() int              { return 1 }
func (p *pipeProcess) Stdin() io.WriteCloser { return p.stdin }
func (p *pipeProcess) Stdout() io.Reader     { return p.stdout }
func (p *pipeProcess) StderrTail() string    { return p.stderr }
func (p *pipeProcess) Done() <-chan struct{} { return p.done }
func (p *pipeProcess) Exit() process.Exit    { return p.exit }
func (p *pipeProcess) Stop(context.Context, time.Duration) error {
	p.end(process.Exit{Code: -1, Signal: "SIGTERM"})
	return nil
}

func (p *pipeProcess) end(e process.Exit) {
	p.once.Do(func() {
		p.exit = e
		p.inner.Close()
		p.outer.Close()
		close(p.done)
	})
}

// handClock is time that passes when the test says so.
type handClock struct {
	mu     sync.Mutex
	now    time.Time
	timers map[*handTimer]bool
	set    chan struct{} // a timer was set
}

type handTimer struct {
	at time.Time
	f  func()
}

func newHandClock() *handClock {
	return &handClock{now: time.Unix(1_000_000, 0), timers: map[*handTimer]bool{}, set: make(chan struct{}, 1000)}
}

func (c *handClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *handClock) AfterFunc(d time.Duration, f func()) func() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &handTimer{c.now.Add(d), f}
	c.timers[t] = true
	select {
	case c.set <- struct{}{}:
	default:
	}
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		was := c.timers[t]
		delete(c.timers, t)
		return was
	}
}

func (c *handClock) pass(d time.Duration) {
	c.mu.Lock()
	c.now = c.now.Add(d)
	var due []*handTimer
	for t := range c.timers {
		if !t.at.After(c.now) {
			due = append(due, t)
			delete(c.timers, t)
		}
	}
	c.mu.Unlock()
	for _, t := range due {
		t.f()
	}
}

type realClock struct{}

func (realClock) Now() time.Time { return time.Now() }
func (realClock) AfterFunc(d time.Duration, f func()) func() bool {
	return time.AfterFunc(d, f).Stop
}

// agent is the scripted other side.
type agent struct {
	t    *testing.T
	p    *pipeProcess
	in   chan line
	done chan struct{}
}

type line struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

func newAgent(t *testing.T) *agent {
	a := &agent{t: t, p: newPipeProcess(), in: make(chan line, 100), done: make(chan struct{})}
	go func() {
		defer close(a.in)
		lines := bufio.NewScanner(a.p.inner)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			var l line
			if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
				t.Errorf("written: %s", lines.Bytes())
				return
			}
			select {
			case a.in <- l:
			case <-a.done:
				return
			}
		}
	}()
	return a
}

// expect gives the next line, which must be of that method ("" for a reply).
func (a *agent) expect(method string) line {
	a.t.Helper()
	select {
	case l, ok := <-a.in:
		if !ok {
			a.t.Errorf("expected %q, got the end", method)
			return line{}
		}
		if l.Method != method {
			a.t.Errorf("expected %q, got %q: %s", method, l.Method, l.Params)
		}
		return l
	case <-time.After(wait):
		a.t.Errorf("expected %q, got nothing", method)
		return line{}
	}
}

// write writes one line; line ends inside it are only for reading the test.
func (a *agent) write(text string) {
	_, _ = io.WriteString(a.p.outer, strings.ReplaceAll(text, "\n", "")+"\n")
}

func (a *agent) reply(to line, result string) {
	a.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, to.ID, result))
}

func (a *agent) refuse(to line, fault string) {
	a.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":%s}`, to.ID, fault))
}

func (a *agent) update(update string) {
	a.write(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":` + update + `}}`)
}

func (a *agent) request(id int, method, params string) {
	a.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params))
}

func chunk(text string) string {
	return fmt.Sprintf(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%q}}`, text)
}

// greet answers the handshake with the given capabilities and session.
func (a *agent) greet(caps, session string) {
	a.reply(a.expect("initialize"), `{"protocolVersion":1,"agentCapabilities":`+caps+`,"authMethods":[{"id":"x","name":"Sign in with X"}]}`)
	a.reply(a.expect("session/new"), session)
}

// setup is a session and its other side.
type setup struct {
	t     *testing.T
	a     *agent
	s     *session
	clock *handClock
	seen  []provider.Event
}

// begin makes a session that is not open yet.
func begin(t *testing.T, spec provider.Spec, clock provider.Clock, entry Entry) *setup {
	t.Helper()
	if spec.Cwd == "" {
		spec.Cwd = t.TempDir()
	}
	if spec.Mode == "" {
		spec.Mode = provider.Ask
	}
	a := newAgent(t)
	host := provider.Host{Scratch: t.TempDir(), Clock: clock, Version: "test"}
	files, err := openFiles(spec.Cwd)
	if err != nil {
		t.Fatal(err)
	}
	s := newSession(host, spec, entry, a.p, files)
	go s.read()
	x := &setup{t: t, a: a, s: s}
	x.clock, _ = clock.(*handClock)
	t.Cleanup(func() {
		s.unread()
		close(a.done)
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
		for range a.in {
		}
	})
	return x
}

var testEntry = Entry{ID: "test", Title: "Test agent", Command: "test"}

// opened makes an open session.
func openedSession(t *testing.T, spec provider.Spec, caps, session string) *setup {
	t.Helper()
	x := begin(t, spec, newHandClock(), testEntry)
	answered := make(chan struct{})
	go func() { defer close(answered); x.a.greet(caps, session) }()
	if err := x.s.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-answered
	return x
}

func plainSession(t *testing.T) *setup {
	return openedSession(t, provider.Spec{}, `{}`, `{"sessionId":"s1"}`)
}

// send sends and gives the prompt as the agent got it.
func (x *setup) send(in provider.Input) line {
	x.t.Helper()
	type sent struct {
		d   provider.Delivery
		err error
	}
	result := make(chan sent, 1)
	go func() {
		d, err := x.s.Send(x.t.Context(), in)
		result <- sent{d, err}
	}()
	l := x.a.expect("session/prompt")
	if r := <-result; r.d != provider.Sent || r.err != nil {
		x.t.Fatalf("send: %v, %v", r.d, r.err)
	}
	return l
}

// until reads events until one that ok takes, and forgets those before.
func (x *setup) until(ok func(provider.Event) bool) provider.Event {
	x.t.Helper()
	x.seen = nil
	limit := time.After(wait)
	for {
		select {
		case e, open := <-x.s.events:
			if !open {
				x.t.Fatalf("the session ended; seen %+v", x.seen)
			}
			if e.Raw == nil {
				x.seen = append(x.seen, e)
			}
			if ok(e) {
				return e
			}
		case <-limit:
			x.t.Fatalf("nothing came; seen %+v", x.seen)
		}
	}
}

func (x *setup) end() *provider.TurnEnded {
	x.t.Helper()
	return x.until(func(e provider.Event) bool { return e.TurnEnded != nil }).TurnEnded
}

// items are the states of items that were seen.
func (x *setup) items() (list []*provider.Item) {
	for _, e := range x.seen {
		if e.Item != nil {
			list = append(list, e.Item)
		}
	}
	return list
}

func code(err error) string {
	var e *provider.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return fmt.Sprint(err)
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
