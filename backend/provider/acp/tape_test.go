package acp

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
	"os"
	"path/filepath"
	"regexp"
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

// A tape is a conversation of the driver with the real Gemini CLI, line by
// line in the order seen: "> " is what the driver wrote, "< " what the agent
// did. Paths and addresses are taken out. Replayed, the agent's lines come
// when all that was written before them is written, and what the driver
// writes must be what it wrote. -record makes the tapes anew (see
// docs/agents.md).

var record = flag.Bool("record", false, "make the tapes in testdata anew with the real Gemini CLI")

const (
	cwdMark  = "{{cwd}}"
	homeMark = "{{home}}"
)

// taped is a process whose lines are recorded.
type taped struct {
	process.Process
	in  io.WriteCloser
	out io.Reader
}

func (t *taped) Stdin() io.WriteCloser { return t.in }
func (t *taped) Stdout() io.Reader     { return t.out }

type tape struct {
	mu    sync.Mutex
	lines []string
	scrub *strings.Replacer
}

func (r *tape) add(mark string, line []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, mark+r.scrub.Replace(string(bytes.TrimSpace(line))))
}

type tapedInput struct {
	io.WriteCloser
	r *tape
}

func (w *tapedInput) Write(line []byte) (int, error) {
	w.r.add("> ", line)
	return w.WriteCloser.Write(line)
}

func (r *tape) wrap(p process.Process) process.Process {
	reader, writer := io.Pipe()
	go func() {
		lines := bufio.NewReader(p.Stdout())
		for {
			line, err := lines.ReadBytes('\n')
			if len(line) > 0 {
				r.add("< ", line)
				_, _ = writer.Write(line)
			}
			if err != nil {
				_ = writer.CloseWithError(err)
				return
			}
		}
	}()
	return &taped{Process: p, in: &tapedInput{p.Stdin(), r}, out: reader}
}

// replay plays a tape as a process.
func replay(t *testing.T, lines []string) process.Process {
	p := newPipeProcess()
	written := make(chan []byte, 100)
	go func() {
		defer close(written)
		in := bufio.NewScanner(p.inner)
		in.Buffer(nil, 8<<20)
		for in.Scan() {
			written <- bytes.Clone(in.Bytes())
		}
	}()
	go func() {
		for _, line := range lines {
			if text, ok := strings.CutPrefix(line, "< "); ok {
				if _, err := io.WriteString(p.outer, text+"\n"); err != nil {
					return
				}
				continue
			}
			got, ok := <-written
			if !ok {
				return // the test has ended
			}
			if want := strings.TrimPrefix(line, "> "); !sameLine(want, string(got)) {
				t.Errorf("written\n%s\nthe tape has\n%s", got, want)
			}
		}
		for range written {
		}
	}()
	return p
}

func sameLine(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && fmt.Sprint(x) == fmt.Sprint(y)
}

// gemini is what a taped test works on.
type gemini struct {
	t     *testing.T
	dir   string
	lines []string // replayed
	tape  *tape    // recorded
	host  provider.Host
	path  string
	entry Entry
}

func newGemini(t *testing.T) *gemini {
	t.Helper()
	g := &gemini{t: t, dir: t.TempDir(), host: provider.Host{Scratch: t.TempDir(), Clock: realClock{}, Version: "test"}}
	for _, e := range Builtin() {
		if e.ID == "gemini" {
			g.entry = e
		}
	}
	file := filepath.Join("testdata", t.Name()+".jsonl")
	if *record {
		g.record(file)
		return g
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer(cwdMark, g.dir, homeMark, "/home/someone").Replace(string(data))
	g.lines = strings.Split(strings.TrimSpace(text), "\n")
	return g
}

// record prepares the real agent, a model for it, and the saving of the tape.
func (g *gemini) record(file string) {
	t := g.t
	path, err := clis.Find("gemini")
	if err != nil {
		t.Fatal(err)
	}
	model, err := modelserver.Start()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	if g.host.Env, err = model.Gemini(home); err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "berth.db"))
	if err != nil {
		t.Fatal(err)
	}
	g.host.Processes = process.NewSupervisor(db, slog.New(slog.DiscardHandler))
	g.path, g.tape = path, &tape{scrub: strings.NewReplacer(g.dir, cwdMark, home, homeMark, model.URL(), "{{model}}")}
	t.Cleanup(func() {
		if err := errors.Join(g.host.Processes.Close(context.Background()), model.Close(), db.Close()); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			return
		}
		text := regexp.MustCompile(`/tmp/[^"\\ ]*`).ReplaceAllString(strings.Join(g.tape.lines, "\n"), "{{tmp}}")
		if err := os.WriteFile(file, []byte(text+"\n"), 0o644); err != nil {
			t.Error(err)
		}
	})
}

// open opens a conversation. A replayed tape holds all conversations of the
// test, one after the other, parted by a blank line.
func (g *gemini) open(spec provider.Spec) *setup {
	g.t.Helper()
	spec.Cwd = g.dir
	if spec.Mode == "" {
		spec.Mode = provider.Ask
	}
	var proc process.Process
	if g.tape != nil {
		p, err := g.host.Processes.Start(g.t.Context(), process.Spec{Path: g.path, Args: g.entry.Args, Dir: g.dir, Env: g.host.Env, Label: "gemini"})
		if err != nil {
			g.t.Fatal(err)
		}
		if len(g.tape.lines) > 0 {
			g.tape.lines = append(g.tape.lines, "")
		}
		proc = g.tape.wrap(p)
	} else {
		mine := g.lines
		if i := slices.Index(g.lines, ""); i >= 0 {
			mine, g.lines = g.lines[:i], g.lines[i+1:]
		}
		proc = replay(g.t, mine)
	}
	files, err := openFiles(spec.Cwd)
	if err != nil {
		g.t.Fatal(err)
	}
	s := newSession(g.host, spec, g.entry, proc, files)
	go s.read()
	x := &setup{t: g.t, s: s}
	g.t.Cleanup(func() { x.close() })
	if err := s.open(g.t.Context()); err != nil {
		g.t.Fatal(err)
	}
	return x
}

func (x *setup) close() {
	x.s.unread()
	if err := x.s.Close(context.Background()); err != nil {
		x.t.Error(err)
	}
	<-x.s.done
}

// say sends a message whose prompt nobody but the tape sees.
func (x *setup) say(text string) {
	x.t.Helper()
	if d, err := x.s.Send(x.t.Context(), provider.Input{Text: text}); d != provider.Sent || err != nil {
		x.t.Fatalf("send: %v, %v", d, err)
	}
}

// said is what streamed of a kind in the events seen last.
func (x *setup) said(kind event.Kind) string {
	var b strings.Builder
	for _, e := range x.seen {
		if e.Text != nil && e.Text.Kind == kind {
			b.WriteString(e.Text.Text)
		}
	}
	return b.String()
}

// lastCall is the last state of the last call that was seen.
func (x *setup) lastCall() *provider.Item {
	x.t.Helper()
	items := x.items()
	for i := len(items) - 1; i >= 0; i-- {
		if items[i].Kind == event.ToolCall {
			return items[i]
		}
	}
	x.t.Fatal("no call was seen")
	return nil
}

func TestGeminiAnswer(t *testing.T) {
	x := newGemini(t).open(provider.Spec{Instructions: "Be kind."})
	x.say(modelserver.Directive(modelserver.Step{Scenario: "thinking", Thought: "First 思考.", Text: "After <b>that</b>."}))
	if end := x.end(); end.State != completed || end.StopReason != "end_turn" {
		t.Fatalf("ended %+v", end)
	}
	if x.said(event.Answer) != "After <b>that</b>." || !strings.Contains(x.said(event.Thought), "First 思考.") {
		t.Errorf("said %q after %q", x.said(event.Answer), x.said(event.Thought))
	}
	var usage *provider.Usage
	for _, e := range x.seen {
		if e.Usage != nil {
			usage = e.Usage
		}
	}
	if usage == nil || usage.InputTokens == nil || usage.OutputTokens == nil || usage.Model == "" {
		t.Errorf("usage %+v", usage)
	}
	l := x.s.learned()
	if len(l.models) == 0 || len(l.modes) != 4 || l.capabilities.Questions || l.capabilities.Plans || !l.capabilities.Images {
		t.Errorf("learned %+v", l)
	}
}

func TestGeminiTools(t *testing.T) {
	g := newGemini(t)
	x := g.open(provider.Spec{})
	x.say(modelserver.Directive(modelserver.Step{Scenario: "shell", Command: "touch one"}))
	ask := x.until(func(e provider.Event) bool { return e.Request != nil }).Request
	if ask.Body.ToolKind != event.ToolExecute || !strings.Contains(ask.Body.Title, "touch one") || len(ask.Body.Options) < 3 {
		t.Errorf("asked %+v", ask.Body)
	}
	answer := func(ask *provider.Request, kind event.OptionKind) {
		t.Helper()
		i := slices.IndexFunc(ask.Body.Options, func(o event.Option) bool { return o.Kind == kind })
		if err := x.s.Answer(t.Context(), ask.Key, provider.Answer{Option: ask.Body.Options[i].ID}); err != nil {
			t.Fatal(err)
		}
	}
	answer(ask, event.RejectOnce)
	if end := x.end(); end.State != completed {
		t.Fatalf("ended %+v", end)
	}
	if call := x.lastCall(); call.Status != event.Failed || call.Body.Tool.Error != "Denied." {
		t.Errorf("the denied call is %s, %+v", call.Status, call.Body.Tool)
	}
	x.say(modelserver.Directive(modelserver.Step{Scenario: "shell", Command: "touch two"}))
	answer(x.until(func(e provider.Event) bool { return e.Request != nil }).Request, event.AllowOnce)
	x.end()
	if call := x.lastCall(); call.Status != event.Completed || call.Key != ask.Tool && call.Key == "" {
		t.Errorf("the call is %s", call.Status)
	}
	path := filepath.Join(g.dir, "new.txt")
	x.say(modelserver.Directive(modelserver.Step{Scenario: "write", Path: path, Content: "new\n"}))
	edit := x.until(func(e provider.Event) bool { return e.Request != nil }).Request
	if f := edit.Body.Files; len(f) != 1 || f[0].Path != "new.txt" || f[0].Change != "added" || f[0].Added != 1 {
		t.Errorf("asked %+v", edit.Body)
	}
	answer(edit, event.AllowOnce)
	x.end()
	if call := x.lastCall(); call.Status != event.Completed || len(call.Body.Tool.Files) != 1 {
		t.Errorf("the edit is %s, %+v", call.Status, call.Body.Tool)
	}
}

func TestGeminiResume(t *testing.T) {
	g := newGemini(t)
	x := g.open(provider.Spec{})
	x.say("one")
	x.end()
	conversation := string(x.s.id)
	x.close()
	if g.tape != nil {
		// A conversation is lost when it is loaded in its first minute.
		time.Sleep(time.Until(time.Now().Truncate(time.Minute).Add(time.Minute)))
	}
	again := g.open(provider.Spec{Resume: conversation, Mode: provider.AcceptEdits})
	again.say("two")
	if end := again.end(); end.State != completed || again.said(event.Answer) != "You said: two" {
		t.Errorf("ended %+v, said %q", end, again.said(event.Answer))
	}
}

func TestGeminiInterrupt(t *testing.T) {
	x := newGemini(t).open(provider.Spec{})
	x.say(modelserver.Directive(modelserver.Step{Scenario: "slow", Words: 200, MS: 50}))
	x.until(func(e provider.Event) bool { return e.Text != nil })
	if err := x.s.Interrupt(t.Context()); err != nil {
		t.Fatal(err)
	}
	if end := x.end(); end.State != stopped {
		t.Errorf("ended %+v", end)
	}
	x.say("And now?")
	if end := x.end(); end.State != completed || !strings.HasSuffix(x.said(event.Answer), "You said: And now?") {
		t.Errorf("ended %+v, said %q", end, x.said(event.Answer))
	}
}
