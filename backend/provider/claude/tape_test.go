package claude

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/backend/process"
	"berth/backend/provider"
)

// A tape is a conversation of the driver with the real CLI, line by line in
// the order seen: "> " is what the driver wrote, "< " what the CLI did.
// Paths, ids of the machine and what is of no use to the driver are taken out.
// Replayed, the CLI's lines come as they came, and what the driver writes must
// be what it wrote. -record makes them anew:
//
//	go test ./backend/provider/claude -record
var record = flag.Bool("record", false, "make the tapes in testdata anew with the real CLI")

// tape records a process.
type tape struct {
	process.Process
	in  *tapedInput
	out io.Reader
}

type recording struct {
	mu    sync.Mutex
	lines []string
	scrub func([]byte) []byte
}

func (r *recording) add(mark string, line []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if line = r.scrub(bytes.TrimSpace(line)); line != nil {
		r.lines = append(r.lines, mark+string(line))
	}
}

func (r *recording) save(t *testing.T, path string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := os.WriteFile(path, []byte(strings.Join(r.lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

func newTape(proc process.Process, r *recording) *tape {
	reader, writer := io.Pipe()
	go func() {
		lines := bufio.NewReader(proc.Stdout())
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
	return &tape{Process: proc, in: &tapedInput{proc.Stdin(), r}, out: reader}
}

func (t *tape) Stdin() io.WriteCloser { return t.in }
func (t *tape) Stdout() io.Reader     { return t.out }

type tapedInput struct {
	io.WriteCloser
	r *recording
}

func (w *tapedInput) Write(line []byte) (int, error) {
	w.r.add("> ", line)
	return w.WriteCloser.Write(line)
}

// Stand-ins for what differs between machines.
const (
	cwdMark  = "{{cwd}}"
	homeMark = "{{home}}"
)

var (
	// places are names of temporary places, also cut off at the end of a piece.
	places = regexp.MustCompile(`/tmp\b[^"\\ ]*`)
	// dropped are fields of no use to the driver that are long, or tell of
	// the machine.
	dropped = []string{"gridRows", "agents", "available_output_styles", "user_output_styles_dir", "output_style", "memory_paths",
		"messaging_socket_path", "plugins", "pid", "slash_commands", "terminal_slash_commands", "tools", "categories", "messageBreakdown",
		"slashCommands", "memoryFiles", "skillFrontmatter", "mcpTools", "subagent_stats", "partial_json"}
)

// scrubber makes a line fit for the repository. nil: the line is left out.
func (b *bench) scrubber() func([]byte) []byte {
	return func(line []byte) []byte {
		var v map[string]any
		if json.Unmarshal(line, &v) != nil {
			return line
		}
		thin(v)
		var out bytes.Buffer
		enc := json.NewEncoder(&out)
		enc.SetEscapeHTML(false)
		if enc.Encode(v) != nil {
			return nil
		}
		text := strings.TrimSpace(out.String())
		text = strings.ReplaceAll(text, b.cwd, cwdMark)
		text = strings.ReplaceAll(text, b.home, homeMark)
		return []byte(places.ReplaceAllString(text, "{{tmp}}"))
	}
}

// thin takes out of a value what is dropped, and all but three of its
// commands and skills.
func thin(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range dropped {
			delete(v, name)
		}
		for _, name := range []string{"commands", "skills"} {
			if list, ok := v[name].([]any); ok && len(list) > 3 {
				v[name] = list[:3]
			}
		}
		for _, inner := range v {
			thin(inner)
		}
	case []any:
		for _, inner := range v {
			thin(inner)
		}
	}
}

// player is a process that plays a tape.
type player struct {
	wrote  chan []byte // what the driver wrote, line by line
	early  [][]byte    // of it, what the tape has not come to
	out    *io.PipeReader
	in     *io.PipeWriter
	done   chan struct{}
	closed chan struct{}
	once   sync.Once
}

// playTape starts a tape. What the driver writes is compared as JSON.
func playTape(t *testing.T, path string, fill func(string) string) *player {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p := &player{wrote: make(chan []byte, 64), done: make(chan struct{}), closed: make(chan struct{})}
	p.out, p.in = io.Pipe()
	go func() {
		defer close(p.done)
		for line := range strings.Lines(fill(string(data))) {
			text := []byte(strings.TrimSpace(line[2:]))
			if line[0] == '<' {
				if _, err := p.in.Write(append(text, '\n')); err != nil {
					return
				}
			} else if err := p.expect(text); err != nil {
				t.Error(err)
				break
			}
		}
		<-p.closed
		_ = p.in.Close()
		for _, line := range p.early {
			t.Errorf("the driver wrote what is not on the tape: %s", line)
		}
	}()
	return p
}

// expect waits for the driver to write a line. Lines that it writes by itself
// may come before or after the ones that the test causes.
func (p *player) expect(want []byte) error {
	for i, line := range p.early {
		if sameJSON(line, want) {
			p.early = slices.Delete(p.early, i, i+1)
			return nil
		}
	}
	late := time.After(patience / 4)
	for {
		select {
		case line := <-p.wrote:
			if sameJSON(line, want) {
				return nil
			}
			p.early = append(p.early, line)
		case <-p.closed:
			return nil
		case <-late:
			return fmt.Errorf("the driver did not write %s", want)
		}
	}
}

func sameJSON(a, b []byte) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	thin(x) // as the tape was
	p, _ := json.Marshal(x)
	q, _ := json.Marshal(y)
	return bytes.Equal(p, q)
}

func (p *player) ID() string            { return "proc_tape" }
func (p *player) Pid() int              { return 0 }
func (p *player) Stdin() io.WriteCloser { return p }
func (p *player) Stdout() io.Reader     { return p.out }
func (p *player) StderrTail() string    { return "" }
func (p *player) Done() <-chan struct{} { return p.done }
func (p *player) Exit() process.Exit    { return process.Exit{} }
func (p *player) Write(b []byte) (int, error) {
	select {
	case p.wrote <- bytes.Clone(b):
		return len(b), nil
	case <-p.closed:
		return 0, errors.New("the process has ended")
	}
}

func (p *player) Close() error {
	p.once.Do(func() {
		close(p.closed)
		_ = p.in.Close()
	})
	return nil
}

func (p *player) Stop(ctx context.Context, _ time.Duration) error {
	_ = p.Close()
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// openTaped opens a session on the real CLI as Open does, and records it.
func (b *bench) openTaped(spec provider.Spec) (provider.Session, error) {
	args, err := arguments(spec)
	if err != nil {
		return nil, err
	}
	env, err := environment(b.host, spec)
	if err != nil {
		return nil, err
	}
	proc, err := b.host.Processes.Start(b.t.Context(), process.Spec{Path: b.host.Executable, Args: args, Dir: spec.Cwd, Env: env, Label: "claude"})
	if err != nil {
		return nil, err
	}
	r := &recording{scrub: b.scrubber()}
	b.t.Cleanup(func() {
		if !b.t.Failed() {
			r.save(b.t, b.tape)
		}
	})
	s := newSession(newTape(proc, r), b.host.Clock, spec, transcripts(b.host))
	return s, s.initialize(b.t.Context())
}

// replay opens a session on a tape.
func (b *bench) replay(spec provider.Spec) (provider.Session, error) {
	fill := strings.NewReplacer(cwdMark, jsonText(b.cwd), homeMark, jsonText(b.home)).Replace
	s := newSession(playTape(b.t, b.tape, fill), realClock{}, spec, func(string) bool { return true })
	return s, s.initialize(b.t.Context())
}

// jsonText is a text as it stands inside a JSON string.
func jsonText(s string) string {
	data, _ := json.Marshal(s)
	return string(data[1 : len(data)-1])
}

// play runs a story twice: on its tape, and with the real CLI where that is
// there. What is on disk and what the model got is only true of the latter.
func play(t *testing.T, story func(*bench), env ...string) {
	tape := filepath.Join("testdata", t.Name()+".jsonl")
	if !*record {
		t.Run("replayed", func(t *testing.T) {
			story(&bench{t: t, tape: tape, cwd: t.TempDir(), home: t.TempDir()})
		})
	}
	t.Run("real", func(t *testing.T) {
		b := newBench(t, env...)
		b.tape = tape
		story(b)
	})
}
