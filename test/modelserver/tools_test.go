package modelserver

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestBind(t *testing.T) {
	edit := Step{Scenario: scEdit, Path: "a b.txt", Old: "x\n", New: "y"}
	for name, c := range map[string]struct {
		step  Step
		tools []tool
		tool  string
		input string // a part of it
	}{
		"claude":            {edit, []tool{{name: "Bash"}, {name: "Edit"}}, "Edit", `"old_string":"x\n"`},
		"codex":             {edit, []tool{{name: "apply_patch", custom: true}}, "apply_patch", "*** Update File: a b.txt\n@@\n-x\n+y\n"},
		"codex, code mode":  {edit, []tool{{name: "exec", custom: true, namespace: "functions"}}, "exec", `tools.apply_patch("*** Begin Patch\n`},
		"codex, read":       {Step{Scenario: scRead, Path: "it's"}, []tool{{name: "exec_command"}}, "exec_command", `cat 'it'\\''s'`},
		"opencode":          {edit, []tool{{name: "edit"}}, "edit", `"oldString"`},
		"gemini":            {edit, []tool{{name: "replace"}}, "replace", `"instruction"`},
		"question":          {Step{Scenario: scQuestion, Question: "Q?", Options: []string{"A"}}, []tool{{name: "request_user_input"}}, "request_user_input", `"id":"choice"`},
		"by name, custom":   {Step{Scenario: scCall, Tool: "t", Input: json.RawMessage(`"plain"`)}, []tool{{name: "t", custom: true}}, "t", "plain"},
		"by name, function": {Step{Scenario: scCall, Tool: "t", Input: json.RawMessage(`{"a":1}`)}, []tool{{name: "t"}}, "t", `{"a":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			made, err := bind(&ask{tools: c.tools}, c.step)
			if err != nil || made.name != c.tool || !strings.Contains(made.input, c.input) || made.namespace != c.tools[0].namespace {
				t.Errorf("%+v, %v", made, err)
			}
		})
	}
	if _, err := bind(&ask{tools: []tool{{name: "other"}}}, edit); err == nil || !strings.Contains(err.Error(), "other") {
		t.Errorf("an agent without the tool: %v", err)
	}
}

// TestAnnouncedTools plays a plan with Claude Code's task tools, which are
// first only named and must be loaded.
func TestAnnouncedTools(t *testing.T) {
	s := start(t)
	system := object{"role": "system", "content": "Deferred:\nTaskCreate\nTaskUpdate\n"}
	messages := []any{object{"role": "user", "content": `[[scenario:plan {"entries":["a","b","c"]}]]`}, system}
	tools := []any{object{"name": loadTool}}
	next := func() *answer {
		return dialect{path: "/v1/messages", read: readAnthropic, build: func(*conversation) object {
			return object{"model": "m", "stream": true, "messages": messages, "tools": tools}
		}}.ask(t, s, nil)
	}
	played := func(calls []call, extra ...any) {
		var uses, results []any
		for _, c := range calls {
			uses = append(uses, object{"type": "tool_use", "id": c.id, "name": c.name, "input": json.RawMessage(c.input)})
			results = append(results, object{"type": "tool_result", "tool_use_id": c.id, "content": "ok"})
		}
		messages = append(messages, object{"role": "assistant", "content": uses}, object{"role": "user", "content": append(results, extra...)})
	}
	for _, want := range []struct {
		tool  string
		calls int
	}{{"TaskCreate", 3}, {"TaskUpdate", 2}} {
		a := next()
		if len(a.calls) != 1 || a.calls[0].name != loadTool || !strings.Contains(a.calls[0].input, want.tool) {
			t.Fatalf("%s is not loaded first: %+v", want.tool, a.calls)
		}
		played(a.calls, object{"type": "text", "text": toolLoaded})
		tools = append(tools, object{"name": want.tool})
		a = next()
		if len(a.calls) != want.calls || a.calls[0].name != want.tool {
			t.Fatalf("%+v, want %d of %s", a.calls, want.calls, want.tool)
		}
		played(a.calls)
	}
	if a := next(); len(a.calls) != 0 || strings.Count(a.text, "ok") != 5 {
		t.Errorf("final answer %q, calls %+v", a.text, a.calls)
	}
}

// TestAdditionalTools reads the tools that Codex offers inside the input.
func TestAdditionalTools(t *testing.T) {
	body := `{"model":"m","input":[
		{"type":"additional_tools","role":"developer","tools":[{"type":"namespace","name":"functions","tools":[{"type":"custom","name":"exec"},{"type":"function","name":"wait"}]}]},
		{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}]}`
	a, err := responses{}.parse([]byte(body), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []tool{{name: "exec", custom: true, namespace: "functions"}, {name: "wait", namespace: "functions"}}
	if len(a.tools) != 2 || a.tools[0] != want[0] || a.tools[1] != want[1] || a.prompt().text != "hi" {
		t.Errorf("tools %+v, prompt %q", a.tools, a.prompt().text)
	}
}

// FuzzParse feeds each protocol with hostile bodies.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"messages":[{"role":"user","content":"x"}],"input":"x","contents":[{"parts":[{"text":"x"}]}]}`))
	f.Add([]byte(`{"messages":[{"role":"tool","content":[{"type":"text"}]}],"input":[{"type":"additional_tools","tools":[{"type":"namespace","tools":[{}]}]}]}`))
	f.Fuzz(func(_ *testing.T, body []byte) {
		for _, p := range []protocol{anthropic{}, responses{}, completions{}} {
			if a, err := p.parse(body, nil); err == nil {
				a.prompt()
				sideReply(a)
			}
		}
	})
}
