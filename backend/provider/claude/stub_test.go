package claude

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/backend/process"
	"berth/backend/provider"
)

// stub is a process whose lines the test says.
type stub struct {
	t      *testing.T
	out    *io.PipeWriter // the test says
	stdout *io.PipeReader
	in     *bufio.Reader // the test hears
	stdin  *io.PipeWriter
	stderr string
	exit   process.Exit
	done   chan struct{}
	once   sync.Once
	// lingers keeps the process alive after its output has ended, until Stop.
	lingers bool
}

func newStub(t *testing.T) *stub {
	p := &stub{t: t, done: make(chan struct{})}
	p.stdout, p.out = io.Pipe()
	heard, stdin := io.Pipe()
	p.in, p.stdin = bufio.NewReader(heard), stdin
	return p
}

func (p *stub) ID() string            { return "proc_stub" }
func (p *stub) Pid() int              { return 1 }
func (p *stub) Stdin() io.WriteCloser { return p.stdin }
func (p *stub) Stdout() io.Reader     { return p.stdout }
func (p *stub) StderrTail() string    { return p.stderr }
func (p *stub) Done() <-chan struct{} { return p.done }
func (p *stub) Exit() process.Exit    { return p.exit }

func (p *stub) Stop(context.Context, time.Duration) error {
	p.lingers = false
	p.end()
	return nil
}

// end ends the output, and the process with it.
func (p *stub) end() {
	_ = p.out.Close()
	_ = p.stdin.Close()
	if !p.lingers {
		p.once.Do(func() { close(p.done) })
	}
}

// says writes a line as the CLI.
func (p *stub) says(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.out, line+"\n"); err != nil {
		p.t.Errorf("say %s: %v", line, err)
	}
}

// wire is a line of the driver.
type wireLine struct {
	Type    string `json:"type"`
	UUID    string `json:"uuid"`
	ID      string `json:"request_id"`
	Request struct {
		Subtype string `json:"subtype"`
	} `json:"request"`
	Response struct {
		ID       string          `json:"request_id"`
		Response json.RawMessage `json:"response"`
	} `json:"response"`
	raw string
}

// hears reads the driver's next line.
func (p *stub) hears() wireLine {
	p.t.Helper()
	line, err := p.in.ReadString('\n')
	if err != nil {
		p.t.Fatalf("hear: %v", err)
	}
	l := wireLine{raw: line}
	if err := json.Unmarshal([]byte(line), &l); err != nil {
		p.t.Fatal(err)
	}
	return l
}

// hearsOf reads lines until one of the kind comes.
func (p *stub) hearsOf(subtype string) wireLine {
	p.t.Helper()
	for {
		l := p.hears()
		if l.Type == subtype || l.Request.Subtype == subtype {
			return l
		}
	}
}

// clock is time that passes only when told to.
type clock struct {
	mu     sync.Mutex
	now    time.Time
	timers []*timer
	set    chan struct{} // a timer was set
}

type timer struct {
	at time.Time
	f  func()
}

func newClock() *clock { return &clock{now: time.Unix(1000, 0), set: make(chan struct{}, 100)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) AfterFunc(d time.Duration, f func()) func() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &timer{c.now.Add(d), f}
	c.timers = append(c.timers, t)
	select {
	case c.set <- struct{}{}:
	default:
	}
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		stopped := t.f != nil
		t.f = nil
		return stopped
	}
}

// pass lets time go by; what falls due runs in goroutines of its own.
func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	c.now = c.now.Add(d)
	var due []func()
	for _, t := range c.timers {
		if t.f != nil && !t.at.After(c.now) {
			due = append(due, t.f)
			t.f = nil
		}
	}
	c.mu.Unlock()
	var running sync.WaitGroup
	for _, f := range due {
		running.Go(f)
	}
	running.Wait()
}

// stubbed is a session on a stub that has been initialised.
func stubbed(t *testing.T, spec provider.Spec) (*stub, *clock, *talk) {
	t.Helper()
	p, c := newStub(t), newClock()
	s := newSession(p, c, spec, func(string) bool { return false })
	k := follow(t, s)
	started := make(chan error, 1)
	go func() { started <- s.initialize(t.Context()) }()
	p.says(reply200(p.hears().ID, `{"commands":[{"name":"cost","description":"d","argumentHint":""}]}`))
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	return p, c, k
}

func reply200(id, response string) string {
	return `{"type":"control_response","response":{"subtype":"success","request_id":"` + id + `","response":` + response + `}}`
}

// begun sends a message and has the CLI take it.
func begun(t *testing.T, p *stub, k *talk, turn string) string {
	t.Helper()
	sent := make(chan error, 1)
	go func() {
		_, err := k.Send(t.Context(), provider.Input{Turn: turn, Text: "hello", Mode: provider.Ask})
		sent <- err
	}()
	uuid := p.hearsOf("user").UUID
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	from := len(k.events())
	p.says(lifecycleOf(uuid, "started"))
	k.until(from, "acceptance", func(e provider.Event) bool { return e.Accepted != nil })
	return uuid
}

func lifecycleOf(uuid, state string) string {
	return `{"type":"command_lifecycle","command_uuid":"` + uuid + `","state":"` + state + `","session_id":"s1"}`
}

func resultOf(uuid, more string) string {
	return `{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"said","stop_reason":"end_turn","session_id":"s1","user_message_uuids":["` + uuid + `"]` + more + `}`
}

func saying(text string) string {
	data, _ := json.Marshal(text)
	return `{"type":"assistant","uuid":"u1","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":` + string(data) + `}]}}`
}

// contains says whether any event, as JSON, holds a text.
func contains(events []provider.Event, text string) bool {
	data, _ := json.Marshal(events)
	return strings.Contains(string(data), text)
}
