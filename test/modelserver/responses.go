package modelserver

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// responses speaks OpenAI Responses
// (platform.openai.com/docs/api-reference/responses-streaming).
type responses struct{}

func (responses) name() string { return "responses" }

type responsesRequest struct {
	Model        string          `json:"model"`
	Stream       bool            `json:"stream"`
	Instructions string          `json:"instructions"`
	Input        json.RawMessage `json:"input"` // a string or items
	Tools        []responsesTool `json:"tools"`
	Text         struct {
		Format struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"format"`
	} `json:"text"`
}

type responsesTool struct {
	Type  string          `json:"type"`
	Name  string          `json:"name"`
	Tools []responsesTool `json:"tools"` // of a namespace
}

type responsesItem struct {
	Type    string          `json:"type"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	CallID  string          `json:"call_id"`
	Output  json.RawMessage `json:"output"`
	Tools   []responsesTool `json:"tools"` // of additional_tools
}

func (responses) parse(body []byte, _ *http.Request) (*ask, error) {
	var in responsesRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, fmt.Errorf("read a Responses request: %w", err)
	}
	a := &ask{model: in.Model, stream: in.Stream, system: in.Instructions, schema: in.Text.Format.Schema, size: len(body)}
	a.addTools("", in.Tools)
	var text string
	if json.Unmarshal(in.Input, &text) == nil {
		a.messages = []message{{role: "user", texts: []string{text}}}
		return a, nil
	}
	var items []responsesItem
	if err := json.Unmarshal(in.Input, &items); err != nil {
		return nil, fmt.Errorf("read the input items: %w", err)
	}
	for _, item := range items {
		a.addItem(item)
	}
	a.side = sideOf(a)
	return a, nil
}

// addTools appends tools, those of a namespace under their own names.
func (a *ask) addTools(namespace string, tools []responsesTool) {
	for _, t := range tools {
		switch {
		case t.Type == "namespace":
			a.addTools(t.Name, t.Tools)
		case t.Name == "": // one that the provider itself runs
			a.tools = append(a.tools, tool{name: t.Type})
		default:
			a.tools = append(a.tools, tool{name: t.Name, custom: t.Type == "custom", namespace: namespace})
		}
	}
}

// addItem appends one input item. Parts of the types input_text, output_text
// and text all carry their text in the same field.
func (a *ask) addItem(item responsesItem) {
	switch item.Type {
	case "agent_message":
		if task := agentTask(item.Content); task != "" {
			a.messages = append(a.messages, message{role: "user", texts: []string{task}})
		}
	case "message", "":
		if item.Role == "developer" || item.Role == "system" {
			a.system += "\n" + blockText(item.Content)
			return
		}
		m := message{role: item.Role}
		blocks, err := anthropicBlocks(item.Content)
		if err != nil {
			return
		}
		for _, b := range blocks {
			if b.Type == "input_image" {
				a.images++
				continue
			}
			m.texts = append(m.texts, b.Text)
		}
		a.messages = append(a.messages, m)
	case "additional_tools": // how Codex offers tools to its newer models
		a.addTools("", item.Tools)
	case "function_call", "custom_tool_call", "local_shell_call":
		a.messages = append(a.messages, message{role: "assistant", calls: 1})
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
		a.messages = append(a.messages, message{role: "user", results: []result{{item.CallID, blockText(item.Output)}}})
	}
}

// agentTask is what Codex gives a sub-agent to do: the part that a real
// provider has encrypted. Messages without one are reports to the parent.
func agentTask(content json.RawMessage) string {
	var parts []struct {
		Encrypted string `json:"encrypted_content"`
	}
	_ = json.Unmarshal(content, &parts) // something else holds no task
	for _, p := range parts {
		if p.Encrypted != "" {
			return p.Encrypted
		}
	}
	return ""
}

func (responses) fail(w http.ResponseWriter, status int, message string) {
	failOpenAI(w, status, message)
}

// failOpenAI writes an error as OpenAI does.
func failOpenAI(w http.ResponseWriter, status int, message string) {
	kind, code := "server_error", "server_error"
	switch {
	case status == http.StatusTooManyRequests:
		kind, code = "rate_limit_error", "rate_limit_exceeded"
	case status == http.StatusUnauthorized:
		kind, code = "invalid_request_error", "invalid_api_key"
	case status < 500:
		kind, code = "invalid_request_error", "invalid_request"
	}
	writeJSON(w, status, object{"error": object{"message": message, "type": kind, "code": code, "param": nil}})
}

func (responses) write(w http.ResponseWriter, r *http.Request, a *ask, reply *reply, id func(string) string) error {
	response := object{
		"id": id("resp_"), "object": "response", "created_at": 0, "model": a.model,
		"status": "in_progress", "output": []any{},
	}
	finished := func(output []any) object {
		in, out := a.size/4, reply.length()/4+1
		done := object{
			"id": response["id"], "object": "response", "created_at": 0, "model": a.model, "status": "completed", "output": output,
			"usage": object{
				"input_tokens": in, "input_tokens_details": object{"cached_tokens": 0},
				"output_tokens": out, "output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": in + out,
			},
		}
		return done
	}
	if !a.stream {
		var output []any
		for _, b := range reply.blocks {
			output = append(output, responsesOutput(id("item_"), b, reply.refused))
		}
		return writeWhole(w, r, reply, finished(output))
	}
	s := &responsesStream{sse: openSSE(w, r, reply)}
	if err := s.event("response.created", object{"response": response}); err != nil {
		return err
	}
	if err := s.begin(); err != nil {
		return err
	}
	var output []any
	for i, b := range reply.blocks {
		item := responsesOutput(id("item_"), b, reply.refused)
		output = append(output, item)
		if err := s.item(i, item, b, reply.refused); err != nil {
			return err
		}
	}
	return s.event("response.completed", object{"response": finished(output)})
}

// responsesOutput is a finished output item.
func responsesOutput(id string, b block, refused bool) object {
	switch b.kind {
	case thoughtBlock:
		return object{
			"type": "reasoning", "id": id, "encrypted_content": thoughtSignature,
			"summary": []any{object{"type": "summary_text", "text": b.text}},
		}
	case callBlock:
		item := object{"type": "function_call", "id": id, "status": "completed", "call_id": b.call.id, "name": b.call.name}
		if b.call.namespace != "" {
			item["namespace"] = b.call.namespace
		}
		if b.call.custom {
			item["type"], item["input"] = "custom_tool_call", b.call.input
		} else {
			item["arguments"] = b.call.input
		}
		return item
	}
	part := object{"type": "output_text", "text": b.text, "annotations": []any{}}
	if refused {
		part = object{"type": "refusal", "refusal": b.text}
	}
	return object{"type": "message", "id": id, "role": "assistant", "status": "completed", "content": []any{part}}
}

// responsesStream numbers its events.
type responsesStream struct {
	*sse
	sequence int
}

func (s *responsesStream) event(kind string, fields object) error {
	fields["type"], fields["sequence_number"] = kind, s.sequence
	s.sequence++
	return s.send(kind, fields)
}

// item streams one output item: added, its deltas, done.
func (s *responsesStream) item(index int, item object, b block, refused bool) error {
	id := item["id"]
	begun := object{}
	for k, v := range item {
		begun[k] = v
	}
	at := func(extra object) object {
		extra["item_id"], extra["output_index"] = id, index
		return extra
	}
	var before, deltas, after func() error
	switch {
	case b.kind == thoughtBlock:
		begun["summary"] = []any{}
		part := func(text string) object { return object{"type": "summary_text", "text": text} }
		before = func() error {
			return s.event("response.reasoning_summary_part.added", at(object{"summary_index": 0, "part": part("")}))
		}
		deltas = s.deltas("response.reasoning_summary_text", "text", b.text, func() object { return at(object{"summary_index": 0}) })
		after = func() error {
			return s.event("response.reasoning_summary_part.done", at(object{"summary_index": 0, "part": part(b.text)}))
		}
	case b.kind == callBlock && b.call.custom:
		begun["input"], begun["status"] = "", "in_progress"
		deltas = s.deltas("response.custom_tool_call_input", "input", b.call.input, func() object { return at(object{}) })
	case b.kind == callBlock:
		begun["arguments"], begun["status"] = "", "in_progress"
		deltas = s.deltas("response.function_call_arguments", "arguments", b.call.input, func() object { return at(object{}) })
	default:
		begun["content"], begun["status"] = []any{}, "in_progress"
		kind, field, empty := "response.output_text", "text", object{"type": "output_text", "text": "", "annotations": []any{}}
		if refused {
			kind, field, empty = "response.refusal", "refusal", object{"type": "refusal", "refusal": ""}
		}
		before = func() error {
			return s.event("response.content_part.added", at(object{"content_index": 0, "part": empty}))
		}
		deltas = s.deltas(kind, field, b.text, func() object { return at(object{"content_index": 0}) })
		after = func() error {
			return s.event("response.content_part.done", at(object{"content_index": 0, "part": item["content"].([]any)[0]}))
		}
	}
	steps := []func() error{
		func() error {
			return s.event("response.output_item.added", object{"output_index": index, "item": begun})
		},
		before, deltas, after,
		func() error { return s.event("response.output_item.done", object{"output_index": index, "item": item}) },
	}
	for _, step := range steps {
		if step == nil {
			continue
		}
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// deltas streams a text as kind.delta events, then kind.done with the whole
// in field.
func (s *responsesStream) deltas(kind, field, text string, base func() object) func() error {
	return func() error {
		err := s.text(text, func(piece string) error {
			fields := base()
			fields["delta"] = piece
			return s.event(kind+".delta", fields)
		})
		if err != nil {
			return err
		}
		fields := base()
		fields[field] = text
		return s.event(kind+".done", fields)
	}
}
