package modelserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// gemini speaks the Gemini API (ai.google.dev/api/generate-content). Whether
// it streams is said by the path, not by the body.
type gemini struct{ stream bool }

func (gemini) name() string { return "gemini" }

// gemini routes /v1beta/models/<model>:<method>.
func (s *Server) gemini(w http.ResponseWriter, r *http.Request) {
	_, method, _ := strings.Cut(r.PathValue("call"), ":")
	switch method {
	case "generateContent":
		s.answering(gemini{})(w, r)
	case "streamGenerateContent":
		s.answering(gemini{stream: true})(w, r)
	case "countTokens":
		body, err := readBody(w, r)
		if err != nil {
			gemini{}.fail(w, http.StatusBadRequest, err.Error())
			return
		}
		writeJSON(w, http.StatusOK, object{"totalTokens": len(body) / 4})
	default:
		s.unknown(w, r)
	}
}

type geminiRequest struct {
	SystemInstruction geminiContent   `json:"systemInstruction"`
	Contents          []geminiContent `json:"contents"`
	Tools             []struct {
		FunctionDeclarations []struct {
			Name string `json:"name"`
		} `json:"functionDeclarations"`
	} `json:"tools"`
	GenerationConfig struct {
		ResponseJSONSchema json.RawMessage `json:"responseJsonSchema"`
		ResponseSchema     json.RawMessage `json:"responseSchema"`
	} `json:"generationConfig"`
}

type geminiContent struct {
	Role  string `json:"role"`
	Parts []struct {
		Text         string          `json:"text"`
		Thought      bool            `json:"thought"`
		InlineData   json.RawMessage `json:"inlineData"`
		FunctionCall *struct {
			Name string `json:"name"`
		} `json:"functionCall"`
		FunctionResponse *struct {
			ID       string          `json:"id"`
			Name     string          `json:"name"`
			Response json.RawMessage `json:"response"`
		} `json:"functionResponse"`
	} `json:"parts"`
}

func (g gemini) parse(body []byte, r *http.Request) (*ask, error) {
	var in geminiRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, fmt.Errorf("read a Gemini request: %w", err)
	}
	model, _, _ := strings.Cut(r.PathValue("call"), ":")
	a := &ask{model: model, stream: g.stream, schema: in.GenerationConfig.ResponseJSONSchema, size: len(body)}
	if len(a.schema) == 0 {
		a.schema = in.GenerationConfig.ResponseSchema
	}
	for _, p := range in.SystemInstruction.Parts {
		a.system += p.Text + "\n"
	}
	for _, t := range in.Tools {
		for _, f := range t.FunctionDeclarations {
			a.tools = append(a.tools, tool{name: f.Name})
		}
	}
	for _, c := range in.Contents {
		m := message{role: "user"}
		if c.Role == "model" {
			m.role = "assistant"
		}
		for _, p := range c.Parts {
			switch {
			case p.FunctionCall != nil:
				m.calls++
			case p.FunctionResponse != nil:
				m.results = append(m.results, result{p.FunctionResponse.ID, geminiResult(p.FunctionResponse.Response)})
			case len(p.InlineData) > 0:
				a.images++
			case p.Text != "":
				m.texts = append(m.texts, p.Text)
			}
		}
		a.messages = append(a.messages, m)
	}
	a.side = sideOf(a)
	return a, nil
}

// geminiResult is the text of a function response: its output or error field
// if it has one.
func geminiResult(response json.RawMessage) string {
	var fields map[string]any
	if json.Unmarshal(response, &fields) == nil {
		for _, key := range []string{"output", "error"} {
			if text, ok := fields[key].(string); ok {
				return text
			}
		}
	}
	return string(response)
}

func (gemini) fail(w http.ResponseWriter, status int, message string) {
	kinds := map[int]string{
		400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
		429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE",
	}
	kind, ok := kinds[status]
	if !ok {
		kind = "UNKNOWN"
	}
	writeJSON(w, status, object{"error": object{"code": status, "message": message, "status": kind}})
}

func (gemini) write(w http.ResponseWriter, r *http.Request, a *ask, reply *reply, id func(string) string) error {
	in, out := a.size/4, reply.length()/4+1
	usage := object{"promptTokenCount": in, "candidatesTokenCount": out, "totalTokenCount": in + out}
	response := id("gemini-")
	reason := "STOP"
	if reply.refused {
		reason = "SAFETY"
	}
	chunk := func(parts []any, finish string) object {
		candidate := object{"index": 0, "content": object{"role": "model", "parts": parts}}
		if finish != "" {
			candidate["finishReason"] = finish
		}
		return object{"candidates": []any{candidate}, "usageMetadata": usage, "modelVersion": a.model, "responseId": response}
	}
	if !a.stream || r.URL.Query().Get("alt") != "sse" {
		parts := []any{}
		for _, b := range reply.blocks {
			parts = append(parts, geminiPart(b, b.text))
		}
		var whole any = chunk(parts, reason)
		if a.stream {
			whole = []any{whole} // without alt=sse a stream is a JSON array
		}
		return writeWhole(w, r, reply, whole)
	}
	s := openSSE(w, r, reply)
	if reply.silence > 0 { // a stream has no opening event: only the headers go out
		if err := s.flush.Flush(); err != nil {
			return err
		}
	}
	if err := s.begin(); err != nil {
		return err
	}
	for _, b := range reply.blocks {
		if b.kind == callBlock {
			if err := s.send("", chunk([]any{geminiPart(b, "")}, "")); err != nil {
				return err
			}
			continue
		}
		if err := s.text(b.text, func(piece string) error {
			return s.send("", chunk([]any{geminiPart(b, piece)}, ""))
		}); err != nil {
			return err
		}
	}
	return s.send("", chunk([]any{object{"text": ""}}, reason))
}

func geminiPart(b block, text string) object {
	switch b.kind {
	case callBlock:
		return object{"functionCall": object{"id": b.call.id, "name": b.call.name, "args": json.RawMessage(b.call.input)}}
	case thoughtBlock:
		return object{"text": text, "thought": true}
	}
	return object{"text": text}
}
