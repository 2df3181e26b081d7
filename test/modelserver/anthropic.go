package modelserver

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// anthropic speaks Anthropic Messages
// (docs.anthropic.com/en/api/messages and /messages-streaming).
type anthropic struct{}

func (anthropic) name() string { return "anthropic" }

type anthropicRequest struct {
	Model     string          `json:"model"`
	Stream    bool            `json:"stream"`
	MaxTokens int             `json:"max_tokens"`
	System    json.RawMessage `json:"system"` // a string or blocks
	Tools     []struct {
		Name string `json:"name"`
	} `json:"tools"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"` // a string or blocks
	} `json:"messages"`
	OutputConfig struct {
		Format struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"format"`
	} `json:"output_config"`
}

type anthropicBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
}

func (anthropic) parse(body []byte, _ *http.Request) (*ask, error) {
	var in anthropicRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, fmt.Errorf("read a Messages request: %w", err)
	}
	a := &ask{model: in.Model, stream: in.Stream, schema: in.OutputConfig.Format.Schema, size: len(body)}
	a.system = blockText(in.System)
	for _, t := range in.Tools {
		a.tools = append(a.tools, tool{name: t.Name})
	}
	loads := map[string]bool{}
	for _, m := range in.Messages {
		if m.Role != "user" && m.Role != "assistant" {
			a.system += "\n" + blockText(m.Content) // Claude Code tells of the environment between messages
			continue
		}
		message := message{role: m.Role}
		blocks, err := anthropicBlocks(m.Content)
		if err != nil {
			return nil, err
		}
		for _, b := range blocks {
			switch b.Type {
			case "text":
				message.texts = append(message.texts, b.Text)
			case "image":
				a.images++
			case "tool_use":
				if b.Name == loadTool { // no step of the script
					loads[b.ID] = true
				} else {
					message.calls++
				}
			case "tool_result":
				if loads[b.ToolUseID] {
					continue
				}
				message.results = append(message.results, result{b.ToolUseID, blockText(b.Content)})
			}
		}
		a.messages = append(a.messages, message)
	}
	a.side = sideOf(a)
	if a.side == "" && in.MaxTokens == 1 {
		a.side = "probe" // Claude Code asks for one token to see its quota
	}
	return a, nil
}

// anthropicBlocks reads content that is a string or a list of blocks.
func anthropicBlocks(content json.RawMessage) ([]anthropicBlock, error) {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return []anthropicBlock{{Type: "text", Text: text}}, nil
	}
	var blocks []anthropicBlock
	if err := json.Unmarshal(content, &blocks); err != nil {
		return nil, fmt.Errorf("read the content of a message: %w", err)
	}
	return blocks, nil
}

// blockText is all text in a string or a list of blocks, one per line.
func blockText(content json.RawMessage) string {
	if len(content) == 0 {
		return ""
	}
	blocks, err := anthropicBlocks(content)
	if err != nil {
		return string(content)
	}
	text := ""
	for i, b := range blocks {
		if i > 0 {
			text += "\n"
		}
		text += b.Text
	}
	return text
}

func (anthropic) fail(w http.ResponseWriter, status int, message string) {
	kinds := map[int]string{
		400: "invalid_request_error", 401: "authentication_error", 403: "permission_error",
		404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error", 529: "overloaded_error",
	}
	kind, ok := kinds[status]
	if !ok {
		kind = "api_error"
	}
	writeJSON(w, status, object{"type": "error", "error": object{"type": kind, "message": message}})
}

// thoughtSignature stands for the model's proof that it wrote a thought.
const thoughtSignature = "c2NyaXB0ZWQ="

func (anthropic) write(w http.ResponseWriter, r *http.Request, a *ask, reply *reply, id func(string) string) error {
	reason := "end_turn"
	switch {
	case reply.refused:
		reason = "refusal"
	case reply.calls():
		reason = "tool_use"
	}
	usage := object{"input_tokens": a.size / 4, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": reply.length()/4 + 1}
	message := object{
		"id": id("msg_"), "type": "message", "role": "assistant", "model": a.model,
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": usage,
	}
	if !a.stream {
		content := []any{}
		for _, b := range reply.blocks {
			content = append(content, anthropicContent(b))
		}
		message["content"], message["stop_reason"] = content, reason
		return writeWhole(w, r, reply, message)
	}
	s := openSSE(w, r, reply)
	if err := s.send("message_start", object{"type": "message_start", "message": message}); err != nil {
		return err
	}
	if err := s.begin(); err != nil {
		return err
	}
	for i, b := range reply.blocks {
		if err := anthropicStream(s, i, b); err != nil {
			return err
		}
	}
	if err := s.send("message_delta", object{
		"type": "message_delta", "delta": object{"stop_reason": reason, "stop_sequence": nil},
		"usage": object{"output_tokens": reply.length()/4 + 1},
	}); err != nil {
		return err
	}
	return s.send("message_stop", object{"type": "message_stop"})
}

// anthropicContent is a block of a whole message.
func anthropicContent(b block) object {
	switch b.kind {
	case thoughtBlock:
		return object{"type": "thinking", "thinking": b.text, "signature": thoughtSignature}
	case callBlock:
		return object{"type": "tool_use", "id": b.call.id, "name": b.call.name, "input": json.RawMessage(b.call.input)}
	}
	return object{"type": "text", "text": b.text}
}

// anthropicStream streams one block.
func anthropicStream(s *sse, index int, b block) error {
	start := anthropicContent(b)
	text, key, kind := b.text, "text", "text_delta"
	switch b.kind {
	case textBlock:
		start["text"] = ""
	case thoughtBlock:
		start["thinking"], start["signature"] = "", ""
		key, kind = "thinking", "thinking_delta"
	case callBlock:
		start["input"] = object{}
		text, key, kind = b.call.input, "partial_json", "input_json_delta"
	}
	if err := s.send("content_block_start", object{"type": "content_block_start", "index": index, "content_block": start}); err != nil {
		return err
	}
	delta := func(d object) error {
		return s.send("content_block_delta", object{"type": "content_block_delta", "index": index, "delta": d})
	}
	if err := s.text(text, func(piece string) error { return delta(object{"type": kind, key: piece}) }); err != nil {
		return err
	}
	if b.kind == thoughtBlock {
		if err := delta(object{"type": "signature_delta", "signature": thoughtSignature}); err != nil {
			return err
		}
	}
	return s.send("content_block_stop", object{"type": "content_block_stop", "index": index})
}

func countAnthropic(w http.ResponseWriter, r *http.Request) {
	body, err := readBody(w, r)
	if err != nil {
		anthropic{}.fail(w, http.StatusBadRequest, err.Error())
		return
	}
	writeJSON(w, http.StatusOK, object{"input_tokens": len(body) / 4})
}
