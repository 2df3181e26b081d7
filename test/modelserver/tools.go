package modelserver

import (
	"encoding/json"
	"fmt"
	"strconv"
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
		codeMode(func(s Step) string { return command(s.Command) }),
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
		codeMode(func(s Step) string { return command("cat " + quote(s.Path)) }),
	},
	scWrite: {
		{tool: "Write", input: func(s Step) any { return object{"file_path": s.Path, "content": s.Content} }},
		{tool: "write", input: func(s Step) any { return object{"filePath": s.Path, "content": s.Content} }},
		{tool: "write_file", input: func(s Step) any { return object{"file_path": s.Path, "content": s.Content} }},
		{tool: "apply_patch", custom: true, input: func(s Step) any { return addPatch(s.Path, s.Content) }},
		{tool: "apply_patch", input: func(s Step) any { return object{"input": addPatch(s.Path, s.Content)} }},
		codeMode(func(s Step) string { return patch(addPatch(s.Path, s.Content)) }),
	},
	scEdit:  editBindings,
	scPatch: append([]binding{patchCustom, patchFunction}, editBindings...),
	scQuestion: {
		{tool: "AskUserQuestion", input: question(func(s Step) object { return object{"multiSelect": s.Multiple} })},
		{tool: "request_user_input", input: question(func(Step) object { return object{"id": "choice"} })},
		{tool: "question", input: question(func(s Step) object { return object{"multiple": s.Multiple} })},
		{tool: "ask_user", input: question(func(s Step) object { return object{"type": "choice", "multiSelect": s.Multiple} })},
	},
	scSubagent: {
		{tool: "Agent", input: func(s Step) any {
			return object{"description": "Part of the work", "prompt": s.Prompt, "subagent_type": "general-purpose", "run_in_background": s.Background}
		}},
		{tool: "task", input: func(s Step) any {
			return object{"description": "Part of the work", "prompt": s.Prompt, "subagent_type": "general"}
		}},
		{tool: "spawn_agent", input: func(s Step) any { return object{"message": s.Prompt, "task_name": "part"} }},
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
		codeMode(func(s Step) string { return patch(editPatch(s)) }),
	}
)

// codeMode plays a scenario in the "code mode" of Codex's newer models, whose
// one tool runs JavaScript that calls the others.
func codeMode(code func(Step) string) binding {
	return binding{tool: "exec", custom: true, input: func(s Step) any { return code(s) }}
}

// jsString is a string literal: JSON is JavaScript.
func jsString(s string) string {
	data, err := encode(s)
	if err != nil { // strings always encode
		panic(err)
	}
	return string(data)
}

func command(cmd string) string {
	return "text((await tools.exec_command({cmd: " + jsString(cmd) + "})).output)"
}

func patch(text string) string {
	return "text(await tools.apply_patch(" + jsString(text) + "))"
}

// loadTool is Claude Code's tool that loads the definition of another one,
// which must come first where the other is only announced by name.
const loadTool = "ToolSearch"

// bind turns a step into a call of a tool that the request offers, or of
// loadTool where the tool is only announced.
func bind(a *ask, s Step) (call, error) {
	choice := bindings[s.Scenario]
	if s.Scenario == scCall {
		input := func(s Step) any { return s.Input }
		choice = []binding{{tool: s.Tool, input: input}, {tool: s.Tool, custom: true, input: input}}
	}
	for _, b := range choice {
		for _, t := range a.tools {
			if t.name == b.tool && t.custom == b.custom {
				input, err := encode(b.input(s))
				if err != nil {
					return call{}, err
				}
				return makeCall(t, input)
			}
		}
	}
	for _, b := range choice {
		if a.announces(b.tool) {
			input, err := encode(object{"query": "select:" + b.tool})
			return call{name: loadTool, input: string(input)}, err
		}
	}
	return call{}, fmt.Errorf("the agent offers no tool for %s %s; it offers %s", s.Scenario, s.Tool, names(a.tools))
}

// announces says whether a tool is named, one to a line, for loadTool.
func (a *ask) announces(name string) bool {
	return a.offers(loadTool) && strings.Contains(a.system+"\n", "\n"+name+"\n")
}

// expand replaces a plan by the calls that Claude Code's task tools need for
// it: one per entry, then one per status. Its ids count from 1.
func expand(a *ask, steps []Step) []Step {
	if !a.announces("TaskCreate") && !a.offers("TaskCreate") {
		return steps
	}
	var all []Step
	for _, s := range steps {
		if s.Scenario != scPlan {
			all = append(all, s)
			continue
		}
		var create, update []Step
		for i, e := range s.Entries {
			create = append(create, callStep("TaskCreate", object{"subject": e, "description": e, "activeForm": e}))
			if i < 2 {
				update = append(update, callStep("TaskUpdate", object{"taskId": strconv.Itoa(i + 1), "status": planStatus(i)}))
			}
		}
		all = append(all, Step{Scenario: scParallel, Calls: create}, Step{Scenario: scParallel, Calls: update})
	}
	return all
}

func callStep(tool string, input object) Step {
	data, err := encode(input)
	if err != nil { // strings always encode
		panic(err)
	}
	return Step{Scenario: scCall, Tool: tool, Input: data}
}

// planStatus is that of the i-th entry of a plan.
func planStatus(i int) string { return [...]string{"completed", "in_progress", "pending"}[min(i, 2)] }

func makeCall(t tool, input json.RawMessage) (call, error) {
	c := call{name: t.name, custom: t.custom, namespace: t.namespace, input: string(input)}
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

// question is one question in the form that all agents share; extra fields
// are those of one agent.
func question(extra func(Step) object) func(Step) any {
	return func(s Step) any {
		var options []object
		for _, o := range s.Options {
			options = append(options, object{"label": o, "description": "Choose " + o})
		}
		q := extra(s)
		q["question"], q["header"], q["options"] = s.Question, "Choice", options
		return object{"questions": []object{q}}
	}
}

// entries are plan entries: the first completed, the second in progress, the
// rest pending. key holds the text; extra fields are filled with something
// their schemas take.
func entries(s Step, key string, extra ...string) []object {
	var all []object
	for i, text := range s.Entries {
		e := object{key: text, "status": planStatus(i)}
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
