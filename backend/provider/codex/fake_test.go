package codex

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"berth/backend/event"
	"berth/backend/provider"
)

// The test's own executable is a Codex that misbehaves on request, for what
// the real one cannot be brought to do. It says nothing of how Codex behaves:
// that is the fixtures' and the real CLI's part.
func TestMain(m *testing.M) {
	if name := os.Getenv(fakeEnv); name != "" {
		os.Exit(fakeCodex(name, os.Args[1:]))
	}
	goleak.VerifyTestMain(m)
}

// fakeEnv names the way in which the whole program misbehaves.
const fakeEnv = "FAKE_CODEX"

func fakeCodex(name string, args []string) int {
	if name == "mcp" {
		return toyServer()
	}
	if args[0] != "app-server" {
		return fakeCommand(name, strings.Join(args, " "))
	}
	switch name {
	case "dies":
		fmt.Fprintln(os.Stderr, "\x1b[31mError\x1b[0m: the configuration is broken")
		return 1
	case "garbage":
		for range 2 * maxGarbage {
			fmt.Println("this is not a protocol")
		}
		select {}
	case "mute":
		select {}
	}
	f := &fake{name: name, turns: map[string]string{}}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var m fakeMessage
		if json.Unmarshal(in.Bytes(), &m) == nil {
			f.take(m)
		}
	}
	return 0
}

type fakeMessage struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params struct {
		Thread   string `json:"threadId"`
		Turn     string `json:"turnId"`
		Client   string `json:"clientUserMessageId"`
		Approval string `json:"approvalPolicy"`
		Sandbox  string `json:"sandbox"`
		Input    []struct {
			Text string `json:"text"`
		} `json:"input"`
	} `json:"params"`
	Result json.RawMessage `json:"result,omitempty"`
}

// fake is an app-server whose turns do what their text says.
type fake struct {
	name    string
	threads int
	made    int
	turns   map[string]string // what each running turn was told, by thread
	hidden  string            // client id of a message that was not confirmed
	asking  string            // thread of the turn that waits for an answer
}

func (f *fake) write(v any) {
	data, _ := json.Marshal(v)
	fmt.Println(string(data))
}

func (f *fake) reply(m fakeMessage, result any) {
	f.write(map[string]any{"id": m.ID, "result": result})
}

func (f *fake) tell(method string, params map[string]any) {
	f.write(map[string]any{"method": method, "params": params})
}

func (f *fake) take(m fakeMessage) {
	switch m.Method {
	case "": // an answer to the fake's own request
		if f.asking != "" {
			f.say(f.asking, "answered "+string(m.Result))
			f.end(f.asking, "completed")
			f.asking = ""
		}
	case "initialized":
	case "thread/start", "thread/resume":
		f.thread(m)
	case "turn/start":
		f.start(m)
	case "turn/interrupt":
		f.interrupt(m)
	case "thread/turns/list":
		f.list(m)
	case "thread/unsubscribe", "thread/backgroundTerminals/clean":
		if f.name != "clings" {
			f.reply(m, map[string]any{})
		}
	default:
		f.reply(m, map[string]any{})
	}
}

func (f *fake) thread(m fakeMessage) {
	id := m.Params.Thread
	if id == "" {
		f.threads++
		id = fmt.Sprintf("thread-%d", f.threads)
	}
	policy := map[string]string{"workspace-write": "workspaceWrite", "read-only": "readOnly", "danger-full-access": "dangerFullAccess"}[m.Params.Sandbox]
	approval := m.Params.Approval
	if f.name == "administered" {
		policy, approval = "dangerFullAccess", "never"
	}
	f.reply(m, map[string]any{
		"thread": map[string]any{"id": id, "status": map[string]any{"type": "idle"}}, "approvalPolicy": approval,
		"approvalsReviewer": "user", "sandbox": map[string]any{"type": policy},
	})
}

func (f *fake) start(m fakeMessage) {
	text := m.Params.Input[0].Text
	thread := m.Params.Thread
	switch text {
	case "reject":
		f.write(map[string]any{"id": m.ID, "error": map[string]any{"code": -32600, "message": "not today"}})
		return
	case "lose":
		return
	case "hide":
		f.hidden = m.Params.Client
		return
	case "die":
		fmt.Fprintln(os.Stderr, "thread 'main' panicked")
		os.Exit(3)
	}
	f.made++
	id := fmt.Sprintf("turn-%d", f.made)
	f.turns[thread] = text
	started := map[string]any{"threadId": thread, "turn": map[string]any{"id": id}}
	if text == "early" {
		f.tell("turn/started", started)
	}
	f.reply(m, map[string]any{"turn": map[string]any{"id": id}})
	if text != "early" {
		f.tell("turn/started", started)
	}
	f.play(thread, text)
}

func (f *fake) play(thread, text string) {
	turn := fmt.Sprintf("turn-%d", f.made)
	ask := func(id int, method string, more map[string]any) {
		params := map[string]any{"threadId": thread, "turnId": turn, "itemId": "i"}
		for k, v := range more {
			params[k] = v
		}
		f.write(map[string]any{"id": id, "method": method, "params": params})
	}
	switch text {
	case "hang", "stall", "die later":
		f.say(thread, "begun")
		if text == "die later" {
			os.Exit(3)
		}
		return
	case "ask":
		f.asking = thread
		ask(41, methodCommand, map[string]any{"command": "/bin/sh -lc 'make all'", "availableDecisions": []string{"accept", "acceptForSession", "decline", "cancel"}})
		return
	case "ask and withdraw":
		ask(42, methodFiles, nil)
		f.tell("serverRequest/resolved", map[string]any{"threadId": thread, "requestId": 42})
	case "ask for a stranger":
		f.asking = thread
		f.write(map[string]any{"id": 43, "method": methodCommand, "params": map[string]any{"threadId": "stranger", "command": "rm -rf /"}})
		return
	case "close":
		f.end(thread, "completed")
		f.tell("thread/closed", map[string]any{"threadId": thread})
		return
	case "say nothing":
		f.end(thread, "completed")
		return
	case "go on alone":
		f.say(thread, "done")
		f.end(thread, "completed")
		f.made++
		f.turns[thread] = "alone"
		f.tell("turn/started", map[string]any{"threadId": thread, "turn": map[string]any{"id": fmt.Sprintf("turn-%d", f.made)}})
		return
	}
	f.say(thread, "heard "+text)
	f.end(thread, "completed")
}

func (f *fake) say(thread, text string) {
	turn := fmt.Sprintf("turn-%d", f.made)
	f.tell("item/completed", map[string]any{"threadId": thread, "turnId": turn,
		"item": map[string]any{"type": "agentMessage", "id": fmt.Sprintf("m-%d", f.made), "text": text, "phase": "final_answer"}})
}

func (f *fake) end(thread, status string) {
	delete(f.turns, thread)
	f.tell("turn/completed", map[string]any{"threadId": thread, "turn": map[string]any{"id": fmt.Sprintf("turn-%d", f.made), "status": status}})
}

func (f *fake) interrupt(m fakeMessage) {
	text := f.turns[m.Params.Thread]
	if text == "stall" { // it takes the interrupt, and goes on
		f.reply(m, map[string]any{})
		return
	}
	f.reply(m, map[string]any{})
	if text != "" {
		f.end(m.Params.Thread, "interrupted")
	}
}

// list shows a message that was hidden as a turn that has ended.
func (f *fake) list(m fakeMessage) {
	var turns []any
	if f.hidden != "" {
		turns = append(turns, map[string]any{"id": "turn-hidden", "status": "completed", "items": []any{
			map[string]any{"type": "userMessage", "id": "u", "clientId": f.hidden},
			map[string]any{"type": "agentMessage", "id": "a", "text": "unheard answer", "phase": "final_answer"},
		}})
	}
	f.reply(m, map[string]any{"data": turns})
}

// fakeCommand is what the other commands of a fake print.
func fakeCommand(name, command string) int {
	if name == "slow" {
		time.Sleep(time.Minute)
	}
	out := map[string]string{
		"--version":              "codex-cli 0.171.0",
		"login status":           "Logged in using ChatGPT",
		"debug models":           `{"models":[{"slug":"b","display_name":"B","visibility":"list","priority":2},{"slug":"a","display_name":"A","visibility":"list","priority":1,"default_reasoning_level":"low","supported_reasoning_levels":[{"effort":"low"},{"effort":"high"}]},{"slug":"h","visibility":"hide"}]}`,
		"debug models --bundled": `{"models":[{"slug":"bundled","visibility":"list"}]}`,
	}[command]
	if name == "offline" && command == "debug models" {
		return 1
	}
	fmt.Println(out)
	return 0
}

// toyServer is an MCP server with two tools: one that must be allowed, and one
// that asks the user.
func toyServer() int {
	in := bufio.NewScanner(os.Stdin)
	write := func(v any) {
		data, _ := json.Marshal(v)
		fmt.Println(string(data))
	}
	tool := func(name string, readOnly bool) any {
		return map[string]any{"name": name, "inputSchema": map[string]any{"type": "object"}, "annotations": map[string]any{"readOnlyHint": readOnly, "destructiveHint": !readOnly}}
	}
	for in.Scan() {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Version string `json:"protocolVersion"`
				Name    string `json:"name"`
			} `json:"params"`
		}
		if json.Unmarshal(in.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		var result any = map[string]any{}
		switch m.Method + " " + m.Params.Name {
		case "initialize ":
			result = map[string]any{"protocolVersion": m.Params.Version, "capabilities": map[string]any{"tools": map[string]any{}}, "serverInfo": map[string]any{"name": "toy", "version": "1"}}
		case "tools/list ":
			result = map[string]any{"tools": []any{tool("drop", false), tool("ask", true)}}
		case "tools/call drop":
			result = map[string]any{"content": []any{map[string]any{"type": "text", "text": "dropped"}}}
		case "tools/call ask":
			write(map[string]any{"jsonrpc": "2.0", "id": "e", "method": "elicitation/create", "params": map[string]any{
				"message": "Which table?", "requestedSchema": map[string]any{"type": "object", "properties": map[string]any{"table": map[string]any{"type": "string"}}},
			}})
			in.Scan()
			result = map[string]any{"content": []any{map[string]any{"type": "text", "text": "heard " + in.Text()}}}
		}
		write(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result})
	}
	return 0
}

// fakeBench is a driver for a fake Codex.
type fakeBench struct {
	t      *testing.T
	driver *Driver
	host   provider.Host
	clock  *skipping
	cwd    string
}

func newFake(t *testing.T, name string) *fakeBench {
	t.Helper()
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b := &fakeBench{t: t, driver: New(), clock: &skipping{}, cwd: t.TempDir()}
	b.host = provider.Host{
		Processes: newSupervisor(t), Executable: self, Env: []string{fakeEnv + "=" + name, "HOME=" + t.TempDir(), "CODEX_HOME="},
		Scratch: t.TempDir(), Version: "test", Clock: b.clock,
	}
	t.Cleanup(func() { closeDriver(t, b.driver) })
	return b
}

func (b *fakeBench) open() *talk {
	b.t.Helper()
	return openTalk(b.t, b.driver, b.host, provider.Spec{Cwd: b.cwd, Mode: provider.Ask})
}

// wantErr checks an error's code and that it is in words.
func wantErr(t *testing.T, err error, code string) *provider.Error {
	t.Helper()
	e, ok := err.(*provider.Error) //nolint:errorlint // drivers return it as it is
	if !ok || e.Code != code || e.Text == "" {
		t.Fatalf("error %v, want code %s", err, code)
	}
	return e
}

// answers are the texts of the final answers.
func (k *talk) answers() string { return k.said(event.Answer) }
