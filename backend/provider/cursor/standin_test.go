package cursor

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"berth/backend/process"
	"berth/backend/provider"
	"berth/backend/store"
)

// The stand-in plays Cursor's agent from a script, in these tests only: the
// real program cannot be had as a package. A line of the script is said as it
// is; one that begins with "!" is an order:
//
//	!read        read the prompt to its end, and keep it beside the script
//	!exit N      end with that code
//	!kill        end by a signal
//	!stderr TEXT say it there
//	!stay        not end by itself
//	!hang        never end, also when asked politely
//	!fill N      say N bytes of rubbish in one line
const (
	scriptEnv  = "BERTHTEST_CURSOR_SCRIPT"
	promptFile = "prompt"
	argsFile   = "args"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(scriptEnv); dir != "" {
		standIn(dir)
	}
	goleak.VerifyTestMain(m)
}

func standIn(dir string) {
	args, _ := json.Marshal(os.Args[1:])
	name := "script"
	switch os.Args[1] {
	case "--help", "--version", "status", "--list-models":
		name = strings.TrimLeft(os.Args[1], "-")
	default:
		_ = os.WriteFile(filepath.Join(dir, argsFile), args, 0o600)
	}
	script, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		fmt.Fprintln(os.Stderr, "no script:", err)
		os.Exit(70)
	}
	out := bufio.NewWriter(os.Stdout)
	for line := range strings.Lines(string(script)) {
		line = strings.TrimSuffix(line, "\n")
		if order, ok := strings.CutPrefix(line, "!"); ok {
			_ = out.Flush()
			obey(dir, order)
			continue
		}
		fmt.Fprintln(out, line)
	}
	_ = out.Flush()
	os.Exit(0)
}

func obey(dir, order string) {
	word, rest, _ := strings.Cut(order, " ")
	switch word {
	case "read":
		prompt, _ := io.ReadAll(os.Stdin)
		_ = os.WriteFile(filepath.Join(dir, promptFile), prompt, 0o600)
	case "exit":
		code, _ := strconv.Atoi(rest)
		os.Exit(code)
	case "kill":
		killSelf()
	case "stderr":
		fmt.Fprintln(os.Stderr, rest)
	case "stay":
		for {
			time.Sleep(time.Hour)
		}
	case "hang":
		hang()
	case "fill":
		n, _ := strconv.Atoi(rest)
		fmt.Println(strings.Repeat("x", n))
	}
}

// patience bounds each wait in these tests.
const patience = 30 * time.Second

// clock is that of the machine, but its long waits come due when told.
type clock struct {
	mu     sync.Mutex
	ahead  time.Duration
	timers []*timer
}

type timer struct {
	at time.Time
	f  func()
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.ahead)
}

func (c *clock) AfterFunc(d time.Duration, f func()) func() bool {
	t := &timer{c.Now().Add(d), f}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timers = append(c.timers, t)
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		stopped := t.f != nil
		t.f = nil
		return stopped
	}
}

// pass lets time go by; what falls due runs before it returns.
func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	c.ahead += d
	now := time.Now().Add(c.ahead)
	var due []func()
	for _, t := range c.timers {
		if t.f != nil && !t.at.After(now) {
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

// bench is a driver with a stand-in behind it.
type bench struct {
	t     *testing.T
	dir   string // of the script
	cwd   string
	clock *clock
	host  provider.Host
}

func newBench(t *testing.T) *bench {
	t.Helper()
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "berth.db"))
	if err != nil {
		t.Fatal(err)
	}
	supervisor := process.NewSupervisor(db, slog.New(slog.NewTextHandler(io.Discard, nil)))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := supervisor.Close(ctx); err != nil {
			t.Errorf("processes are left: %v", err)
		}
		_ = db.Close()
	})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, dir: t.TempDir(), cwd: t.TempDir(), clock: &clock{}}
	b.host = provider.Host{Processes: supervisor, Executable: self, Env: []string{scriptEnv + "=" + b.dir, "CURSOR_API_KEY="}, Clock: b.clock}
	b.script("help", "Usage: agent [options]\n"+strings.Join(needed, " "))
	b.script("version", "2026.09.02-c22c1a3")
	b.script("status", "✓ Logged in as someone@example.com")
	b.script("list-models", "Available models\n\nauto - Auto (current)\nsonnet-5 - Claude Sonnet 5\n\nTip: use --model")
	return b
}

// script sets what the stand-in does; "script" is a turn.
func (b *bench) script(name string, lines ...string) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.dir, name), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) kept(name string) string {
	b.t.Helper()
	data, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil {
		b.t.Fatal(err)
	}
	return string(data)
}

func (b *bench) open(spec provider.Spec) *talk {
	b.t.Helper()
	spec.Cwd = b.cwd
	if spec.Mode == "" {
		spec.Mode = provider.Full
	}
	s, err := New().Open(b.t.Context(), b.host, spec)
	if err != nil {
		b.t.Fatal(err)
	}
	k := &talk{Session: s, t: b.t, more: make(chan struct{}), end: make(chan struct{})}
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
	b.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			b.t.Errorf("close: %v", err)
		}
		<-k.end
	})
	return k
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

func (k *talk) events() []provider.Event {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.seen[:len(k.seen):len(k.seen)]
}

// until waits for an event from the one numbered from on, and gives the
// number behind it.
func (k *talk) until(from int, what string, match func(provider.Event) bool) (provider.Event, int) {
	k.t.Helper()
	timeout := time.After(patience)
	for {
		k.mu.Lock()
		more, seen := k.more, k.seen
		k.mu.Unlock()
		for i := from; i < len(seen); i++ {
			if match(seen[i]) {
				return seen[i], i + 1
			}
		}
		select {
		case <-more:
		case <-timeout:
			data, _ := json.Marshal(seen[from:])
			k.t.Fatalf("no %s; seen: %s", what, data)
		}
	}
}

func isEnd(e provider.Event) bool { return e.TurnEnded != nil }

// say sends a message and waits for the end of its turn.
func (k *talk) say(turn, text string) (*provider.TurnEnded, []provider.Event) {
	k.t.Helper()
	from := len(k.events())
	if d, err := k.Send(k.t.Context(), provider.Input{Turn: turn, Text: text}); err != nil || d != provider.Sent {
		k.t.Fatalf("send: %v %v", d, err)
	}
	e, to := k.until(from, "end of the turn", isEnd)
	return e.TurnEnded, k.events()[from:to]
}
