package codex

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"berth/backend/event"
	"berth/backend/provider"
	"berth/backend/provider/wire"
)

// update renews what is expected of the fixtures.
var update = flag.Bool("update", false, "write the expected events to testdata")

// TestReplay projects the real CLI's lines and compares the events with those
// that were looked at when the fixture was made.
func TestReplay(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := tale(replay(t, bytes.Split(bytes.TrimSpace(data), []byte("\n")))) + "\n"
			golden := strings.TrimSuffix(file, ".jsonl") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("events differ at %q; got:%s", firstDifference(got, string(want)), got)
			}
		})
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return w[i]
		}
	}
	return "the end"
}

// replay hands lines of one conversation to a session and gives its events,
// without the raw lines.
func replay(t *testing.T, lines [][]byte) []provider.Event {
	t.Helper()
	s, p := newLoose(t)
	collected := make(chan []provider.Event)
	go func() {
		var events []provider.Event
		for e := range s.Events() {
			if e.Raw == nil && e.Closed == nil {
				events = append(events, e)
			}
		}
		collected <- events
	}()
	for _, line := range lines {
		var m wire.Message
		if json.Unmarshal(line, &m) != nil || m.Method == "" {
			t.Fatalf("not a message: %.200s", line)
		}
		m.Raw = line
		var a address
		if err := json.Unmarshal(m.Params, &a); err != nil {
			t.Fatal(err)
		}
		if s.thread == "" {
			s.thread = firstOf(a.Thread, a.Started.ID)
			s.server.register(s.thread, s)
		}
		if m.Method == "turn/started" && a.Thread == s.thread {
			s.post(func() {
				s.mu.Lock()
				s.pending = &pending{input: "turn_1", model: "gpt-5.5", outcome: make(chan error, 1)}
				s.mu.Unlock()
			})
		}
		p.watch(m)
		s.server.dispatch(m)
	}
	s.end(&provider.Closed{})
	return <-collected
}

// newLoose makes a session without a process: a peer answers its requests.
func newLoose(t *testing.T) (*session, *peer) {
	t.Helper()
	p := newPeer()
	host := provider.Host{Clock: frozen{}, Scratch: t.TempDir()}
	srv := newServer(host, "codex", 7)
	srv.rpc = wire.NewRPC(wire.NewLines(p.fromServer, p.toServer, 0), "")
	go func() {
		defer close(srv.ended)
		_ = srv.rpc.Run(srv.dispatch, srv.stray)
	}()
	s := newSession(New(), srv, host, provider.Spec{Cwd: "/project", Mode: provider.Ask})
	t.Cleanup(func() {
		s.abandonEvents()
		s.end(&provider.Closed{})
		<-s.done
		p.close()
		<-srv.ended
	})
	return s, p
}

// peer is the other end of a session without a process. It takes each request
// with an empty result, unless told otherwise, and keeps all that it read.
type peer struct {
	fromServer *io.PipeReader // what the session reads
	toServer   *io.PipeWriter // where the session writes
	out        *io.PipeWriter
	in         *io.PipeReader
	read       chan wire.Message // answers to the peer's own requests
	done       chan struct{}

	mu      sync.Mutex
	running []map[string]string // commands that the lines began, as the protocol lists them
}

func newPeer() *peer {
	fromServer, out := io.Pipe()
	in, toServer := io.Pipe()
	p := &peer{fromServer: fromServer, toServer: toServer, out: out, in: in, read: make(chan wire.Message, 100), done: make(chan struct{})}
	go func() {
		defer close(p.done)
		scanner := bufio.NewScanner(in)
		for scanner.Scan() {
			var m wire.Message
			if json.Unmarshal(scanner.Bytes(), &m) != nil {
				continue
			}
			if m.Method == "" {
				p.read <- m
				continue
			}
			if m.ID != nil {
				p.write(wire.Message{ID: m.ID, Result: p.result(m.Method)})
			}
		}
	}()
	return p
}

// watch notes the commands that a line begins.
func (p *peer) watch(m wire.Message) {
	var in struct {
		Item item `json:"item"`
	}
	if m.Method == "item/started" && json.Unmarshal(m.Params, &in) == nil && in.Item.Process != "" {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.running = append(p.running, map[string]string{"itemId": in.Item.ID, "processId": in.Item.Process})
	}
}

func (p *peer) result(method string) json.RawMessage {
	if method != "thread/backgroundTerminals/list" {
		return json.RawMessage(`{}`)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return mustJSON(map[string]any{"data": p.running})
}

func (p *peer) write(m wire.Message) {
	line, _ := json.Marshal(m)
	_, _ = p.out.Write(append(line, '\n'))
}

func (p *peer) close() {
	_ = p.out.Close()
	_ = p.toServer.Close()
	_ = p.in.Close()
	<-p.done
}

// seedThread and seedTurn are those of hand-written lines.
const (
	seedThread = "thread-1"
	seedTurn   = "turn-1"
)

// lines are messages of a turn, begun and ended around them.
func turnOf(messages ...string) [][]byte {
	all := [][]byte{[]byte(`{"method":"turn/started","params":{"threadId":"thread-1","turn":{"id":"turn-1"}}}`)}
	for _, m := range messages {
		all = append(all, []byte(m))
	}
	return all
}

func itemLine(method, item string) string {
	return `{"method":"` + method + `","params":{"threadId":"thread-1","turnId":"turn-1","item":` + item + `}}`
}

func lastItem(events []provider.Event, key string) *provider.Item {
	var last *provider.Item
	for _, e := range events {
		if e.Item != nil && e.Item.Key == key {
			last = e.Item
		}
	}
	return last
}

// TestItems: kinds that the real CLI did not show here, as the protocol
// describes them.
func TestItems(t *testing.T) {
	pixel := "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	cases := []struct {
		name, item string
		check      func(*testing.T, *provider.Item)
	}{
		{"MCP tool", `{"type":"mcpToolCall","id":"i","server":"db","tool":"query","status":"completed","arguments":{"q":1},
			"result":{"content":[{"type":"text","text":"two rows"},{"type":"image","mimeType":"image/png","data":"` + pixel + `"}]}}`,
			func(t *testing.T, i *provider.Item) {
				tool := i.Body.Tool
				if tool.Name != "db/query" || tool.Output != "two rows" || string(tool.Input) != `{"q":1}` || len(i.Images) != 1 || len(i.Images[0].Data) == 0 {
					t.Errorf("%+v, %d images", tool, len(i.Images))
				}
			}},
		{"failed MCP tool", `{"type":"mcpToolCall","id":"i","server":"db","tool":"query","status":"failed","error":{"message":"no table"}}`,
			func(t *testing.T, i *provider.Item) {
				if i.Status != event.Failed || i.Body.Tool.Error != "no table" {
					t.Errorf("%s %+v", i.Status, i.Body.Tool)
				}
			}},
		{"client's tool", `{"type":"dynamicToolCall","id":"i","namespace":"n","tool":"t","status":"completed","success":true,
			"contentItems":[{"type":"inputText","text":"said"},{"type":"inputImage","imageUrl":"data:image/png;base64,` + pixel + `"}]}`,
			func(t *testing.T, i *provider.Item) {
				if i.Body.Tool.Name != "n/t" || i.Body.Tool.Output != "said" || len(i.Images) != 1 || i.Images[0].Type != "image/png" {
					t.Errorf("%+v %+v", i.Body.Tool, i.Images)
				}
			}},
		{"web search", `{"type":"webSearch","id":"i","query":"q","action":{"type":"search","queries":["a","b"]}}`,
			func(t *testing.T, i *provider.Item) {
				if i.Body.Tool.Kind != event.ToolSearch || i.Body.Tool.Title != "a, b" {
					t.Errorf("%+v", i.Body.Tool)
				}
			}},
		{"page", `{"type":"webSearch","id":"i","query":"q","action":{"type":"openPage","url":"https://example.com"}}`,
			func(t *testing.T, i *provider.Item) {
				if i.Body.Tool.Kind != event.ToolFetch || i.Body.Tool.Title != "https://example.com" {
					t.Errorf("%+v", i.Body.Tool)
				}
			}},
		{"image shown", `{"type":"imageView","id":"i","path":"/project/a.png"}`, func(t *testing.T, i *provider.Item) {
			if i.Body.Tool.Kind != event.ToolRead || i.Body.Tool.Title != "a.png" || len(i.Images) != 1 || i.Images[0].Path != "/project/a.png" {
				t.Errorf("%+v %+v", i.Body.Tool, i.Images)
			}
		}},
		{"image made", `{"type":"imageGeneration","id":"i","status":"completed","revisedPrompt":"a cat","failure":null,"result":"` + pixel + `"}`,
			func(t *testing.T, i *provider.Item) {
				if i.Body.Tool.Title != "a cat" || i.Body.Tool.Error != "" || len(i.Images) != 1 || len(i.Images[0].Data) == 0 {
					t.Errorf("%+v %+v", i.Body.Tool, i.Images)
				}
			}},
		{"image saved", `{"type":"imageGeneration","id":"i","status":"completed","revisedPrompt":null,"failure":null,"savedPath":"/tmp/c.png"}`,
			func(t *testing.T, i *provider.Item) {
				if len(i.Images) != 1 || i.Images[0].Path != "/tmp/c.png" {
					t.Errorf("%+v", i.Images)
				}
			}},
		{"sleep", `{"type":"sleep","id":"i","durationMs":1500}`, func(t *testing.T, i *provider.Item) {
			if i.Body.Tool.Title != "Waits 1.5 s" {
				t.Errorf("%+v", i.Body.Tool)
			}
		}},
		{"a kind that came later", `{"type":"teleport","id":"i"}`, func(t *testing.T, i *provider.Item) {
			if i.Kind != event.ToolCall || i.Body.Tool.Title != "teleport" || i.Status != event.Completed {
				t.Errorf("%+v %+v", i, i.Body.Tool)
			}
		}},
		{"question in passing", `{"type":"agentMessage","id":"i","text":"Colour?\n- Red","phase":"final_answer","delivery":"async","questions":[{"title":"Colour?"}]}`,
			func(t *testing.T, i *provider.Item) {
				if i.Kind != event.Answer || i.Body.Commentary || i.Body.Text != "Colour?\n- Red" {
					t.Errorf("%+v", i)
				}
			}},
		{"commentary", `{"type":"agentMessage","id":"i","text":"Looking.","phase":"commentary"}`, func(t *testing.T, i *provider.Item) {
			if !i.Body.Commentary {
				t.Errorf("%+v", i)
			}
		}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			events := replay(t, turnOf(itemLine("item/started", strings.ReplaceAll(tc.item, "\n", "")), itemLine("item/completed", strings.ReplaceAll(tc.item, "\n", ""))))
			i := lastItem(events, seedTurn+"/i")
			if i == nil {
				t.Fatalf("no item:%s", tale(events))
			}
			tc.check(t, i)
		})
	}
}

// TestPhases: an answer without a phase is commentary once more work follows.
func TestPhases(t *testing.T) {
	message := func(id string) string { return `{"type":"agentMessage","id":"` + id + `","text":"words","phase":null}` }
	events := replay(t, turnOf(
		itemLine("item/started", message("a")), itemLine("item/completed", message("a")),
		itemLine("item/started", `{"type":"commandExecution","id":"c","command":"ls","status":"inProgress"}`),
		itemLine("item/completed", `{"type":"commandExecution","id":"c","command":"ls","status":"completed","exitCode":0}`),
		itemLine("item/started", message("b")), itemLine("item/completed", message("b")),
	))
	if i := lastItem(events, "turn-1/a"); !i.Body.Commentary {
		t.Error("what was said before the command is shown as the answer")
	}
	if i := lastItem(events, "turn-1/b"); i.Body.Commentary {
		t.Error("the answer is shown as commentary")
	}
}

// TestSameIdAgain: a stream that broke off is tried again, with the same ids.
func TestSameIdAgain(t *testing.T) {
	start := itemLine("item/started", `{"type":"agentMessage","id":"m","text":"","phase":null}`)
	delta := `{"method":"item/agentMessage/delta","params":{"threadId":"thread-1","turnId":"turn-1","itemId":"m","delta":"half"}}`
	retry := `{"method":"error","params":{"threadId":"thread-1","turnId":"turn-1","willRetry":true,"error":{"message":"Reconnecting... 1/5","codexErrorInfo":{"responseStreamDisconnected":{"httpStatusCode":null}}}}}`
	events := replay(t, turnOf(start, delta, retry, start, delta, itemLine("item/completed", `{"type":"agentMessage","id":"m","text":"half and whole","phase":null}`)))
	if i := lastItem(events, "turn-1/m"); i.Status != event.Cancelled {
		t.Errorf("the half that broke off is %s", i.Status)
	}
	if i := lastItem(events, "turn-1/m~1"); i == nil || i.Status != event.Completed || i.Body.Text != "half and whole" {
		t.Errorf("the second try is %+v", i)
	}
	if i := lastItem(events, "turn-1/retry"); i == nil || i.Body.Notice.Code != "connection" {
		t.Errorf("the new try is not told:%s", tale(events))
	}
}

// TestUnreadableEnd: a turn whose end cannot be read has ended all the same.
func TestUnreadableEnd(t *testing.T) {
	events := replay(t, turnOf(`{"method":"turn/completed","params":{"threadId":"thread-1","turn":{"id":"turn-1","status":"failed","error":{"message":["?"]}}}}`))
	if last := events[len(events)-1]; last.TurnEnded == nil || last.TurnEnded.State != "failed" || last.TurnEnded.Err == nil {
		t.Errorf("the turn has no end:%s", tale(events))
	}
}

// FuzzHandle: no line of Codex, however malformed, may end Berth, and what is
// told stays valid.
func FuzzHandle(f *testing.F) {
	files, _ := filepath.Glob(filepath.Join("testdata", "*.jsonl"))
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for line := range bytes.Lines(data) {
			f.Add(line)
		}
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var m wire.Message
		if json.Unmarshal(line, &m) != nil || m.Method == "" {
			return
		}
		m.Raw = line
		s, _ := newLoose(t)
		s.thread = seedThread
		s.server.register(seedThread, s)
		go func() {
			for range s.Events() { //nolint:revive // only that they come matters
			}
		}()
		s.post(func() { s.bind(&pending{outcome: make(chan error, 1)}, seedTurn) })
		s.post(func() { s.handle(seedThread, m) })
		s.server.dispatch(m)
		s.end(&provider.Closed{})
		<-s.done
	})
}
