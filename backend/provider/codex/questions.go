package codex

import (
	"cmp"
	"fmt"

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

// elicitationRequest puts what an MCP server asks the user: a form, or a
// page to open. Other modes are not shown and declined.
func (s *session) elicitationRequest(r *request, in *ask) (event.Kind, event.Request, bool) {
	outcome := func(action string, content any) any {
		return map[string]any{"action": action, "content": content, "_meta": nil}
	}
	r.cancelled = outcome(cancel, nil)
	title := clip(cmp.Or(firstLine(in.Message), in.Server+" asks"), maxText)
	switch in.Mode {
	case "form":
		schema := in.Schema
		body := event.Request{Title: title, Reason: in.Server, Questions: schema.Questions()}
		if len(body.Questions) > 0 {
			r.reply = func(a provider.Answer) (any, error) {
				content, err := schema.Content(a.Answers)
				if err != nil {
					return nil, err
				}
				if len(content) == 0 {
					return outcome(decline, nil), nil
				}
				return outcome(accept, content), nil
			}
			return event.Question, body, true
		}
		// Nothing to fill in: a plain yes or no, by which Codex also asks
		// whether a tool of the server may be called.
		body.Options = r.choose([]choice{
			{event.Option{ID: accept, Kind: event.AllowOnce, Label: "Allow"}, outcome(accept, struct{}{})},
			{event.Option{ID: decline, Kind: event.RejectOnce, Label: "Deny"}, outcome(decline, nil)},
		})
		return event.Approval, body, true
	case "url":
		return event.Approval, event.Request{
			Title: title, Reason: clip(in.URL, maxInput), Host: clip(in.Server, maxText), ToolKind: event.ToolFetch,
			Options: r.choose([]choice{
				{event.Option{ID: accept, Kind: event.AllowOnce, Label: "I have opened it"}, outcome(accept, nil)},
				{event.Option{ID: decline, Kind: event.RejectOnce, Label: "Deny"}, outcome(decline, nil)},
			}),
		}, true
	}
	return "", event.Request{}, false
}
