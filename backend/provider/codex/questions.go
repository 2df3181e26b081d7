package codex

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"berth/backend/event"
	"berth/backend/provider"
)

// Bounds of an answer, those that Codex's own clients keep.
const (
	maxAnswers = 20
	maxAnswer  = 8000 // bytes
)

// questionRequest puts Codex's questions.
func (s *session) questionRequest(r *request, in *ask) event.Request {
	body := event.Request{Title: "Codex asks"}
	known := map[string]bool{}
	for _, q := range in.Questions {
		f := event.QuestionField{
			ID: q.ID, Header: clip(q.Header, maxText), Text: clip(q.Text, maxInput), Secret: q.Secret, FreeText: q.Other || len(q.Options) == 0,
		}
		for _, o := range q.Options {
			f.Choices = append(f.Choices, event.Choice{Value: o.Label, Label: clip(o.Label, maxText), Note: clip(o.Description, maxText)})
		}
		body.Questions = append(body.Questions, f)
		known[q.ID] = true
	}
	if len(in.Questions) == 1 {
		body.Title = clip(firstLine(in.Questions[0].Text), maxText)
	}
	r.reply = func(a provider.Answer) (any, error) {
		answers := map[string]any{}
		for id, values := range a.Answers {
			if !known[id] {
				return nil, fmt.Errorf("answers.%s: Codex did not ask this", id)
			}
			if len(values) > maxAnswers {
				return nil, fmt.Errorf("answers.%s: at most %d", id, maxAnswers)
			}
			for _, v := range values {
				if len(v) > maxAnswer {
					return nil, fmt.Errorf("answers.%s: at most %d bytes", id, maxAnswer)
				}
			}
			answers[id] = map[string]any{"answers": values}
		}
		return map[string]any{"answers": answers}, nil
	}
	return body
}

// toolCallAsk is what Codex adds to an elicitation by which it asks, in a
// server's name, whether a tool of it may be called.
type toolCallAsk struct {
	Kind    string          `json:"codex_approval_kind"`
	Tool    string          `json:"tool_name"`
	Params  json.RawMessage `json:"tool_params"`
	Persist json.RawMessage `json:"persist"` // for how long it can be allowed: session, always
}

// kindToolCall is that of toolCallAsk.
const kindToolCall = "mcp_tool_call"

// elicitationRequest puts what an MCP server asks the user: whether a tool
// may be called, a form, or a page to open. Other modes are not shown and
// declined.
func (s *session) elicitationRequest(r *request, in *ask) (event.Kind, event.Request, bool) {
	r.cancelled = outcome(cancel, nil, nil)
	body := event.Request{Title: clip(cmp.Or(firstLine(in.Message), in.Server+" asks"), maxText), Reason: clip(in.Server, maxText)}
	fields := in.Schema.Questions()
	switch {
	case in.Mode == "form" && in.Meta.Kind == kindToolCall:
		body.ToolKind, body.Input = event.ToolOther, bounded(in.Meta.Params, maxInput)
		body.Options = r.choose(toolCallChoices(in.Meta))
		return event.Approval, body, true
	case in.Mode == "form" && len(fields) > 0:
		body.Questions = fields
		schema := in.Schema
		r.reply = func(a provider.Answer) (any, error) {
			content, err := schema.Content(a.Answers)
			if err != nil {
				return nil, err
			}
			if len(content) == 0 {
				return outcome(decline, nil, nil), nil
			}
			return outcome(accept, content, nil), nil
		}
		return event.Question, body, true
	case in.Mode == "form": // a plain yes or no
		body.Options = r.choose(yesOrNo("Allow", struct{}{}))
		return event.Approval, body, true
	case in.Mode == "url":
		body.Reason, body.ToolKind = clip(in.Server+"\n"+in.URL, maxInput), event.ToolFetch
		body.Options = r.choose(yesOrNo("I have opened it", nil))
		return event.Approval, body, true
	}
	return "", event.Request{}, false
}

// outcome is the answer to an elicitation.
func outcome(action string, content, meta any) any {
	return map[string]any{"action": action, "content": content, "_meta": meta}
}

func yesOrNo(yes string, content any) []choice {
	return []choice{
		{event.Option{ID: accept, Kind: event.AllowOnce, Label: yes}, outcome(accept, content, nil)},
		{event.Option{ID: decline, Kind: event.RejectOnce, Label: "Deny", Reason: true}, outcome(decline, nil, nil)},
	}
}

// toolCallChoices are the ways to answer whether a tool may be called.
func toolCallChoices(ask toolCallAsk) []choice {
	choices := yesOrNo("Allow", struct{}{})
	allow, deny := choices[:1:1], choices[1]
	var spans []string
	_ = json.Unmarshal(ask.Persist, &spans) // absent: only once
	persist := func(span string) any { return outcome(accept, struct{}{}, map[string]string{"persist": span}) }
	if slices.Contains(spans, "session") {
		allow = append(allow, choice{event.Option{ID: acceptAll, Kind: event.AllowSession, Label: "Allow this tool for this session"}, persist("session")})
	}
	if slices.Contains(spans, "always") {
		allow = append(allow, choice{event.Option{ID: "always", Kind: event.AllowAlways, Label: "Always allow this tool"}, persist("always")})
	}
	return append(allow, deny)
}
