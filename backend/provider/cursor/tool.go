package cursor

import (
	"cmp"
	"encoding/json"
	"strings"

	"berth/backend/event"
	"berth/backend/provider/patch"
)

// maxTitle bounds what is shown of a tool's subject, in bytes.
const maxTitle = 400

// toolCall is a call as a line tells it: {"xToolCall":{"args":…,"result":…}},
// or {"function":{"name":…,"arguments":…}}.
type toolCall struct {
	name   string // read, write, edit, shell, …
	args   json.RawMessage
	result json.RawMessage
}

func readCall(fields map[string]json.RawMessage) (toolCall, bool) {
	for key, raw := range fields {
		name, ok := strings.CutSuffix(key, "ToolCall")
		if !ok || name == "" {
			continue
		}
		var body struct {
			Args   json.RawMessage `json:"args"`
			Result json.RawMessage `json:"result"`
		}
		if json.Unmarshal(raw, &body) != nil {
			return toolCall{}, false
		}
		return toolCall{name: cut(name, maxWord), args: body.Args, result: body.Result}, true
	}
	var function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		Result    json.RawMessage `json:"result"`
	}
	if json.Unmarshal(fields["function"], &function) != nil || function.Name == "" {
		return toolCall{}, false
	}
	var text string // the arguments may be JSON in a string
	if json.Unmarshal(function.Arguments, &text) == nil && json.Valid([]byte(text)) {
		function.Arguments = json.RawMessage(text)
	}
	return toolCall{name: cut(function.Name, maxWord), args: function.Arguments, result: function.Result}, true
}

func toolKind(name string) event.ToolKind {
	switch name {
	case "read":
		return event.ToolRead
	case "write", "edit", "applyPatch", "editNotebook":
		return event.ToolEdit
	case "delete":
		return event.ToolDelete
	case "grep", "glob", "ls", "semSearch", "semanticSearch", "webSearch":
		return event.ToolSearch
	case "shell":
		return event.ToolExecute
	case "webFetch", "fetch":
		return event.ToolFetch
	case "task":
		return event.ToolAgent
	case "createPlan", "switchMode":
		return event.ToolThink
	}
	if planTool(name) {
		return event.ToolThink
	}
	return event.ToolOther
}

func planTool(name string) bool { return name == "updateTodos" || name == "todo" }

// toolArgs holds the arguments that say what a tool works on.
type toolArgs struct {
	Path        string `json:"path"`
	Command     string `json:"command"`
	Pattern     string `json:"pattern"`
	GlobPattern string `json:"globPattern"`
	Query       string `json:"query"`
	Term        string `json:"searchTerm"`
	URL         string `json:"url"`
	Description string `json:"description"`
	Name        string `json:"name"`
	Server      string `json:"serverIdentifier"`
	Tool        string `json:"toolName"`
}

// tool makes an item's tool of a call.
func (c *toolCall) tool() *event.Tool {
	var in toolArgs
	_ = json.Unmarshal(c.args, &in) // an argument of another type leaves its title empty
	t := &event.Tool{Kind: toolKind(c.name), Name: c.name, Input: c.args}
	t.Title = cmp.Or(in.Command, in.Path, in.Pattern, in.GlobPattern, in.Query, in.Term, in.URL, in.Description)
	if c.name == "mcp" {
		t.Title = strings.TrimPrefix(in.Server+": "+cmp.Or(in.Tool, in.Name), ": ")
	}
	t.Title = cut(t.Title, maxTitle)
	if in.Path != "" {
		t.Locations = []event.Location{{Path: in.Path}}
	}
	return t
}

// outcome is how a call ended: one of its fields is set.
type outcome struct {
	Success  json.RawMessage `json:"success"`
	Failure  json.RawMessage `json:"failure"` // of a command that did not exit with 0
	Error    json.RawMessage `json:"error"`
	Rejected *struct {
		Reason string `json:"reason"`
	} `json:"rejected"`
}

// toolResult holds the fields of results that are understood.
type toolResult struct {
	Content      string  `json:"content"` // of read
	Stdout       string  `json:"stdout"`
	Stderr       string  `json:"stderr"`
	Interleaved  string  `json:"interleavedOutput"`
	ExitCode     *int    `json:"exitCode"`
	Path         string  `json:"path"`
	Before       *string `json:"beforeFullFileContent"`
	After        *string `json:"afterFullFileContent"`
	Previous     *string `json:"prevContent"` // of delete
	Message      string  `json:"message"`
	ErrorMessage string  `json:"errorMessage"`
	ErrorText    string  `json:"error"`
	Todos        []todo  `json:"todos"`
}

type todo struct {
	Content string `json:"content"`
	Status  string `json:"status"`
}

// finish fills in how a call ended.
func (c *toolCall) finish(t *event.Tool, cwd string) event.Status {
	var o outcome
	_ = json.Unmarshal(c.result, &o) // a result of another form is shown as it is
	var r toolResult
	switch {
	case o.Rejected != nil:
		t.Error = cut(cmp.Or(o.Rejected.Reason, "Not allowed in this mode."), maxTitle)
		return event.Failed
	case o.Error != nil:
		if json.Unmarshal(o.Error, &r) != nil {
			_ = json.Unmarshal(o.Error, &r.Message) // a plain string
		}
		t.Error = cut(cmp.Or(r.ErrorMessage, r.Message, r.ErrorText, "It failed."), maxTitle)
		return event.Failed
	case o.Failure != nil:
		_ = json.Unmarshal(o.Failure, &r)
		t.Output, t.ExitCode = r.printed(), r.ExitCode
		t.Error = cut(cmp.Or(r.ErrorMessage, r.Message), maxTitle)
		return event.Failed
	case o.Success == nil:
		t.Output = string(c.result)
		return event.Completed
	}
	if json.Unmarshal(o.Success, &r) != nil {
		t.Output = string(o.Success)
		return event.Completed
	}
	c.succeed(t, &r, o.Success, cwd)
	if r.ExitCode != nil && *r.ExitCode != 0 {
		return event.Failed
	}
	return event.Completed
}

// succeed fills in what a call that went well gave back.
func (c *toolCall) succeed(t *event.Tool, r *toolResult, whole json.RawMessage, cwd string) {
	t.ExitCode = r.ExitCode
	path := cmp.Or(r.Path, t.Title)
	switch c.name {
	case "shell":
		t.Output = r.printed()
	case "read":
		t.Output = r.Content
	case "edit":
		if r.After != nil {
			before := r.Before
			if before != nil && *before == "" {
				before = nil // of a new file the text before is empty
			}
			t.Files = []event.FileDiff{patch.Between(patch.Relative(cwd, path), before, r.After)}
		}
		t.Output = r.Message
	case "delete":
		if r.Previous != nil {
			t.Files = []event.FileDiff{patch.Between(patch.Relative(cwd, path), r.Previous, nil)}
		}
	case "write":
		// Whether the file was there before is not told: what was written
		// stands in the input.
		t.Output = r.Message
	default:
		t.Output = string(whole)
	}
}

// printed is what a command wrote.
func (r *toolResult) printed() string {
	if r.Interleaved != "" {
		return r.Interleaved
	}
	return r.Stdout + r.Stderr
}

// plan is the list of steps that a call to the list's tool left: the result's,
// or, where that does not say, the one that was asked for.
func (c *toolCall) plan() []event.PlanEntry {
	var args, result struct {
		Todos   []todo `json:"todos"`
		Success struct {
			Todos []todo `json:"todos"`
		} `json:"success"`
	}
	_ = json.Unmarshal(c.args, &args)
	_ = json.Unmarshal(c.result, &result)
	todos := result.Success.Todos
	if len(todos) == 0 {
		todos = args.Todos
	}
	var entries []event.PlanEntry
	for _, t := range todos[:min(len(todos), maxPlan)] {
		entries = append(entries, event.PlanEntry{Text: t.Content, Status: status(t.Status)})
	}
	return entries
}

// maxPlan bounds the steps of a plan.
const maxPlan = 500
