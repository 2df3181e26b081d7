package modelserver

import (
	"encoding/json"
	"fmt"
	"strings"
)

// binding plays a scenario with one agent's tool: name as the agent offers
// it, and the input it takes. Names and inputs are those of the pinned
// versions, read from the tool definitions in their requests.
type binding struct {
	tool   string
	custom bool // the input is plain text
	input  func(Step) any
}

type object = map[string]any

// bindings, per scenario, in order of preference; the first one that the
// request offers is used.
var bindings = map[string][]binding{
	scShell: {
		{tool: "Bash", input: func(s Step) any { return object{"command": s.Command, "description": "Run a command"} }},
		{tool: "exec_command", input: func(s Step) any { return object{"cmd": s.Command} }},
		{tool: "shell_command", input: func(s Step) any { return object{"command": s.Command} }},
		{tool: "shell", input: func(s Step) any { return object{"command": []string{"bash", "-lc", s.Command}} }},
		{tool: "bash", input: func(s Step) any { return object{"command": s.Command, "description": "Run a command"} }},
		{tool: "run_shell_command", input: func(s Step) any { return object{"command": s.Command, "description": "Run a command"} }},
	},
	scRead: {
		{tool: "Read", input: func(s Step) any { return object{"file_path": s.Path} }},
		{tool: "read", input: func(s Step) any { return object{"filePath": s.Path} }},
		{tool: "read_file", input: func(s Step) any { return object{"file_path": s.Path} }},
		{tool: "exec_command", input: func(s Step) any { return object{"cmd": "cat " + quote(s.Path)} }},
		{tool: "shell_command", input: func(s Step) any { return object{"command": "cat " + quote(s.Path)} }},
		{tool: "shell", input: func(s Step) any { return object{"command": []string{"cat", s.Path}} }},
	},
	scWrite: {
		{tool: "Write", input: func(s Step) any { return object{"file_path": s.Path, "content": s.Content} }},
		{tool: "write", input: func(s Step) any { return object{"filePath": s.Path, "content": s.Content} }},
		{tool: "write_file", input: func(s Step) any { return object{"file_path": s.Path, "content": s.Content} }},
		{tool: "apply_patch", custom: true, input: func(s Step) any { return addPatch(s.Path, s.Content) }},
		{tool: "apply_patch", input: func(s Step) any { return object{"input": addPatch(s.Path, s.Content)} }},
	},
	scEdit:  editBindings,
	scPatch: append([]binding{patchCustom, patchFunction}, editBindings...),
	scQuestion: {
		{tool: "AskUserQuestion", input: questionClaude},
		{tool: "request_user_input", input: questionCodex},
		{tool: "question", input: questionOpenCode},
		{tool: "ask_user", input: questionGemini},
	},
	scSubagent: {
		{tool: "Agent", input: subagentInput("general-purpose")},
		{tool: "Task", input: subagentInput("general-purpose")},
		{tool: "task", input: subagentInput("general")},
		{tool: "spawn_agent", input: func(s Step) any { return object{"message": s.Prompt} }},
	},
	scPlan: {
		{tool: "TodoWrite", input: func(s Step) any { return object{"todos": entries(s, "content", "activeForm")} }},
		{tool: "update_plan", input: func(s Step) any { return object{"plan": entries(s, "step")} }},
		{tool: "todowrite", input: func(s Step) any { return object{"todos": entries(s, "content", "priority")} }},
		{tool: "write_todos", input: func(s Step) any { return object{"todos": entries(s, "description")} }},
	},
}

var (
	patchCustom   = binding{tool: "apply_patch", custom: true, input: func(s Step) any { return editPatch(s) }}
	patchFunction = binding{tool: "apply_patch", input: func(s Step) any { return object{"input": editPatch(s)} }}

	editBindings = []binding{
		{tool: "Edit", input: func(s Step) any { return object{"file_path": s.Path, "old_string": s.Old, "new_string": s.New} }},
		{tool: "edit", input: func(s Step) any { return object{"filePath": s.Path, "oldString": s.Old, "newString": s.New} }},
		{tool: "replace", input: func(s Step) any {
			return object{"file_path": s.Path, "instruction": "Replace the text", "old_string": s.Old, "new_string": s.New}
		}},
		patchCustom,
		patchFunction,
	}
)

// loadTool is Claude Code's tool that loads the definition of another one,
// which must come first where the other is only announced by name.
const loadTool = "ToolSearch"

// bind turns a step into a call of a tool that the request offers.
func bind(a *ask, s Step) (call, error) {
	if s.Scenario == scCall {
		for _, t := range a.tools {
			if t.name == s.Tool {
				return makeCall(t, s.Input)
			}
		}
		return call{}, fmt.Errorf("the agent offers no tool %s; it offers %s", s.Tool, names(a.tools))
	}
	for _, b := range bindings[s.Scenario] {
		for _, t := range a.tools {
			if t.name != b.tool || t.custom != b.custom {
				continue
			}
			input, err := json.Marshal(b.input(s))
			if err != nil {
				return call{}, err
			}
			return makeCall(t, input)
		}
	}
	for _, b := range bindings[s.Scenario] {
		if a.offers(loadTool) && strings.Contains(a.system, "\n"+b.tool+"\n") {
			input, err := json.Marshal(object{"query": "select:" + b.tool})
			return call{name: loadTool, input: string(input)}, err
		}
	}
	return call{}, fmt.Errorf("the agent offers no tool for %s; it offers %s", s.Scenario, names(a.tools))
}

func makeCall(t tool, input json.RawMessage) (call, error) {
	c := call{name: t.name, custom: t.custom, input: string(input)}
	if t.custom {
		if err := json.Unmarshal(input, &c.input); err != nil {
			return call{}, fmt.Errorf("the input of the custom tool %s is not a string: %w", t.name, err)
		}
	}
	return c, nil
}

func names(tools []tool) string {
	all := make([]string, len(tools))
	for i, t := range tools {
		all[i] = t.name
	}
	return strings.Join(all, ", ")
}

func questionClaude(s Step) any {
	var options []object
	for _, o := range s.Options {
		options = append(options, object{"label": o, "description": "Choose " + o})
	}
	return object{"questions": []object{{"question": s.Question, "header": "Choice", "options": options, "multiSelect": s.Multiple}}}
}

func questionCodex(s Step) any {
	var options []object
	for _, o := range s.Options {
		options = append(options, object{"label": o, "description": "Choose " + o})
	}
	return object{"questions": []object{{"id": "choice", "header": "Choice", "question": s.Question, "options": options}}}
}

func questionOpenCode(s Step) any {
	var options []object
	for _, o := range s.Options {
		options = append(options, object{"label": o, "description": "Choose " + o})
	}
	return object{"questions": []object{{"question": s.Question, "header": "Choice", "options": options, "multiple": s.Multiple}}}
}

func questionGemini(s Step) any {
	var options []object
	for _, o := range s.Options {
		options = append(options, object{"label": o, "description": "Choose " + o})
	}
	return object{"questions": []object{{"question": s.Question, "header": "Choice", "type": "choice", "options": options, "multiSelect": s.Multiple}}}
}

func subagentInput(kind string) func(Step) any {
	return func(s Step) any {
		return object{"description": "Part of the work", "prompt": s.Prompt, "subagent_type": kind}
	}
}

// entries are plan entries: the first completed, the second in progress, the
// rest pending. key holds the text; extra fields are filled with something
// their schemas take.
func entries(s Step, key string, extra ...string) []object {
	var all []object
	for i, text := range s.Entries {
		e := object{key: text, "status": [...]string{"completed", "in_progress", "pending"}[min(i, 2)]}
		for _, x := range extra {
			e[x] = text
			if x == "priority" {
				e[x] = "medium"
			}
		}
		all = append(all, e)
	}
	return all
}

// editPatch is the step in the patch format of Codex's apply_patch tool.
func editPatch(s Step) string {
	return "*** Begin Patch\n*** Update File: " + s.Path + "\n@@\n" + prefixed("-", s.Old) + prefixed("+", s.New) + "*** End Patch\n"
}

func addPatch(path, content string) string {
	return "*** Begin Patch\n*** Add File: " + path + "\n" + prefixed("+", content) + "*** End Patch\n"
}

func prefixed(mark, text string) string {
	var out strings.Builder
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		out.WriteString(mark + line + "\n")
	}
	return out.String()
}

// quote makes one word of a POSIX shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
