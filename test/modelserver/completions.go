package modelserver

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// completions speaks OpenAI Chat Completions
// (platform.openai.com/docs/api-reference/chat-streaming), with thoughts in
// reasoning_content as compatible servers send them.
type completions struct{}

func (completions) name() string { return "completions" }

type completionsRequest struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Messages []struct {
		Role       string            `json:"role"`
		Content    json.RawMessage   `json:"content"` // a string, parts, or null
		ToolCalls  []json.RawMessage `json:"tool_calls"`
		ToolCallID string            `json:"tool_call_id"`
	} `json:"messages"`
	Tools []struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	} `json:"tools"`
	ResponseFormat struct {
		JSONSchema struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
}

func (completions) parse(body []byte, _ *http.Request) (*ask, error) {
	var in completionsRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, fmt.Errorf("read a Chat Completions request: %w", err)
	}
	a := &ask{model: in.Model, stream: in.Stream, schema: in.ResponseFormat.JSONSchema.Schema, size: len(body)}
	for _, t := range in.Tools {
		a.tools = append(a.tools, tool{name: t.Function.Name})
	}
	for _, m := range in.Messages {
		switch m.Role {
		case "system", "developer":
			a.system += blockText(m.Content) + "\n"
		case "tool":
			a.messages = append(a.messages, message{role: "user", results: []result{{m.ToolCallID, blockText(m.Content)}}})
		case "assistant":
			a.messages = append(a.messages, message{role: "assistant", calls: len(m.ToolCalls)})
		default:
			blocks, err := anthropicBlocks(m.Content)
			if err != nil {
				return nil, err
			}
			message := message{role: "user"}
			for _, b := range blocks {
				if b.Type == "image_url" {
					a.images++
					continue
				}
				message.texts = append(message.texts, b.Text)
			}
			a.messages = append(a.messages, message)
		}
	}
	a.side = sideOf(a)
	return a, nil
}

func (completions) fail(w http.ResponseWriter, status int, message string) {
	failOpenAI(w, status, message)
}

func (completions) write(w http.ResponseWriter, r *http.Request, a *ask, reply *reply, id func(string) string) error {
	reason := "stop"
	switch {
	case reply.refused:
		reason = "content_filter"
	case reply.calls():
		reason = "tool_calls"
	}
	in, out := a.size/4, reply.length()/4+1
	usage := object{"prompt_tokens": in, "completion_tokens": out, "total_tokens": in + out}
	completion := id("chatcmpl-")
	if !a.stream {
		return writeWhole(w, r, reply, object{
			"id": completion, "object": "chat.completion", "created": 0, "model": a.model, "usage": usage,
			"choices": []any{object{"index": 0, "finish_reason": reason, "message": completionsMessage(reply)}},
		})
	}
	s := openSSE(w, r, reply)
	chunk := func(delta object, finish any) error {
		return s.send("", object{
			"id": completion, "object": "chat.completion.chunk", "created": 0, "model": a.model,
			"choices": []any{object{"index": 0, "delta": delta, "finish_reason": finish}},
		})
	}
	if err := chunk(object{"role": "assistant", "content": ""}, nil); err != nil {
		return err
	}
	if err := s.begin(); err != nil {
		return err
	}
	if err := completionsBlocks(s, reply, chunk); err != nil {
		return err
	}
	if err := chunk(object{}, reason); err != nil {
		return err
	}
	if err := s.send("", object{
		"id": completion, "object": "chat.completion.chunk", "created": 0, "model": a.model, "choices": []any{}, "usage": usage,
	}); err != nil {
		return err
	}
	return s.sendRaw("", []byte("[DONE]"))
}

// completionsBlocks streams the parts of a reply as deltas.
func completionsBlocks(s *sse, reply *reply, chunk func(object, any) error) error {
	calls := 0
	for _, b := range reply.blocks {
		text, wrap := b.text, func(piece string) object { return object{"content": piece} }
		switch {
		case b.kind == thoughtBlock:
			wrap = func(piece string) object { return object{"reasoning_content": piece} }
		case b.kind == callBlock:
			index := calls
			calls++
			if err := chunk(object{"tool_calls": []any{object{
				"index": index, "id": b.call.id, "type": "function", "function": object{"name": b.call.name, "arguments": ""},
			}}}, nil); err != nil {
				return err
			}
			text, wrap = b.call.input, func(piece string) object {
				return object{"tool_calls": []any{object{"index": index, "function": object{"arguments": piece}}}}
			}
		case reply.refused:
			wrap = func(piece string) object { return object{"refusal": piece} }
		}
		if err := s.text(text, func(piece string) error { return chunk(wrap(piece), nil) }); err != nil {
			return err
		}
	}
	return nil
}

// completionsMessage is a reply as one message.
func completionsMessage(reply *reply) object {
	m := object{"role": "assistant", "content": nil}
	var calls []any
	for _, b := range reply.blocks {
		switch {
		case b.kind == thoughtBlock:
			m["reasoning_content"] = b.text
		case b.kind == callBlock:
			calls = append(calls, object{"id": b.call.id, "type": "function", "function": object{"name": b.call.name, "arguments": b.call.input}})
		case reply.refused:
			m["refusal"] = b.text
		default:
			m["content"] = b.text
		}
	}
	if calls != nil {
		m["tool_calls"] = calls
	}
	return m
}
