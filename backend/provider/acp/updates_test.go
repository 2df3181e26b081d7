package acp

import (
	"encoding/json"
	"strings"
	"testing"

	"berth/backend/event"
	"berth/backend/process"
	"berth/backend/provider"
)

const endTurn = `{"stopReason":"end_turn"}`

// An update or a content block of a kind that the SDK's types would take for
// another is kept and shown plainly.
func TestUnknownKindsAreShown(t *testing.T) {
	x := plainSession(t)
	prompt := x.send(provider.Input{Text: "hi"})
	x.a.update(chunk("before"))
	x.a.update(`{"sessionUpdate":"hologram","title":"not a session title","n":1}`)
	x.a.update(`{"sessionUpdate":"hologram","title":"not a session title","n":2}`)
	x.a.update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"smell","text":"not text"}}`)
	x.a.update(chunk("after"))
	x.a.reply(prompt, endTurn)
	x.end()
	var notices []*provider.Item
	for _, it := range x.items() {
		if it.Kind == event.Notice {
			notices = append(notices, it)
		}
	}
	if len(notices) != 2 {
		t.Fatalf("%d notices: %+v", len(notices), notices)
	}
	if n := notices[0]; n.Body.Notice.Code != "unknown_update" || !strings.Contains(n.Body.Text, "hologram") || !strings.Contains(string(n.Body.Ext), `"n":1`) {
		t.Errorf("the update: %+v", n.Body)
	}
	if n := notices[1]; n.Body.Notice.Code != "unknown_content" || !strings.Contains(n.Body.Text, "smell") || !strings.Contains(string(n.Body.Ext), "not text") {
		t.Errorf("the content: %+v", n.Body)
	}
	var texts []string
	for _, e := range x.seen {
		if e.Text != nil {
			texts = append(texts, e.Text.Text)
		}
	}
	if got := strings.Join(texts, "|"); got != "before|after" {
		t.Errorf("texts %s", got)
	}
}

func TestRawLinesAreKeptBounded(t *testing.T) {
	x := plainSession(t)
	prompt := x.send(provider.Input{Text: "hi"})
	x.a.update(chunk(strings.Repeat("x", maxRaw)))
	raw := x.until(func(e provider.Event) bool { return e.Raw != nil }).Raw
	var cut string
	if err := json.Unmarshal(raw, &cut); err != nil || len(cut) > maxRaw+len("…") || !strings.HasPrefix(cut, `{"jsonrpc"`) {
		t.Errorf("raw of %d bytes, %v", len(raw), err)
	}
	x.a.update(chunk("y"))
	if raw = x.until(func(e provider.Event) bool { return e.Raw != nil }).Raw; !strings.Contains(string(raw), `"text":"y"`) {
		t.Errorf("raw %s", raw)
	}
	x.a.reply(prompt, endTurn)
	x.end()
}

// Only what a turn alone can cause proves that the prompt arrived.
func TestAcceptance(t *testing.T) {
	tests := []struct {
		name, update string
		accepts      bool
	}{
		{"commands", `{"sessionUpdate":"available_commands_update","availableCommands":[]}`, false},
		{"mode", `{"sessionUpdate":"current_mode_update","currentModeId":"x"}`, false},
		{"usage", `{"sessionUpdate":"usage_update","used":1,"size":2}`, false},
		{"title", `{"sessionUpdate":"session_info_update","title":"x"}`, false},
		{"unknown", `{"sessionUpdate":"hologram"}`, false},
		{"mode note of Gemini CLI", chunk("[MODE_UPDATE] yolo"), false},
		{"echo", `{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"hi"}}`, true},
		{"answer", chunk("x"), true},
		{"thought", `{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"x"}}`, true},
		{"tool", `{"sessionUpdate":"tool_call","toolCallId":"1","title":"x"}`, true},
		{"plan", `{"sessionUpdate":"plan","entries":[]}`, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			x := plainSession(t)
			x.send(provider.Input{Text: "hi"})
			x.a.update(test.update)
			x.a.p.end(process.Exit{Code: 1}) // without a reply
			closed := x.until(func(e provider.Event) bool { return e.Closed != nil }).Closed
			accepted := false
			for _, e := range x.seen {
				accepted = accepted || e.Accepted != nil
			}
			if accepted != test.accepts || code(closed.Err) != "agent_ended" || *closed.ExitCode != 1 {
				t.Errorf("accepted %v, closed %+v", accepted, closed)
			}
		})
	}
}

// Chunks that follow each other are one item; anything between begins a new
// one.
func TestMessages(t *testing.T) {
	x := plainSession(t)
	prompt := x.send(provider.Input{Text: "hi"})
	x.a.update(`{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"hm"}}`)
	x.a.update(chunk("a"))
	x.a.update(chunk("b"))
	x.a.update(`{"sessionUpdate":"tool_call","toolCallId":"c1","title":"ls","kind":"execute","status":"in_progress"}`)
	x.a.update(chunk("c"))
	x.a.update(`{"sessionUpdate":"agent_message_chunk","messageId":"m2","content":{"type":"text","text":"d"}}`)
	x.a.update(`{"sessionUpdate":"agent_message_chunk","messageId":"m2","content":{"type":"resource_link","uri":"file:///x","name":"x"}}`)
	x.a.reply(prompt, endTurn)
	x.end()
	text, order := map[string]string{}, []string{}
	completed := map[string]bool{}
	for _, e := range x.seen {
		if e.Text != nil {
			if text[e.Text.Key] == "" {
				order = append(order, e.Text.Key)
			}
			text[e.Text.Key] += e.Text.Text
		}
		if e.Item != nil && e.Item.Status == event.Completed {
			completed[e.Item.Key] = true
		}
	}
	var got []string
	for _, key := range order {
		got = append(got, text[key])
		if !completed[key] {
			t.Errorf("%q was not completed", text[key])
		}
	}
	if strings.Join(got, "|") != "hm|ab|c|d[x](file:///x)" {
		t.Errorf("messages %q", got)
	}
	if !completed["c1"] {
		t.Error("a call that the agent did not end is not completed with the turn")
	}
}

// What is said after the turn has ended is ended at once: no later line would.
func TestWordsAfterTheTurnAreWhole(t *testing.T) {
	x := plainSession(t)
	prompt := x.send(provider.Input{Text: "hi"})
	x.a.update(chunk("a"))
	x.a.reply(prompt, endTurn)
	x.end()
	for _, word := range []string{"by", "the way"} {
		x.a.update(chunk(word))
		late := x.until(func(e provider.Event) bool { return e.Text != nil })
		if late.Text.Text != word {
			t.Errorf("%+v", late.Text)
		}
		ended := x.until(func(e provider.Event) bool { return e.Item != nil })
		if ended.Item.Key != late.Text.Key || ended.Item.Status != event.Completed {
			t.Errorf("%+v", ended.Item)
		}
	}
}

func TestToolCall(t *testing.T) {
	x := plainSession(t)
	prompt := x.send(provider.Input{Text: "hi"})
	file := x.s.spec.Cwd + "/a/b.txt"
	for _, u := range []string{
		`{"sessionUpdate":"tool_call","toolCallId":"c1","title":"Edit","kind":"edit","status":"pending","locations":[{"path":"` + file + `","line":3}],"rawInput":{"path":"b"}}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"in_progress"}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed","title":"Edit b","content":[
			{"type":"diff","path":"` + file + `","oldText":"one\ntwo\n","newText":"one\n2\n"},
			{"type":"content","content":{"type":"text","text":"done"}},
			{"type":"content","content":{"type":"image","mimeType":"image/png","data":"iVA="}},
			{"type":"sound"}]}`,
	} {
		x.a.update(u)
	}
	x.a.reply(prompt, endTurn)
	x.end()
	items := x.items()
	if len(items) != 3 {
		t.Fatalf("%d states", len(items))
	}
	last := items[2]
	tool := last.Body.Tool
	if last.Key != "c1" || last.Status != event.Completed || tool.Title != "Edit b" || tool.Kind != event.ToolEdit ||
		string(tool.Input) != `{"path":"b"}` || tool.Locations[0].Line != 3 || tool.EndedAt == nil || len(last.Images) != 1 {
		t.Errorf("the call %+v %+v", last, tool)
	}
	if tool.Output != "done\n[content of an unknown kind: sound]" {
		t.Errorf("output %q", tool.Output)
	}
	want := "@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
	if d := tool.Files[0]; d.Path != "a/b.txt" || d.Change != "modified" || d.Patch != want || d.Added != 1 || d.Removed != 1 {
		t.Errorf("the diff %+v", d)
	}
}

func TestDiffs(t *testing.T) {
	text := func(s string) *string { return &s }
	big := strings.Repeat("line\n", maxDiffText/5+1)
	tests := []struct {
		name           string
		old            *string
		new, kind      string
		change         string
		added, removed int
		omitted        string
	}{
		{"new file", nil, "a\nb\n", "", "added", 2, 0, ""},
		{"new file as Gemini CLI tells", text(""), "a\n", "add", "added", 1, 0, ""},
		{"deleted as Gemini CLI tells", text("a\n"), "", "delete", "deleted", 0, 1, ""},
		{"emptied", text("a\n"), "", "", "modified", 0, 1, ""},
		{"same", text("a\n"), "a\n", "", "modified", 0, 0, ""},
		{"line that begins like a header", text("-- x\n"), "++ y\n", "", "modified", 1, 1, ""},
		{"no newline at the end", text("a"), "b", "", "modified", 1, 1, ""},
		{"binary", text("a\x00"), "b", "", "modified", 0, 0, "binary"},
		{"too large", text("a"), big, "", "modified", 0, 0, "too_large"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := fileDiff("x", test.old, test.new, test.kind)
			if d.Change != test.change || d.Added != test.added || d.Removed != test.removed || d.Omitted != test.omitted {
				t.Errorf("%+v", d)
			}
		})
	}
}

func TestPlanAndUsage(t *testing.T) {
	x := plainSession(t)
	prompt := x.send(provider.Input{Text: "hi"})
	x.a.update(`{"sessionUpdate":"plan","entries":[{"content":"one","status":"completed","priority":"high"},{"content":"two","status":"in_progress"}]}`)
	x.a.update(`{"sessionUpdate":"usage_update","used":1200,"size":32000,"cost":{"amount":0.25,"currency":"USD"}}`)
	x.a.reply(prompt, `{"stopReason":"end_turn","usage":{"inputTokens":10,"outputTokens":5,"cachedReadTokens":3,"totalTokens":15}}`)
	x.end()
	plan := x.items()[0]
	if plan.Status != event.InProgress || len(plan.Body.Plan) != 2 || plan.Body.Plan[0].Status != event.Completed || plan.Body.Plan[0].Priority != "high" {
		t.Errorf("plan %+v", plan)
	}
	var last *provider.Usage
	for _, e := range x.seen {
		if e.Usage != nil {
			last = e.Usage
		}
	}
	if *last.ContextTokens != 1200 || *last.ContextWindow != 32000 || *last.CostUSD != 0.25 || *last.InputTokens != 10 || *last.OutputTokens != 5 || *last.CachedTokens != 3 {
		t.Errorf("usage %+v", last)
	}
}

func TestStopReasons(t *testing.T) {
	tests := []struct {
		name, result, fault string
		interrupt           bool
		state, reason, code string
	}{
		{name: "end", result: endTurn, state: completed, reason: "end_turn"},
		{name: "tokens", result: `{"stopReason":"max_tokens"}`, state: completed, reason: "max_tokens"},
		{name: "steps", result: `{"stopReason":"max_turn_requests"}`, state: completed, reason: "max_turn_requests"},
		{name: "refusal", result: `{"stopReason":"refusal"}`, state: failed, reason: "refusal", code: "refused"},
		{name: "unknown", result: `{"stopReason":"tired"}`, state: completed, reason: "tired"},
		{name: "cancelled", result: `{"stopReason":"cancelled"}`, interrupt: true, state: stopped, reason: "cancelled"},
		{name: "ended while interrupted", result: endTurn, interrupt: true, state: stopped, reason: "end_turn"},
		{name: "error while interrupted", fault: `{"code":-32603,"message":"aborted"}`, interrupt: true, state: stopped, reason: "cancelled"},
		{name: "nonsense", result: `[1]`, state: failed, reason: "error", code: "protocol"},
		{name: "error", fault: `{"code":-32603,"message":"Internal error","data":{"details":"disk on fire"}}`, state: failed, reason: "error", code: "failed"},
		{name: "429", fault: `{"code":429,"message":"Rate limit exceeded. Try again later."}`, state: failed, reason: "error", code: "rate_limited"},
		{name: "quota", fault: `{"code":429,"message":"You exceeded your current quota"}`, state: failed, reason: "error", code: "quota"},
		{name: "overloaded", fault: `{"code":503,"message":"x"}`, state: failed, reason: "error", code: "overloaded"},
		{name: "signed out", fault: `{"code":-32000,"message":"Authentication required"}`, state: failed, reason: "error", code: "signed_out"},
		{name: "context", fault: `{"code":400,"message":"maximum context length exceeded"}`, state: failed, reason: "error", code: "context_full"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			x := plainSession(t)
			prompt := x.send(provider.Input{Text: "hi"})
			if test.interrupt {
				if err := x.s.Interrupt(t.Context()); err != nil {
					t.Fatal(err)
				}
				x.a.expect("session/cancel")
			}
			if test.fault != "" {
				x.a.refuse(prompt, test.fault)
			} else {
				x.a.reply(prompt, test.result)
			}
			end := x.end()
			got := ""
			if end.Err != nil {
				got = end.Err.Code
			}
			if end.State != test.state || end.StopReason != test.reason || got != test.code {
				t.Errorf("ended %+v, %s", end, got)
			}
		})
	}
}
