package acp

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"berth/backend/event"
	"berth/backend/provider"
	"berth/backend/provider/wire"
)

const fourOptions = `"options":[{"optionId":"o1","name":"Allow","kind":"allow_once"},{"optionId":"o2","name":"Always","kind":"allow_always"},
	{"optionId":"o3","name":"No","kind":"reject_once"},{"optionId":"o4","name":"Never","kind":"reject_always"}]`

func permission(kind, options string) string {
	return `{"sessionId":"s1","toolCall":{"toolCallId":"c1","title":"rm x","kind":"` + kind + `","rawInput":{"command":"rm x"},
		"content":[{"type":"content","content":{"type":"text","text":"because"}}]},` + options + `}`
}

func outcome(t *testing.T, l line) string {
	t.Helper()
	var reply struct {
		Outcome struct{ Outcome, OptionID string }
	}
	if err := json.Unmarshal(l.Result, &reply); err != nil {
		t.Fatalf("reply %s %s", l.Result, l.Error)
	}
	return reply.Outcome.Outcome + " " + reply.Outcome.OptionID
}

func TestPermission(t *testing.T) {
	x := plainSession(t)
	prompt := x.send(provider.Input{Text: "hi"})
	x.a.request(7, "session/request_permission", permission("execute", fourOptions))
	ask := x.until(func(e provider.Event) bool { return e.Request != nil }).Request
	body := ask.Body
	if ask.Kind != event.Approval || ask.Tool != "c1" || body.Title != "rm x" || body.Command != "rm x" || body.Reason != "because" || body.ToolKind != event.ToolExecute || body.Cwd != x.s.spec.Cwd {
		t.Errorf("asked %+v", ask)
	}
	kinds := []event.OptionKind{}
	for _, o := range body.Options {
		kinds = append(kinds, o.Kind)
	}
	if want := []event.OptionKind{event.AllowOnce, event.AllowAlways, event.RejectOnce, event.RejectAlways}; !reflect.DeepEqual(kinds, want) {
		t.Errorf("options %v", kinds)
	}
	if it := x.items()[0]; it.Key != "c1" || it.Status != event.Pending {
		t.Errorf("the call %+v", it)
	}
	if err := x.s.Answer(t.Context(), ask.Key, provider.Answer{Option: "o9"}); code(err) != "invalid" {
		t.Errorf("an option that is not offered: %v", err)
	}
	if err := x.s.Answer(t.Context(), ask.Key, provider.Answer{Option: "o3"}); err != nil {
		t.Fatal(err)
	}
	if got := outcome(t, x.a.expect("")); got != "selected o3" {
		t.Errorf("answered %s", got)
	}
	if err := x.s.Answer(t.Context(), ask.Key, provider.Answer{Option: "o1"}); !errors.Is(err, provider.ErrNoRequest) {
		t.Errorf("a second answer: %v", err)
	}
	// The denied call is not mentioned again, as with Gemini CLI.
	x.a.update(chunk("then not"))
	denied := x.until(func(e provider.Event) bool { return e.Item != nil && e.Item.Key == "c1" }).Item
	if denied.Status != event.Failed || denied.Body.Tool.Error != "Denied." {
		t.Errorf("the denied call %+v", denied)
	}
	x.a.reply(prompt, endTurn)
	x.end()
}

func TestPermissionEndsOtherwise(t *testing.T) {
	tests := []struct {
		name string
		do   func(x *setup, key string, prompt line)
		want string
	}{
		{"interrupt", func(x *setup, _ string, _ line) { _ = x.s.Interrupt(x.t.Context()) }, "cancelled "},
		{"cancelled by the chat", func(x *setup, key string, _ line) {
			_ = x.s.Answer(x.t.Context(), key, provider.Answer{Cancelled: true})
		}, "cancelled "},
		{"the agent takes it back", func(x *setup, key string, _ line) {
			x.a.write(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":7}}`)
			x.until(func(e provider.Event) bool { return e.Withdrawn == key })
		}, "cancelled "},
		{"the turn ends", func(x *setup, key string, prompt line) {
			x.a.reply(prompt, endTurn)
			x.until(func(e provider.Event) bool { return e.Withdrawn == key })
		}, "cancelled "},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			x := plainSession(t)
			prompt := x.send(provider.Input{Text: "hi"})
			x.a.request(7, "session/request_permission", permission("execute", fourOptions))
			key := x.until(func(e provider.Event) bool { return e.Request != nil }).Request.Key
			test.do(x, key, prompt)
			if got := outcome(t, x.a.expect("")); got != test.want {
				t.Errorf("answered %q", got)
			}
			if err := x.s.Answer(t.Context(), key, provider.Answer{Option: "o1"}); !errors.Is(err, provider.ErrNoRequest) {
				t.Errorf("a late answer: %v", err)
			}
		})
	}
}

// A request that comes while the turn is being interrupted is not put to the
// user any more.
func TestPermissionAfterInterrupt(t *testing.T) {
	x := plainSession(t)
	x.send(provider.Input{Text: "hi"})
	if err := x.s.Interrupt(t.Context()); err != nil {
		t.Fatal(err)
	}
	x.a.expect("session/cancel")
	x.a.request(7, "session/request_permission", permission("execute", fourOptions))
	if got := outcome(t, x.a.expect("")); got != "cancelled " {
		t.Errorf("answered %s", got)
	}
}

// Without a mode of the agent's own, we answer where the permission mode
// says so, and only ever "once".
func TestPermissionByMode(t *testing.T) {
	onlyAlways := `"options":[{"optionId":"o2","name":"Always","kind":"allow_always"},{"optionId":"o3","name":"No","kind":"reject_once"}]`
	tests := []struct {
		mode          provider.Permission
		session       string
		kind, options string
		asks          bool
	}{
		{provider.Ask, `{"sessionId":"s1"}`, "edit", fourOptions, true},
		{provider.AcceptEdits, `{"sessionId":"s1"}`, "edit", fourOptions, false},
		{provider.AcceptEdits, `{"sessionId":"s1"}`, "execute", fourOptions, true},
		{provider.AcceptEdits, `{"sessionId":"s1"}`, "delete", fourOptions, true},
		{provider.Full, `{"sessionId":"s1"}`, "execute", fourOptions, false},
		{provider.Full, `{"sessionId":"s1"}`, "execute", onlyAlways, true},
		{provider.Full, `{"sessionId":"s1","modes":{"currentModeId":"yolo","availableModes":[{"id":"yolo","name":"x"}]}}`, "execute", fourOptions, true},
	}
	for _, test := range tests {
		t.Run(string(test.mode)+" "+test.kind, func(t *testing.T) {
			x := openedSession(t, provider.Spec{Mode: test.mode}, `{}`, test.session)
			x.send(provider.Input{Text: "hi"})
			x.a.request(7, "session/request_permission", permission(test.kind, test.options))
			if test.asks {
				x.until(func(e provider.Event) bool { return e.Request != nil })
				return
			}
			if got := outcome(t, x.a.expect("")); got != "selected o1" {
				t.Errorf("answered %s", got)
			}
		})
	}
}

func TestMalformedRequests(t *testing.T) {
	tests := []struct {
		method, params string
		code           int
	}{
		{"session/request_permission", `{"toolCall":{"toolCallId":"c1"},"options":[]}`, wire.CodeInvalidParams},
		{"session/request_permission", `[]`, wire.CodeInvalidParams},
		{"fs/read_text_file", `{"path":1}`, wire.CodeInvalidParams},
		{"fs/write_text_file", `{}`, wire.CodeInvalidParams},
		{"terminal/create", `{"command":" "}`, wire.CodeInvalidParams},
		{"terminal/create", `{"command":"x","cwd":"/"}`, wire.CodeInvalidParams},
		{"terminal/create", `{"command":"x","env":[{"name":"A=B","value":""}]}`, wire.CodeInvalidParams},
		{"terminal/output", `{"terminalId":"none"}`, codeNotFound},
		{"elicitation/create", `{"mode":"url","message":"x","url":"http://x"}`, wire.CodeInvalidParams},
		{"hologram/show", `{}`, wire.CodeNoMethod},
	}
	x := plainSession(t)
	x.send(provider.Input{Text: "hi"})
	go func() {
		for range x.s.events {
		}
	}()
	for _, test := range tests {
		x.a.request(7, test.method, test.params)
		var fault wire.RPCError
		if l := x.a.expect(""); json.Unmarshal(l.Error, &fault) != nil || fault.Code != test.code {
			t.Errorf("%s %s: %s", test.method, test.params, l.Error)
		}
	}
}

const colourForm = `{"sessionId":"s1","mode":"form","message":"Which?","requestedSchema":{"type":"object","required":["z"],"properties":{
	"z":{"type":"string","title":"Colour","description":"Which colour?","oneOf":[{"const":"r","title":"Red"},{"const":"g","title":"Green"}]},
	"y":{"type":"array","items":{"type":"string","enum":["a","b"]}},
	"x":{"type":"boolean"},"n":{"type":"integer"},"f":{"type":"number"},"t":{"type":"string","format":"password"}}}}`

func TestQuestions(t *testing.T) {
	x := plainSession(t)
	x.send(provider.Input{Text: "hi"})
	x.a.request(7, "elicitation/create", colourForm)
	ask := x.until(func(e provider.Event) bool { return e.Request != nil }).Request
	var ids []string
	for _, q := range ask.Body.Questions {
		ids = append(ids, q.ID)
	}
	if got := strings.Join(ids, ""); got != "zyxnft" || ask.Kind != event.Question || ask.Body.Title != "Which?" {
		t.Fatalf("asked %+v", ask)
	}
	q := ask.Body.Questions
	if q[0].Header != "Colour" || q[0].Text != "Which colour?" || q[0].FreeText || q[0].Choices[1] != (event.Choice{Value: "g", Label: "Green"}) ||
		!q[1].Multiple || len(q[2].Choices) != 2 || !q[3].FreeText || !q[5].Secret {
		t.Errorf("questions %+v", q)
	}
	for name, wrong := range map[string]map[string][]string{
		"missing":        {"y": {"a"}},
		"not a choice":   {"z": {"blue"}},
		"not one of":     {"z": {"r"}, "y": {"c"}},
		"not a number":   {"z": {"r"}, "n": {"1.5"}},
		"more than one":  {"z": {"r", "g"}},
		"not a yes":      {"z": {"r"}, "x": {"maybe"}},
		"not a float":    {"z": {"r"}, "f": {"x"}},
		"answers itself": {"unheard": {"r"}},
	} {
		if err := x.s.Answer(t.Context(), ask.Key, provider.Answer{Answers: wrong}); code(err) != "invalid" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := x.s.Answer(t.Context(), ask.Key, provider.Answer{Answers: map[string][]string{
		"z": {"g"}, "y": {"a", "b"}, "x": {"true"}, "n": {"3"}, "f": {"0.5"}, "t": {"s<e>cret"},
	}}); err != nil {
		t.Fatal(err)
	}
	var got any
	if err := json.Unmarshal(x.a.expect("").Result, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"action": "accept", "content": map[string]any{
		"z": "g", "y": []any{"a", "b"}, "x": true, "n": 3.0, "f": 0.5, "t": "s<e>cret",
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("answered %v", got)
	}
}

func TestQuestionLeftOpen(t *testing.T) {
	for answer, want := range map[*provider.Answer]string{
		{}:                "decline",
		{Cancelled: true}: "cancel",
	} {
		x := plainSession(t)
		x.send(provider.Input{Text: "hi"})
		x.a.request(7, "elicitation/create", colourForm)
		ask := x.until(func(e provider.Event) bool { return e.Request != nil }).Request
		if err := x.s.Answer(t.Context(), ask.Key, *answer); err != nil {
			t.Fatal(err)
		}
		if l := x.a.expect(""); !strings.Contains(string(l.Result), `"action":"`+want+`"`) {
			t.Errorf("answered %s", l.Result)
		}
	}
}
