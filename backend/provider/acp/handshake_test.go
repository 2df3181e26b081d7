package acp

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"berth/backend/process"
	"berth/backend/provider"
)

// tryOpen opens a session against a script of the agent.
func tryOpen(t *testing.T, spec provider.Spec, entry Entry, clock provider.Clock, script func(a *agent)) (*setup, error) {
	t.Helper()
	x := begin(t, spec, clock, entry)
	played := make(chan struct{})
	go func() { defer close(played); script(x.a) }()
	err := x.s.open(t.Context())
	<-played
	return x, err
}

func TestHandshake(t *testing.T) {
	x, err := tryOpen(t, provider.Spec{}, testEntry, newHandClock(), func(a *agent) {
		hello := a.expect("initialize")
		for _, want := range []string{`"protocolVersion":1`, `"readTextFile":true`, `"writeTextFile":true`, `"terminal":true`, `"form":{}`, `"name":"berth"`} {
			if !strings.Contains(string(hello.Params), want) {
				t.Errorf("initialize lacks %s: %s", want, hello.Params)
			}
		}
		// A sign-in method and an option of kinds that are not known.
		a.reply(hello, `{"protocolVersion":1,"authMethods":[{"type":"ceremony","id":"x","name":"X"}],"agentCapabilities":{"loadSession":true,"promptCapabilities":{"image":true},"hologram":{}}}`)
		a.update(`{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"/go","description":"d","input":{"hint":"h"}}]}`)
		a.reply(a.expect("session/new"), `{"sessionId":"s1","configOptions":[{"id":"h","type":"hologram","category":"model","currentValue":{"x":1}},
			{"id":"m","name":"Model","type":"select","category":"model","currentValue":"m1","options":[{"group":"g","name":"G","options":[{"value":"m1","name":"One"}]},{"value":"m2","name":"Two"}]}]}`)
	})
	if err != nil {
		t.Fatal(err)
	}
	if e := x.until(func(e provider.Event) bool { return e.Conversation != "" }); e.Conversation != "s1" {
		t.Errorf("conversation %s", e.Conversation)
	}
	commands := *x.until(func(e provider.Event) bool { return e.Commands != nil }).Commands
	if len(commands) != 1 || commands[0].Name != "go" || commands[0].Hint != "h" {
		t.Errorf("commands %+v", commands)
	}
	l := x.s.learned()
	if len(l.models) != 2 || l.models[0].Value != "m1" || l.models[1].Label != "Two" || !l.capabilities.Resume || !l.capabilities.Images || l.capabilities.Fork || !l.capabilities.ModelPerTurn {
		t.Errorf("learned %+v", l)
	}
}

func TestStartFailures(t *testing.T) {
	hello := `{"protocolVersion":1,"agentCapabilities":{},"authMethods":[{"id":"x","name":"Sign in with X"},{"id":"y"}]}`
	tests := []struct {
		name   string
		spec   provider.Spec
		script func(a *agent)
		code   string
		says   string
	}{
		{"another version", provider.Spec{}, func(a *agent) { a.reply(a.expect("initialize"), `{"protocolVersion":2}`) }, "too_old", "version 2"},
		{"signed out", provider.Spec{}, func(a *agent) {
			a.reply(a.expect("initialize"), hello)
			a.refuse(a.expect("session/new"), `{"code":-32000,"message":"Authentication required"}`)
		}, "signed_out", "Sign in with X, y"},
		{"exits", provider.Spec{}, func(a *agent) {
			a.expect("initialize")
			a.p.stderr = "first\nno config found\n"
			a.p.end(process.Exit{Code: 2})
		}, "start_failed", "no config found"},
		{"prints something else and exits", provider.Spec{}, func(a *agent) {
			a.expect("initialize")
			a.write("usage: agent [options]")
			a.p.end(process.Exit{Code: 2})
		}, "start_failed", "usage: agent"},
		{"garbage", provider.Spec{}, func(a *agent) {
			a.expect("initialize")
			for range maxGarbage {
				a.write("loading ...")
			}
		}, "protocol", "200 lines"},
		{"no resume", provider.Spec{Resume: "s0"}, func(a *agent) { a.reply(a.expect("initialize"), hello) }, "not_resumable", "cannot take up"},
		{"no fork", provider.Spec{Resume: "s0", Fork: true}, func(a *agent) { a.reply(a.expect("initialize"), hello) }, provider.ErrUnsupported.Error(), ""},
		{"resume of what is gone", provider.Spec{Resume: "s0"}, func(a *agent) {
			a.reply(a.expect("initialize"), `{"protocolVersion":1,"agentCapabilities":{"sessionCapabilities":{"resume":{}}}}`)
			a.refuse(a.expect("session/resume"), `{"code":-32602,"message":"Session not found"}`)
		}, "not_resumable", "Session not found"},
		{"fork that is none", provider.Spec{Resume: "s0", Fork: true}, func(a *agent) {
			a.reply(a.expect("initialize"), `{"protocolVersion":1,"agentCapabilities":{"sessionCapabilities":{"fork":{}}}}`)
			a.reply(a.expect("session/fork"), `{"sessionId":"s0"}`)
		}, "protocol", "of its own"},
		{"no name", provider.Spec{}, func(a *agent) { a.greet(`{}`, `{}`) }, "protocol", "naming"},
		{"mode it has not", provider.Spec{Mode: provider.PlanOnly}, func(a *agent) { a.greet(`{}`, `{"sessionId":"s1"}`) }, "mode_unsupported", "plan"},
		{"model it has not", provider.Spec{Model: "m9"}, func(a *agent) { a.greet(`{}`, `{"sessionId":"s1"}`) }, "unknown_model", "m9"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := tryOpen(t, test.spec, testEntry, newHandClock(), test.script)
			if err == nil || code(err) != test.code || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%s: %v", code(err), err)
			}
		})
	}
}

func TestSilentStart(t *testing.T) {
	clock := newHandClock()
	_, err := tryOpen(t, provider.Spec{}, testEntry, clock, func(a *agent) {
		a.expect("initialize")
		a.write("Checking for updates …")
		clock.pass(startTimeout)
	})
	if code(err) != "no_answer" {
		t.Errorf("%v", err)
	}
}

// An agent that starts nothing in a folder that is gone.
func TestFolderIsGone(t *testing.T) {
	_, err := start(t.Context(), provider.Host{Clock: newHandClock()}, provider.Spec{Cwd: t.TempDir() + "/none"}, testEntry, "none")
	if code(err) != "cwd_missing" {
		t.Errorf("%v", err)
	}
}

func TestSignInWithoutTheUser(t *testing.T) {
	entry := testEntry
	entry.Authenticate = &Authenticate{Method: "key", Env: "TEST_KEY"}
	entry.Env = map[string]string{"TEST_KEY": "k"}
	_, err := tryOpen(t, provider.Spec{}, entry, newHandClock(), func(a *agent) {
		a.reply(a.expect("initialize"), `{"protocolVersion":1}`)
		a.refuse(a.expect("session/new"), `{"code":-32000,"message":"Authentication required"}`)
		if l := a.expect("authenticate"); string(l.Params) != `{"methodId":"key"}` {
			t.Errorf("authenticate %s", l.Params)
		} else {
			a.reply(l, `{}`)
		}
		a.reply(a.expect("session/new"), `{"sessionId":"s1"}`)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// History that an agent replays, before or after its reply, is not told
// again; what it says of its state is.
func TestLoad(t *testing.T) {
	clock := newHandClock()
	x, err := tryOpen(t, provider.Spec{Resume: "s1"}, testEntry, clock, func(a *agent) {
		a.reply(a.expect("initialize"), `{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}`)
		load := a.expect("session/load")
		if !strings.Contains(string(load.Params), `"sessionId":"s1"`) || !strings.Contains(string(load.Params), `"mcpServers":[]`) {
			t.Errorf("load %s", load.Params)
		}
		a.update(`{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"old question"}}`)
		a.update(chunk("old answer"))
		drain(clock)
		a.reply(load, `{}`)
		<-clock.set
		a.update(`{"sessionUpdate":"tool_call","toolCallId":"old","title":"old"}`)
		a.update(`{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"go"}]}`)
		clock.pass(replayQuiet) // not yet quiet
		<-clock.set
		clock.pass(replayQuiet)
	})
	if err != nil {
		t.Fatal(err)
	}
	prompt := x.send(provider.Input{Text: "new"})
	x.a.update(chunk("new answer"))
	x.a.reply(prompt, endTurn)
	x.end()
	commands := false
	for _, e := range x.seen {
		commands = commands || e.Commands != nil
		if e.Text != nil && e.Text.Text != "new answer" || e.Item != nil && e.Item.Key == "old" {
			t.Errorf("told again: %+v %+v", e.Text, e.Item)
		}
	}
	if !commands {
		t.Error("the commands were lost")
	}
}

func drain(c *handClock) {
	for {
		select {
		case <-c.set:
		default:
			return
		}
	}
}

func TestModelsModesAndEfforts(t *testing.T) {
	session := `{"sessionId":"s1","models":{"currentModelId":"m1","availableModels":[{"modelId":"m1","name":"One"},{"modelId":"m2","name":"Two"}]},
		"modes":{"currentModeId":"default","availableModes":[{"id":"default","name":"D"},{"id":"autoEdit","name":"A"},{"id":"plan","name":"P"}]},
		"configOptions":[{"id":"think","name":"T","type":"select","category":"thought_level","currentValue":"low","options":[{"value":"low","name":"L"},{"value":"high","name":"H"}]}]}`
	x := openedSession(t, provider.Spec{}, `{}`, session)
	sent := make(chan error, 1)
	send := func(in provider.Input) {
		go func() { _, err := x.s.Send(t.Context(), in); sent <- err }()
	}
	send(provider.Input{Text: "a", Model: "m2", Effort: "high", Mode: provider.AcceptEdits})
	for _, want := range []struct{ method, params string }{
		{"session/set_mode", `"modeId":"autoEdit"`},
		{"session/set_model", `"modelId":"m2"`},
		{"session/set_config_option", `"configId":"think"`},
	} {
		l := x.a.expect(want.method)
		if !strings.Contains(string(l.Params), want.params) {
			t.Errorf("%s %s", want.method, l.Params)
		}
		x.a.reply(l, `{}`)
	}
	prompt := x.a.expect("session/prompt")
	x.a.reply(prompt, endTurn)
	x.end()
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	// Nothing is set again, and empty is the agent's own choice again.
	send(provider.Input{Text: "b", Effort: "high", Mode: provider.AcceptEdits})
	l := x.a.expect("session/set_model")
	if !strings.Contains(string(l.Params), `"modelId":"m1"`) {
		t.Errorf("set_model %s", l.Params)
	}
	x.a.reply(l, `{}`)
	prompt = x.a.expect("session/prompt")
	x.a.reply(prompt, endTurn)
	x.end()
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	// The agent left the mode by itself: it is set anew.
	x.a.update(`{"sessionUpdate":"current_mode_update","currentModeId":"default"}`)
	x.until(func(e provider.Event) bool { return e.Active })
	send(provider.Input{Text: "c", Effort: "high", Mode: provider.AcceptEdits})
	x.a.refuse(x.a.expect("session/set_mode"), `{"code":-32603,"message":"no"}`)
	if err := <-sent; code(err) != "failed" {
		t.Errorf("a mode that could not be set: %v", err)
	}
	send(provider.Input{Text: "d", Mode: provider.Full})
	l = x.a.expect("session/set_config_option") // effort back to the agent's own
	x.a.reply(l, `{}`)
	x.a.expect("session/prompt")
	<-sent
}

func TestChoose(t *testing.T) {
	modes := func(current string, ids ...string) setting {
		s := setting{current: current}
		for _, id := range ids {
			s.values = append(s.values, configValue{Value: id})
		}
		return s
	}
	gemini := modes("default", "default", "autoEdit", "yolo", "plan")
	zed := modes("ask", "ask", "architect", "code")
	own := Entry{Title: "x", Modes: map[provider.Permission]string{provider.Full: "code"}}
	tests := []struct {
		name   string
		entry  Entry
		modes  setting
		want   provider.Permission
		mode   string
		native bool
		refuse bool
	}{
		{"ask", testEntry, gemini, provider.Ask, "default", true, false},
		{"edits", testEntry, gemini, provider.AcceptEdits, "autoEdit", true, false},
		{"plan", testEntry, gemini, provider.PlanOnly, "plan", true, false},
		{"full", testEntry, gemini, provider.Full, "yolo", true, false},
		{"architect plans", testEntry, zed, provider.PlanOnly, "architect", true, false},
		{"edits by us in its asking mode", testEntry, zed, provider.AcceptEdits, "ask", false, false},
		{"full by us in its asking mode", testEntry, zed, provider.Full, "ask", false, false},
		{"full by the entry", own, zed, provider.Full, "code", true, false},
		{"no modes ask", testEntry, setting{}, provider.Ask, "", false, false},
		{"no modes edits", testEntry, setting{}, provider.AcceptEdits, "", false, false},
		{"no modes plan", testEntry, setting{}, provider.PlanOnly, "", false, true},
		{"unknown modes", testEntry, modes("careful", "careful", "bold"), provider.Ask, "", false, false},
		{"starts loose", testEntry, modes("yolo", "yolo", "bold"), provider.Ask, "", false, true},
		{"starts with edits", testEntry, modes("auto-edit", "auto-edit", "bold"), provider.Ask, "", false, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p, err := choose(test.entry, test.modes, test.want)
			if (err != nil) != test.refuse || err == nil && (p.mode != test.mode || p.native != test.native) {
				t.Errorf("%+v, %v", p, err)
			}
		})
	}
}

func TestBlocks(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a b.txt": "héllo", "p.png": "\x89PNG", "v.bin": "\x00\x01", "s.svg": "<svg/>"} {
		writeFile(t, dir+"/"+name, text)
	}
	at := func(name, kind string, size int64) provider.Attachment {
		return provider.Attachment{Path: dir + "/" + name, Name: name, Type: kind, Size: size}
	}
	all := []provider.Attachment{at("a b.txt", "text/plain", 6), at("p.png", "image/png", 4), at("v.bin", "application/octet-stream", 2), at("s.svg", "image/svg+xml", 6)}
	tests := []struct {
		caps string
		want []string
	}{
		{`{}`, []string{"text", "resource_link", "resource_link", "resource_link", "resource_link"}},
		{`{"promptCapabilities":{"image":true,"embeddedContext":true}}`, []string{"text", "resource", "image", "resource_link", "resource"}},
	}
	for _, test := range tests {
		x := openedSession(t, provider.Spec{}, test.caps, `{"sessionId":"s1"}`)
		const text = "  <b>\u2028\t世界\n"
		l := x.send(provider.Input{Text: text, Attachments: all})
		var prompt struct {
			Prompt []struct{ Type, Text, URI, Data string }
		}
		if err := json.Unmarshal(l.Params, &prompt); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, b := range prompt.Prompt {
			got = append(got, b.Type)
		}
		if strings.Join(got, " ") != strings.Join(test.want, " ") || prompt.Prompt[0].Text != text {
			t.Errorf("%s: %v, text %q", test.caps, got, prompt.Prompt[0].Text)
		}
		if b := prompt.Prompt[1]; b.Type == "resource_link" && !strings.HasSuffix(b.URI, "/a%20b.txt") {
			t.Errorf("link %s", b.URI)
		}
	}
	x := plainSession(t)
	d, err := x.s.Send(t.Context(), provider.Input{Text: "x", Attachments: []provider.Attachment{at("gone", "text/plain", 1)}})
	if d != provider.NotSent || code(err) != "attachment" {
		t.Errorf("a file that is gone: %v, %v", d, err)
	}
}

// The chat's instructions go once, in a block of their own, and not before a
// command.
func TestInstructions(t *testing.T) {
	x := openedSession(t, provider.Spec{Instructions: "Be kind."}, `{"sessionCapabilities":{"resume":{}}}`, `{"sessionId":"s1"}`)
	texts := func(l line) string {
		var prompt struct{ Prompt []struct{ Text string } }
		if err := json.Unmarshal(l.Params, &prompt); err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, b := range prompt.Prompt {
			list = append(list, b.Text)
		}
		return strings.Join(list, "|")
	}
	for _, turn := range []struct{ text, want string }{{"/help", "/help"}, {"one", "Be kind.|one"}, {"two", "two"}} {
		l := x.send(provider.Input{Text: turn.text})
		if got := texts(l); got != turn.want {
			t.Errorf("%s: %s", turn.text, got)
		}
		x.a.reply(l, endTurn)
		x.end()
	}
	for instructions, want := range map[string]string{"Be kind.": "three", "Be brief.": "Be brief.|three"} {
		again := begin(t, provider.Spec{Resume: "s1", Instructions: instructions}, newHandClock(), testEntry)
		again.s.host.Scratch = x.s.host.Scratch
		go func() {
			again.a.reply(again.a.expect("initialize"), `{"protocolVersion":1,"agentCapabilities":{"sessionCapabilities":{"resume":{}}}}`)
			again.a.reply(again.a.expect("session/resume"), `{}`)
		}()
		if err := again.s.open(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := texts(again.send(provider.Input{Text: "three"})); got != want {
			t.Errorf("resumed with %q: %s", instructions, got)
		}
	}
}

func TestSendTwice(t *testing.T) {
	x := plainSession(t)
	x.send(provider.Input{Text: "one"})
	if d, err := x.s.Send(t.Context(), provider.Input{Text: "two"}); d != provider.NotSent || err == nil {
		t.Errorf("%v, %v", d, err)
	}
	if d, err := x.s.Steer(t.Context(), provider.Input{}); d != provider.NotSent || !errors.Is(err, provider.ErrUnsupported) {
		t.Errorf("%v, %v", d, err)
	}
}

func TestClose(t *testing.T) {
	x := plainSession(t)
	x.send(provider.Input{Text: "one"})
	closed := make(chan error, 1)
	go func() { closed <- x.s.Close(t.Context()) }()
	if end := x.until(func(e provider.Event) bool { return e.Closed != nil }).Closed; end.Err != nil {
		t.Errorf("closed %+v", end)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if _, open := <-x.s.events; open {
		t.Error("something follows Closed")
	}
	if d, err := x.s.Send(t.Context(), provider.Input{Text: "late"}); d != provider.NotSent || err == nil {
		t.Errorf("after the end: %v, %v", d, err)
	}
}

func TestWatchdog(t *testing.T) {
	x := plainSession(t)
	x.send(provider.Input{Text: "hi"})
	x.clock.pass(silenceLimits.First - time.Second)
	x.a.update(chunk("x"))
	x.until(func(e provider.Event) bool { return e.Text != nil })
	x.clock.pass(silenceLimits.Idle - time.Second)
	x.a.update(`{"sessionUpdate":"tool_call","toolCallId":"c1","title":"make","status":"in_progress"}`)
	x.until(func(e provider.Event) bool { return e.Item != nil && e.Item.Key == "c1" })
	x.clock.pass(silenceLimits.Idle + time.Second) // a tool may be silent
	x.a.request(7, "session/request_permission", permission("execute", fourOptions))
	ask := x.until(func(e provider.Event) bool { return e.Request != nil }).Request
	x.clock.pass(silenceLimits.Tool + silenceLimits.Idle) // the user may take their time
	if err := x.s.Answer(t.Context(), ask.Key, provider.Answer{Option: "o1"}); err != nil {
		t.Fatal(err)
	}
	x.a.expect("")
	x.a.update(`{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed"}`)
	x.until(func(e provider.Event) bool { return e.Item != nil && e.Item.Status == "completed" })
	x.clock.pass(silenceLimits.Idle)
	x.a.expect("session/cancel")
	x.clock.pass(cancelGrace)
	closed := x.until(func(e provider.Event) bool { return e.Closed != nil }).Closed
	if code(closed.Err) != "no_answer" {
		t.Errorf("closed %+v", closed)
	}
}

func TestWatchdogEndsTheTurn(t *testing.T) {
	x := plainSession(t)
	prompt := x.send(provider.Input{Text: "hi"})
	x.clock.pass(silenceLimits.First)
	x.a.expect("session/cancel")
	x.a.reply(prompt, `{"stopReason":"cancelled"}`)
	if end := x.end(); end.State != failed || code(end.Err) != "no_answer" {
		t.Errorf("ended %+v", end)
	}
	x.clock.pass(cancelGrace) // the agent lives on
	prompt = x.send(provider.Input{Text: "again"})
	x.a.reply(prompt, endTurn)
	if end := x.end(); end.State != completed {
		t.Errorf("ended %+v", end)
	}
}
