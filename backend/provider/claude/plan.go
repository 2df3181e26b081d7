package claude

import (
	"cmp"
	"encoding/json"
	"slices"

	"berth/backend/event"
)

// maxPlan bounds the steps of a plan.
const maxPlan = 500

// planTool says whether a tool only keeps the agent's list of steps. Such a
// call is shown as the plan, not as a row of its own, unless it fails.
func planTool(name string) bool {
	switch name {
	case "TodoWrite", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet":
		return true
	}
	return false
}

// plan is the agent's list of steps. Newer models have no such tool unless
// CLAUDE_CODE_ENABLE_TODO_TOOLS is set; others keep it by TodoWrite (the
// whole list) or by TaskCreate and TaskUpdate (one step each).
type plan struct {
	steps []step
}

type step struct {
	id     string
	text   string
	status string // pending, in_progress, completed
}

// apply takes the successful call of a plan tool and says whether the list
// changed.
func (p *plan) apply(name string, input, result json.RawMessage) bool {
	before := slices.Clone(p.steps)
	switch name {
	case "TodoWrite":
		p.write(input)
	case "TaskCreate":
		p.create(input, result)
	case "TaskUpdate":
		p.update(input)
	case "TaskList":
		p.list(result)
	}
	return !slices.Equal(before, p.steps)
}

func (p *plan) write(input json.RawMessage) {
	var in struct {
		Todos []struct {
			Content string `json:"content"`
			Status  string `json:"status"`
		} `json:"todos"`
	}
	if json.Unmarshal(input, &in) != nil {
		return
	}
	p.steps = nil
	for _, t := range in.Todos[:min(len(in.Todos), maxPlan)] {
		p.steps = append(p.steps, step{text: t.Content, status: t.Status})
	}
}

func (p *plan) create(input, result json.RawMessage) {
	var in struct {
		Subject string `json:"subject"`
	}
	var out struct {
		Task struct {
			ID      string `json:"id"`
			Subject string `json:"subject"`
		} `json:"task"`
	}
	if json.Unmarshal(input, &in) != nil || json.Unmarshal(result, &out) != nil || len(p.steps) >= maxPlan {
		return
	}
	p.steps = append(p.steps, step{id: out.Task.ID, text: cmp.Or(out.Task.Subject, in.Subject), status: "pending"})
}

func (p *plan) update(input json.RawMessage) {
	var in struct {
		ID      string `json:"taskId"`
		Subject string `json:"subject"`
		Status  string `json:"status"`
	}
	if json.Unmarshal(input, &in) != nil {
		return
	}
	i := slices.IndexFunc(p.steps, func(s step) bool { return s.id == in.ID })
	switch {
	case i < 0: // of an earlier process, whose subject is not known
	case in.Status == "deleted":
		p.steps = slices.Delete(p.steps, i, i+1)
	default:
		p.steps[i].text = cmp.Or(in.Subject, p.steps[i].text)
		p.steps[i].status = cmp.Or(in.Status, p.steps[i].status)
	}
}

func (p *plan) list(result json.RawMessage) {
	var out struct {
		Tasks []struct {
			ID      string `json:"id"`
			Subject string `json:"subject"`
			Status  string `json:"status"`
		} `json:"tasks"`
	}
	if json.Unmarshal(result, &out) != nil {
		return
	}
	p.steps = nil
	for _, t := range out.Tasks[:min(len(out.Tasks), maxPlan)] {
		p.steps = append(p.steps, step{id: t.ID, text: t.Subject, status: t.Status})
	}
}

func (p *plan) entries() []event.PlanEntry {
	entries := make([]event.PlanEntry, 0, len(p.steps))
	for _, s := range p.steps {
		status := event.Pending
		switch s.status {
		case "in_progress":
			status = event.InProgress
		case "completed":
			status = event.Completed
		}
		entries = append(entries, event.PlanEntry{Text: s.text, Status: status})
	}
	return entries
}
