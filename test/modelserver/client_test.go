package modelserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// answer is what a client of any protocol understood.
type answer struct {
	status  int
	header  http.Header
	text    string
	thought string
	refusal string
	calls   []call
	ended   bool // by the protocol's own last event
	usage   bool
	err     error // of the transport
	raw     []byte
}

// dialect builds requests and reads answers of one protocol.
type dialect struct {
	name  string
	path  string
	read  func(*answer, map[string]any) // one event
	build func(d *conversation) object
}

// conversation is what a client sends: a user text, then calls and results.
type conversation struct {
	text    string
	tools   []string
	custom  []string
	calls   []call
	results []string
}

func (c *conversation) add(calls []call, results ...string) {
	c.calls, c.results = append(c.calls, calls...), append(c.results, results...)
}

var dialects = []dialect{
	{name: "anthropic", path: "/v1/messages?beta=true", build: buildAnthropic, read: readAnthropic},
	{name: "responses", path: "/v1/responses", build: buildResponses, read: readResponses},
	{name: "completions", path: "/v1/chat/completions", build: buildCompletions, read: readCompletions},
	{name: "gemini", path: "/v1beta/models/m:streamGenerateContent?alt=sse", build: buildGemini, read: readGemini},
}

func start(t *testing.T) *Server {
	t.Helper()
	s, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		http.DefaultClient.CloseIdleConnections()
	})
	return s
}

// ask sends a conversation and reads the streamed answer.
func (d dialect) ask(t *testing.T, s *Server, c *conversation) *answer {
	t.Helper()
	body, err := json.Marshal(d.build(c))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(s.URL()+d.path, "application/json", bytes.NewReader(body))
	if err != nil {
		return &answer{err: err}
	}
	defer resp.Body.Close()
	a := &answer{status: resp.StatusCode, header: resp.Header}
	a.raw, a.err = io.ReadAll(resp.Body)
	lines := bufio.NewScanner(bytes.NewReader(a.raw))
	lines.Buffer(nil, maxBig)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		if data == "[DONE]" {
			a.ended = true
			continue
		}
		var event map[string]any
		if err := json.Unmarshal([]byte(data), &event); err != nil {
			t.Fatalf("not JSON: %v: %.200s", err, data)
		}
		d.read(a, event)
	}
	return a
}

func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			l, _ := v.([]any)
			if p >= len(l) {
				return nil
			}
			v = l[p]
		}
	}
	return v
}

func str(v any, path ...any) string { s, _ := at(v, path...).(string); return s }

func buildAnthropic(c *conversation) object {
	messages := []any{object{"role": "user", "content": []any{
		object{"type": "text", "text": "<system-reminder>context</system-reminder>"},
		object{"type": "text", "text": c.text},
	}}}
	for i, r := range c.results {
		messages = append(messages,
			object{"role": "assistant", "content": []any{object{"type": "tool_use", "id": c.calls[i].id, "name": c.calls[i].name, "input": json.RawMessage(c.calls[i].input)}}},
			object{"role": "user", "content": []any{object{"type": "tool_result", "tool_use_id": c.calls[i].id, "content": r}}})
	}
	var tools []any
	for _, name := range c.tools {
		tools = append(tools, object{"name": name})
	}
	return object{"model": "m", "stream": true, "max_tokens": 1000, "messages": messages, "tools": tools}
}

func readAnthropic(a *answer, e map[string]any) {
	switch str(e, "type") {
	case "content_block_start":
		if str(e, "content_block", "type") == "tool_use" {
			a.calls = append(a.calls, call{id: str(e, "content_block", "id"), name: str(e, "content_block", "name")})
		}
	case "content_block_delta":
		a.text += str(e, "delta", "text")
		a.thought += str(e, "delta", "thinking")
		if part := str(e, "delta", "partial_json"); part != "" {
			a.calls[len(a.calls)-1].input += part
		}
	case "message_delta":
		a.usage = at(e, "usage", "output_tokens") != nil
		if str(e, "delta", "stop_reason") == "refusal" {
			a.refusal, a.text = a.text, ""
		}
	case "message_stop":
		a.ended = true
	}
}

func buildResponses(c *conversation) object {
	message := func(text string) any {
		return object{"type": "message", "role": "user", "content": []any{object{"type": "input_text", "text": text}}}
	}
	input := []any{message("<environment_context>\n</environment_context>"), message(c.text)}
	for i, r := range c.results {
		kind := "function_call"
		if c.calls[i].custom {
			kind = "custom_tool_call"
		}
		input = append(input, object{"type": kind, "call_id": c.calls[i].id, "name": c.calls[i].name},
			object{"type": kind + "_output", "call_id": c.calls[i].id, "output": r})
	}
	var tools []any
	for _, name := range c.tools {
		tools = append(tools, object{"type": "function", "name": name})
	}
	for _, name := range c.custom {
		tools = append(tools, object{"type": "custom", "name": name})
	}
	return object{"model": "m", "stream": true, "input": input, "tools": tools}
}

func readResponses(a *answer, e map[string]any) {
	switch str(e, "type") {
	case "response.output_text.delta":
		a.text += str(e, "delta")
	case "response.reasoning_summary_text.delta":
		a.thought += str(e, "delta")
	case "response.refusal.delta":
		a.refusal += str(e, "delta")
	case "response.output_item.done":
		item := at(e, "item")
		switch str(item, "type") {
		case "function_call":
			a.calls = append(a.calls, call{id: str(item, "call_id"), name: str(item, "name"), input: str(item, "arguments")})
		case "custom_tool_call":
			a.calls = append(a.calls, call{id: str(item, "call_id"), name: str(item, "name"), input: str(item, "input"), custom: true})
		}
	case "response.completed":
		a.ended, a.usage = true, at(e, "response", "usage", "total_tokens") != nil
	}
}

func buildCompletions(c *conversation) object {
	messages := []any{object{"role": "system", "content": "be good"}, object{"role": "user", "content": c.text}}
	for i, r := range c.results {
		messages = append(messages,
			object{"role": "assistant", "content": nil, "tool_calls": []any{object{"id": c.calls[i].id}}},
			object{"role": "tool", "tool_call_id": c.calls[i].id, "content": r})
	}
	var tools []any
	for _, name := range c.tools {
		tools = append(tools, object{"type": "function", "function": object{"name": name}})
	}
	return object{"model": "m", "stream": true, "messages": messages, "tools": tools}
}

func readCompletions(a *answer, e map[string]any) {
	delta := at(e, "choices", 0, "delta")
	a.text += str(delta, "content")
	a.thought += str(delta, "reasoning_content")
	a.refusal += str(delta, "refusal")
	if part := at(delta, "tool_calls", 0); part != nil {
		if id := str(part, "id"); id != "" {
			a.calls = append(a.calls, call{id: id, name: str(part, "function", "name")})
		}
		index, _ := at(part, "index").(float64)
		a.calls[int(index)].input += str(part, "function", "arguments")
	}
	a.usage = a.usage || at(e, "usage", "total_tokens") != nil
}

func buildGemini(c *conversation) object {
	contents := []any{object{"role": "user", "parts": []any{object{"text": c.text}}}}
	for i, r := range c.results {
		contents = append(contents,
			object{"role": "model", "parts": []any{object{"functionCall": object{"name": c.calls[i].name}}}},
			object{"role": "user", "parts": []any{object{"functionResponse": object{"name": c.calls[i].name, "response": object{"output": r}}}}})
	}
	var declarations []any
	for _, name := range c.tools {
		declarations = append(declarations, object{"name": name})
	}
	return object{"contents": contents, "tools": []any{object{"functionDeclarations": declarations}}}
}

func readGemini(a *answer, e map[string]any) {
	parts, _ := at(e, "candidates", 0, "content", "parts").([]any)
	for _, p := range parts {
		switch {
		case at(p, "functionCall") != nil:
			args, _ := json.Marshal(at(p, "functionCall", "args"))
			a.calls = append(a.calls, call{id: str(p, "functionCall", "id"), name: str(p, "functionCall", "name"), input: string(args)})
		case at(p, "thought") == true:
			a.thought += str(p, "text")
		default:
			a.text += str(p, "text")
		}
	}
	switch str(e, "candidates", 0, "finishReason") {
	case "SAFETY":
		a.refusal, a.text, a.ended = a.text, "", true
	case "STOP":
		a.ended = true
	}
	a.usage = a.usage || at(e, "usageMetadata", "totalTokenCount") != nil
}
