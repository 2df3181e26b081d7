package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	sdk "github.com/coder/acp-go-sdk"

	"berth/backend/event"
	"berth/backend/process"
	"berth/backend/provider"
	"berth/backend/provider/wire"
)

// The bounds of the protocol's terminals.
const (
	maxTerminals = 32 // alive or unreleased, of one conversation
	// terminalBytes is what is kept of a terminal's output, from its end,
	// unless the agent asks for less.
	terminalBytes = 1 << 20
)

// terminals are the commands the agent runs through the protocol.
type terminals struct {
	s *session

	mu   sync.Mutex
	made int
	byID map[string]*terminal
}

// terminal is one command. Standard output and error are one stream.
type terminal struct {
	s     *session
	id    string
	proc  process.Process
	limit int
	done  chan struct{} // ended, and its output read

	mu       sync.Mutex
	kept     []byte // the end of the output, whole characters
	part     []byte // of a character that is not whole yet
	total    int64
	tool     string // the call that shows it
	showing  showing
	released bool
}

// showing is how far the call that shows a terminal has come.
type showing int

const (
	unshown   showing = iota
	announced         // its item is not out yet
	streaming
	over // the call has ended: nothing more streams
)

// output is what a terminal has shown.
type output struct {
	text  string
	total int64
	exit  *int
}

func newTerminals(s *session) *terminals { return &terminals{s: s, byID: map[string]*terminal{}} }

// createTerminal takes terminal/create.
func (s *session) createTerminal(m wire.Message) {
	var in struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
		Env     []struct {
			Name  string `json:"name"`
			Value string `json:"value"`
		} `json:"env"`
		Cwd   string `json:"cwd"`
		Limit *int   `json:"outputByteLimit"`
	}
	if json.Unmarshal(m.Params, &in) != nil || strings.TrimSpace(in.Command) == "" {
		s.refuse(m.ID, wire.CodeInvalidParams, "terminal/create needs a command")
		return
	}
	t := s.accept()
	spec := process.Spec{Dir: s.spec.Cwd, Execution: s.spec.Execution, Label: "terminal", Chat: s.spec.Chat}
	if in.Cwd != "" {
		if _, err := s.files.local(in.Cwd); err != nil {
			s.refuse(m.ID, wire.CodeInvalidParams, "cwd: "+err.Error())
			return
		}
		spec.Dir = in.Cwd
	}
	for _, e := range in.Env {
		if !envName.MatchString(e.Name) || strings.ContainsRune(e.Value, 0) {
			s.refuse(m.ID, wire.CodeInvalidParams, "env: "+firstBytes(e.Name, 80)+" is not a variable")
			return
		}
		spec.Env = append(spec.Env, e.Name+"="+e.Value)
	}
	limit := terminalBytes
	if in.Limit != nil && *in.Limit >= 0 {
		limit = min(limit, *in.Limit)
	}
	line := strings.Join(append([]string{in.Command}, in.Args...), " ")
	spec.Path, spec.Args = shell(s.host.Processes, in.Command, in.Args)
	create := func() { s.terms.create(m.ID, spec, limit) }
	switch s.mayRun(t, line) {
	case refused:
		s.refuse(m.ID, wire.CodeInvalidRequest, "only planning is permitted: nothing is run")
	case granted:
		s.atWork(m.ID, create)
	case asks:
		s.askOwn(m.ID, event.Request{Title: line, Command: line, Cwd: spec.Dir, ToolKind: event.ToolExecute}, func(kind event.OptionKind) {
			if kind == event.AllowSession {
				s.mu.Lock()
				s.granted.terminal = true
				s.mu.Unlock()
			}
			create()
		})
	}
}

// create starts the command and replies.
func (ts *terminals) create(id json.RawMessage, spec process.Spec, limit int) {
	term, err := ts.start(spec, limit)
	if err != nil {
		_ = ts.s.rpc.Refuse(ts.s.ctx, id, wire.CodeInternal, err.Error())
		return
	}
	_ = ts.s.rpc.Reply(ts.s.ctx, id, sdk.CreateTerminalResponse{TerminalId: term.id})
}

func (ts *terminals) start(spec process.Spec, limit int) (*terminal, error) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for id, t := range ts.byID {
		if len(ts.byID) >= maxTerminals && t.isReleased() {
			delete(ts.byID, id)
		}
	}
	if len(ts.byID) >= maxTerminals {
		return nil, fmt.Errorf("more than %d terminals", maxTerminals)
	}
	if err := ts.s.ctx.Err(); err != nil {
		return nil, err
	}
	proc, err := ts.s.host.Processes.Start(ts.s.ctx, spec)
	if err != nil {
		return nil, err
	}
	_ = proc.Stdin().Close()
	ts.made++
	t := &terminal{s: ts.s, id: fmt.Sprintf("term-%d", ts.made), proc: proc, limit: limit, done: make(chan struct{})}
	ts.byID[t.id] = t
	ts.s.work.Add(1)
	go t.read()
	return t, nil
}

// read takes the output until it ends; the supervisor ends it with the
// command, whoever else still holds it.
func (t *terminal) read() {
	defer t.s.work.Done()
	defer close(t.done)
	buf := make([]byte, 32<<10)
	for {
		n, err := t.proc.Stdout().Read(buf)
		t.append(buf[:n])
		if err != nil {
			break
		}
	}
	<-t.proc.Done()
}

// append keeps the end of the output and streams it to the call that shows
// it.
func (t *terminal) append(data []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.total += int64(len(data))
	data = append(t.part, data...)
	cut := len(data)
	for i := 1; i < utf8.UTFMax && i <= len(data); i++ {
		if b := data[len(data)-i]; utf8.RuneStart(b) {
			if !utf8.FullRune(data[len(data)-i:]) {
				cut = len(data) - i
			}
			break
		}
	}
	t.part = append([]byte(nil), data[cut:]...)
	text := []byte(strings.ToValidUTF8(string(data[:cut]), "\uFFFD"))
	t.kept = append(t.kept, text...)
	t.stream(string(text))
	if over := len(t.kept) - t.limit; over > 0 {
		for over < len(t.kept) && !utf8.RuneStart(t.kept[over]) {
			over++
		}
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
}

// stream sends text to the call that shows the terminal. Called with mu held,
// so that nothing overtakes and nothing follows the end of the call.
func (t *terminal) stream(text string) {
	if t.showing != streaming || text == "" {
		return
	}
	t.s.dog.Alive()
	t.s.emit(provider.Event{Text: &provider.Text{Key: t.tool, Kind: event.ToolCall, Text: text}})
}

// show lets a call show a terminal from now on.
func (ts *terminals) show(id, tool string) {
	if t := ts.get(id); t != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.showing == unshown {
			t.tool, t.showing = tool, announced
		}
	}
}

// publish streams what a terminal had shown before its call did, once the
// call's item exists.
func (ts *terminals) publish(id string) {
	t := ts.get(id)
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.showing == announced {
		t.showing = streaming
		t.stream(string(t.kept))
	}
}

// final is the output when the call ends; nothing streams after it.
func (ts *terminals) final(id string) output {
	t := ts.get(id)
	if t == nil {
		return output{}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.showing = over
	out := output{text: string(t.kept), total: t.total}
	select {
	case <-t.done:
		if code := t.proc.Exit().Code; code >= 0 {
			out.exit = &code
		}
	default:
	}
	return out
}

func (t *terminal) isReleased() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.released
}

func (ts *terminals) get(id string) *terminal {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return ts.byID[id]
}

// request takes the methods about a terminal that exists.
func (ts *terminals) request(m wire.Message) {
	var in struct {
		Terminal string `json:"terminalId"`
	}
	_ = json.Unmarshal(m.Params, &in)
	t := ts.get(in.Terminal)
	if t == nil || t.isReleased() {
		ts.s.refuse(m.ID, codeNotFound, "there is no such terminal")
		return
	}
	reply := func(v any) { _ = ts.s.rpc.Reply(ts.s.ctx, m.ID, v) }
	work := map[string]func(){
		sdk.ClientMethodTerminalOutput: func() { reply(t.output()) },
		sdk.ClientMethodTerminalWaitForExit: func() {
			select {
			case <-t.done:
				status := t.status()
				reply(sdk.WaitForTerminalExitResponse{ExitCode: status.ExitCode, Signal: status.Signal})
			case <-ts.s.ctx.Done():
			}
		},
		sdk.ClientMethodTerminalKill: func() {
			stopProcess(t.proc)
			reply(sdk.KillTerminalResponse{})
		},
		sdk.ClientMethodTerminalRelease: func() {
			t.mu.Lock()
			t.released = true
			t.mu.Unlock()
			stopProcess(t.proc)
			reply(sdk.ReleaseTerminalResponse{})
		},
	}
	ts.s.atWork(m.ID, work[m.Method])
}

func (t *terminal) output() sdk.TerminalOutputResponse {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := sdk.TerminalOutputResponse{Output: string(t.kept), Truncated: t.total > int64(len(t.kept)+len(t.part))}
	select {
	case <-t.done:
		out.ExitStatus = t.status()
	default:
	}
	return out
}

// status is valid after done.
func (t *terminal) status() *sdk.TerminalExitStatus {
	exit := t.proc.Exit()
	if exit.Signal != "" {
		return &sdk.TerminalExitStatus{Signal: &exit.Signal}
	}
	return &sdk.TerminalExitStatus{ExitCode: &exit.Code}
}

func (ts *terminals) live() []*terminal {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	var list []*terminal
	for _, t := range ts.byID {
		select {
		case <-t.done:
		default:
			list = append(list, t)
		}
	}
	return list
}

func (ts *terminals) processes() []string {
	var ids []string
	for _, t := range ts.live() {
		ids = append(ids, t.proc.ID())
	}
	return ids
}

// stop ends all commands; the error says what is not proven gone.
func (ts *terminals) stop(ctx context.Context) error {
	live := ts.live()
	results := make(chan error, len(live))
	for _, t := range live {
		go func() { results <- t.proc.Stop(ctx, signalGrace) }()
	}
	var first error
	for range live {
		if err := <-results; err != nil && first == nil {
			first = fmt.Errorf("a command of the agent: %w", err)
		}
	}
	return first
}

// close ends all commands after the agent has ended.
func (ts *terminals) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 3*signalGrace)
	defer cancel()
	_ = ts.stop(ctx)
}
