package codex

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"berth/backend/event"
	"berth/backend/provider"
	"berth/backend/provider/wire"
)

// TestAnswers: what each option and answer means to Codex.
func TestAnswers(t *testing.T) {
	amendments := `"proposedExecpolicyAmendment":["git","pull"],"availableDecisions":["accept","acceptForSession",
		{"acceptWithExecpolicyAmendment":{"execpolicy_amendment":["git","pull"]}},
		{"applyNetworkPolicyAmendment":{"network_policy_amendment":{"host":"example.com","action":"allow"}}},
		{"applyNetworkPolicyAmendment":{"network_policy_amendment":{"host":"example.com","action":"deny"}}},
		{"somethingNew":{}},"cancel"]`
	permissions := `"cwd":"/project","reason":"why","permissions":{"network":{"enabled":true},"fileSystem":{"read":null,"write":["/data"]}}`
	form := `"serverName":"db","mode":"form","message":"Which table?","requestedSchema":{"type":"object","properties":{"table":{"type":"string"}}}`
	tool := `"serverName":"db","mode":"form","_meta":{"codex_approval_kind":"mcp_tool_call","persist":["session","always"],"tool_name":"drop","tool_params":{"t":1}},
		"message":"Allow the db MCP server to run tool \"drop\"?","requestedSchema":{"type":"object","properties":{}}`
	once := `"serverName":"db","mode":"form","_meta":{"codex_approval_kind":"mcp_tool_call"},"message":"Allow?","requestedSchema":{"type":"object","properties":{}}`
	cases := []struct {
		name, method, params string
		answer               provider.Answer
		want                 string // the result, "" for one that is refused
	}{
		{"allow", methodCommand, amendments, provider.Answer{Option: accept}, `{"decision":"accept"}`},
		{"allow for the session", methodCommand, amendments, provider.Answer{Option: acceptAll}, `{"decision":"acceptForSession"}`},
		{"always", methodCommand, amendments, provider.Answer{Option: "always-2"}, `{"decision":{"acceptWithExecpolicyAmendment":{"execpolicy_amendment":["git","pull"]}}}`},
		{"always this host", methodCommand, amendments, provider.Answer{Option: "always-3"}, `{"decision":{"applyNetworkPolicyAmendment":{"network_policy_amendment":{"host":"example.com","action":"allow"}}}}`},
		{"never this host", methodCommand, amendments, provider.Answer{Option: "always-4"}, `{"decision":{"applyNetworkPolicyAmendment":{"network_policy_amendment":{"host":"example.com","action":"deny"}}}}`},
		{"an option that was not offered", methodCommand, amendments, provider.Answer{Option: "always-9"}, ``},
		{"deny, though it was not offered", methodCommand, amendments, provider.Answer{Option: decline}, `{"decision":"decline"}`},
		{"deny and stop", methodCommand, amendments, provider.Answer{Option: cancel}, `{"decision":"cancel"}`},
		{"no answer", methodCommand, amendments, provider.Answer{Cancelled: true}, `{"decision":"cancel"}`},
		{"edit", methodFiles, `"reason":null`, provider.Answer{Option: acceptAll}, `{"decision":"acceptForSession"}`},
		{"permissions for the turn", methodPermissions, permissions, provider.Answer{Option: "turn"}, `{"permissions":{"fileSystem":{"read":null,"write":["/data"]},"network":{"enabled":true}},"scope":"turn"}`},
		{"permissions for the session", methodPermissions, permissions, provider.Answer{Option: "session"}, `{"permissions":{"fileSystem":{"read":null,"write":["/data"]},"network":{"enabled":true}},"scope":"session"}`},
		{"permissions denied", methodPermissions, permissions, provider.Answer{Option: decline}, `{"permissions":{},"scope":"turn"}`},
		{"question", methodQuestion, `"questions":[{"id":"q","question":"Which?","options":[{"label":"A"}],"isOther":true}]`, provider.Answer{Answers: map[string][]string{"q": {"A", "more"}}}, `{"answers":{"q":{"answers":["A","more"]}}}`},
		{"question nobody asked", methodQuestion, `"questions":[{"id":"q","question":"Which?"}]`, provider.Answer{Answers: map[string][]string{"x": {"A"}}}, ``},
		{"question without an answer", methodQuestion, `"questions":[{"id":"q","question":"Which?"}]`, provider.Answer{Cancelled: true}, `{"answers":{}}`},
		{"form", methodElicitation, form, provider.Answer{Answers: map[string][]string{"table": {"users"}}}, `{"_meta":null,"action":"accept","content":{"table":"users"}}`},
		{"form declined", methodElicitation, form, provider.Answer{}, `{"_meta":null,"action":"decline","content":null}`},
		{"form without an answer", methodElicitation, form, provider.Answer{Cancelled: true}, `{"_meta":null,"action":"cancel","content":null}`},
		{"MCP tool", methodElicitation, tool, provider.Answer{Option: accept}, `{"_meta":null,"action":"accept","content":{}}`},
		{"MCP tool for the session", methodElicitation, tool, provider.Answer{Option: acceptAll}, `{"_meta":{"persist":"session"},"action":"accept","content":{}}`},
		{"MCP tool always", methodElicitation, tool, provider.Answer{Option: "always"}, `{"_meta":{"persist":"always"},"action":"accept","content":{}}`},
		{"MCP tool denied", methodElicitation, tool, provider.Answer{Option: decline}, `{"_meta":null,"action":"decline","content":null}`},
		{"MCP tool that can be allowed once only", methodElicitation, once, provider.Answer{Option: "always"}, ``},
		{"page", methodElicitation, `"serverName":"db","mode":"url","message":"Sign in","url":"https://example.com"`, provider.Answer{Option: accept}, `{"_meta":null,"action":"accept","content":null}`},
		{"older command", methodOldCommand, `"command":["make","all"],"cwd":"/project"`, provider.Answer{Option: acceptAll}, `{"decision":"approved_for_session"}`},
		{"older command denied", methodOldCommand, `"command":["make","all"]`, provider.Answer{Option: decline, Reason: "no"}, `{"decision":{"denied":{"rejection":"no"}}}`},
		{"older edit", methodOldPatch, `"fileChanges":{"/project/a":{"type":"add","content":"x\n"}}`, provider.Answer{Option: cancel}, `{"decision":"abort"}`},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			s, p := newLoose(t)
			s.thread = seedThread
			s.server.register(seedThread, s)
			params := `{"threadId":"thread-1","conversationId":"thread-1","turnId":"turn-1","itemId":"i",` + strings.ReplaceAll(tc.params, "\n", "") + `}`
			s.server.dispatch(wire.Message{ID: json.RawMessage("5"), Method: tc.method, Params: json.RawMessage(params)})
			var r *provider.Request
			for r == nil {
				e := <-s.Events()
				r = e.Request
			}
			if r.Body.Title == "" || len(r.Body.Options) == 0 && len(r.Body.Questions) == 0 {
				t.Errorf("a request without words or options: %+v", r.Body)
			}
			err := s.Answer(t.Context(), r.Key, tc.answer)
			if tc.want == "" {
				wantErr(t, err, "invalid")
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got, want any
			_ = json.Unmarshal((<-p.read).Result, &got)
			_ = json.Unmarshal([]byte(tc.want), &want)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("Codex heard %v, want %v", got, want)
			}
		})
	}
}

// TestUnservedRequests: what Berth cannot show is declined or refused at
// once.
func TestUnservedRequests(t *testing.T) {
	cases := []struct{ name, method, params, want string }{
		{"user verification", methodElicitation, `{"threadId":"thread-1","mode":"openai/userVerification"}`, `"action":"decline"`},
		{"a client's tool", "item/tool/call", `{"threadId":"thread-1"}`, ``},
		{"an unknown thread", methodPermissions, `{"threadId":"other"}`, `"permissions":{}`},
		{"malformed", methodFiles, `{"threadId":"thread-1","availableDecisions":7}`, `"decision":"decline"`},
		{"no parameters at all", methodQuestion, `[]`, `"answers":{}`},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			s, p := newLoose(t)
			s.thread = seedThread
			s.server.register(seedThread, s)
			s.server.dispatch(wire.Message{ID: json.RawMessage("5"), Method: tc.method, Params: json.RawMessage(tc.params)})
			m := <-p.read
			if tc.want == "" {
				if m.Error == nil || m.Error.Code != wire.CodeNoMethod {
					t.Errorf("answer %s, error %v", m.Result, m.Error)
				}
			} else if !strings.Contains(string(m.Result), tc.want) {
				t.Errorf("answer %s, want %s", m.Result, tc.want)
			}
		})
	}
}

// TestInterruptedTurnAsksNothing: a late request is answered without the
// user.
func TestInterruptedTurnAsksNothing(t *testing.T) {
	s, p := newLoose(t)
	s.thread = seedThread
	s.server.register(seedThread, s)
	s.mu.Lock()
	s.turn = &turn{id: seedTurn, interrupted: true}
	s.mu.Unlock()
	s.server.dispatch(wire.Message{
		ID: json.RawMessage("5"), Method: methodCommand, Raw: []byte(`{}`),
		Params: json.RawMessage(`{"threadId":"thread-1","turnId":"turn-1","command":"ls"}`),
	})
	for e := range s.Events() {
		if e.Request != nil {
			t.Fatal("the user was asked")
		}
		if e.Raw != nil {
			break
		}
	}
	if m := <-p.read; !strings.Contains(string(m.Result), "cancel") {
		t.Errorf("answer %s", m.Result)
	}
}

func TestPermissionModes(t *testing.T) {
	cases := []struct {
		mode            provider.Permission
		approval, start string
		turn            string
	}{
		{provider.Ask, "untrusted", "workspace-write", `{"excludeSlashTmp":false,"excludeTmpdirEnvVar":false,"networkAccess":true,"type":"workspaceWrite","writableRoots":["/cache"]}`},
		{provider.AcceptEdits, "on-request", "workspace-write", `{"excludeSlashTmp":false,"excludeTmpdirEnvVar":false,"networkAccess":true,"type":"workspaceWrite","writableRoots":["/cache"]}`},
		{provider.PlanOnly, "on-request", "read-only", `{"networkAccess":false,"type":"readOnly"}`},
		{provider.Full, "never", "danger-full-access", `{"type":"dangerFullAccess"}`},
	}
	for _, tc := range cases {
		s, _ := newLoose(t)
		s.settings = settings{model: "m", writing: workspaceWrite{Roots: []string{"/cache"}, Network: true}}
		p, err := permissionsOf(tc.mode)
		if err != nil || p.approval != tc.approval || p.sandbox != tc.start {
			t.Errorf("%s: %+v, %v", tc.mode, p, err)
		}
		params, err := s.turnParams(t.Context(), provider.Input{Turn: "turn_1", Text: "hi", Mode: tc.mode})
		if err != nil {
			t.Fatal(err)
		}
		policy, _ := json.Marshal(params["sandboxPolicy"])
		if string(policy) != tc.turn || params["approvalPolicy"] != tc.approval || params["approvalsReviewer"] != "user" {
			t.Errorf("%s: a turn runs under %s, %v, %v", tc.mode, policy, params["approvalPolicy"], params["approvalsReviewer"])
		}
		if (params["collaborationMode"] != nil) != (tc.mode == provider.PlanOnly) {
			t.Errorf("%s: collaboration mode %v", tc.mode, params["collaborationMode"])
		}
		if params["clientUserMessageId"] != "turn_1" {
			t.Errorf("message id %v", params["clientUserMessageId"])
		}
	}
}

func TestPermissionsCheck(t *testing.T) {
	row, err := permissionsOf(provider.Ask)
	if err != nil {
		t.Fatal(err)
	}
	reply := func(approval, sandbox, reviewer string) opened {
		var o opened
		o.Approval, o.Sandbox.Type, o.Reviewer = json.RawMessage(approval), sandbox, reviewer
		return o
	}
	if err := row.check(reply(`"untrusted"`, "workspaceWrite", "user")); err != nil {
		t.Errorf("what was asked for: %v", err)
	}
	for _, o := range []opened{
		reply(`"never"`, "workspaceWrite", "user"), reply(`{"granular":{}}`, "workspaceWrite", "user"),
		reply(`"untrusted"`, "dangerFullAccess", "user"), reply(`"untrusted"`, "workspaceWrite", "auto_review"), reply(``, "", ""),
	} {
		if row.check(o) == nil {
			t.Errorf("%s %s %s was taken for ask", o.Approval, o.Sandbox.Type, o.Reviewer)
		}
	}
}

func TestSkillInput(t *testing.T) {
	for text, want := range map[string]string{
		"/greet": "greet", "/greet the user": "greet", "/greet\nnow": "greet", "/greets": "", " /greet": "", "greet": "", "/": "", "/other": "",
	} {
		s, _ := newLoose(t)
		s.skills, s.loaded = []skill{{Name: "greet", Path: "/skills/greet/SKILL.md"}}, true
		items, err := s.input(t.Context(), provider.Input{Text: text})
		if err != nil {
			t.Fatal(err)
		}
		first := items[0].(map[string]any)
		if first["type"] != "text" || first["text"] != text {
			t.Errorf("%q reaches Codex as %v", text, first)
		}
		got := ""
		for _, i := range items[1:] {
			if m := i.(map[string]any); m["type"] == "skill" {
				got = m["name"].(string)
			}
		}
		if got != want {
			t.Errorf("%q names the skill %q, want %q", text, got, want)
		}
	}
}

func TestOptionsAreShort(t *testing.T) {
	in := &ask{Decisions: []json.RawMessage{json.RawMessage(`{"acceptWithExecpolicyAmendment":{"execpolicy_amendment":["/bin/bash","-lc","` + strings.Repeat("x", 5000) + `"]}}`)}}
	for _, c := range commandChoices(in) {
		if len(c.option.Label) > maxText+100 {
			t.Errorf("a label of %d bytes", len(c.option.Label))
		}
		if c.option.Kind == event.RejectOnce && !c.option.Reason {
			t.Error("no reason can be given for a refusal")
		}
	}
}

// TestRequestOfASubAgentOutlivesTheTurn: it is put anew, so that the sub-agent
// does not wait for ever.
func TestRequestOfASubAgentOutlivesTheTurn(t *testing.T) {
	events := replay(t, turnOf(
		itemLine("item/started", `{"type":"subAgentActivity","id":"a","kind":"started","agentThreadId":"child","agentPath":"/top/part"}`),
		`{"method":"turn/started","params":{"threadId":"child","turn":{"id":"turn-2"}}}`,
		`{"id":1,"method":"item/commandExecution/requestApproval","params":{"threadId":"child","turnId":"turn-2","itemId":"c","command":"ls"}}`,
		`{"id":2,"method":"item/commandExecution/requestApproval","params":{"threadId":"thread-1","turnId":"turn-1","itemId":"c","command":"ls"}}`,
		`{"method":"turn/completed","params":{"threadId":"thread-1","turn":{"id":"turn-1","status":"completed"}}}`,
	))
	var after []string
	ended := false
	for _, e := range events {
		ended = ended || e.TurnEnded != nil
		if ended && e.Request != nil {
			after = append(after, e.Request.Key)
		}
		if e.Withdrawn == "7/1" {
			t.Error("the sub-agent's request was withdrawn")
		}
	}
	if len(after) != 1 || after[0] != "7/1" {
		t.Errorf("after the turn %v were put:%s", after, tale(events))
	}
}
