package claude

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"berth/backend/event"
	"berth/backend/process"
	"berth/backend/provider"
)

func ask() provider.Spec { return provider.Spec{Cwd: "/", Mode: provider.Ask} }

func TestAcceptanceIsTheExactMessage(t *testing.T) {
	replay := func(uuid string) string {
		return `{"type":"user","isReplay":true,"uuid":"` + uuid + `","message":{"role":"user","content":"x"}}`
	}
	cases := []struct {
		name  string
		line  func(uuid string) string
		taken bool
	}{
		{"started", func(u string) string { return lifecycleOf(u, "started") }, true},
		{"echoed", replay, true},
		{"named by the request", func(u string) string {
			return `{"type":"system","subtype":"status","status":"requesting","user_message_uuids":["` + u + `"]}`
		}, true},
		{"only queued", func(u string) string { return lifecycleOf(u, "queued") }, false},
		{"another message", func(string) string { return replay("11111111-1111-4111-8111-111111111111") }, false},
		{"any output", func(string) string { return saying("hello") }, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p, _, k := stubbed(t, ask())
			go k.Send(t.Context(), provider.Input{Turn: "turn_1", Text: "x", Mode: provider.Ask})
			uuid := p.hearsOf("user").UUID
			p.says(c.line(uuid))
			p.says(`{"type":"mark"}`)
			_, n := k.until(0, "the mark", func(e provider.Event) bool { return e.Raw != nil })
			taken := false
			for _, e := range k.events()[:n] {
				taken = taken || e.Accepted != nil && e.Accepted.Turn == "turn_1" && e.Accepted.ProviderTurn == uuid
			}
			if taken != c.taken {
				t.Errorf("accepted: %v", taken)
			}
		})
	}
}

func TestResultsOfOtherTurnsEndNone(t *testing.T) {
	p, _, k := stubbed(t, ask())
	uuid := begun(t, p, k, "turn_1")
	p.says(resultOf("11111111-1111-4111-8111-111111111111", ""))
	p.says(saying("the answer"))
	p.says(resultOf(uuid, ""))
	_, n := k.until(0, "end", isEnd)
	// A turn that the CLI began by itself: no message is named.
	p.says(saying("by myself"))
	p.says(`{"type":"result","subtype":"success","num_turns":1,"result":"x"}`)
	uuid = begun(t, p, k, "turn_2")
	p.says(saying("again"))
	p.says(resultOf(uuid, ""))
	k.until(n, "second end", isEnd)
	ends := 0
	for _, e := range k.events() {
		if e.TurnEnded != nil {
			ends++
		}
	}
	if ends != 2 {
		t.Errorf("%d ends of two turns: %s", ends, k.story(0))
	}
}

func TestChangedFieldsDoNotHideAResult(t *testing.T) {
	p, _, k := stubbed(t, ask())
	uuid := begun(t, p, k, "turn_1")
	p.says(saying("the answer"))
	p.says(resultOf(uuid, `,"total_cost_usd":"0.10","usage":{"input_tokens":"many","output_tokens":7},"errors":{"a":1}`))
	e, _ := k.until(0, "end", isEnd)
	if e.TurnEnded.State != "completed" {
		t.Errorf("%+v", e.TurnEnded)
	}
}

func TestSecondSendIsRefused(t *testing.T) {
	p, _, k := stubbed(t, ask())
	begun(t, p, k, "turn_1")
	if d, err := k.Send(t.Context(), provider.Input{Turn: "turn_2", Text: "y", Mode: provider.Ask}); d != provider.NotSent || err == nil {
		t.Errorf("%v %v", d, err)
	}
}

// A message that the CLI has not begun with is taken back, and its turn has
// an end although no result will come.
func TestInterruptBeforeTheMessageIsTaken(t *testing.T) {
	p, _, k := stubbed(t, ask())
	go k.Send(t.Context(), provider.Input{Turn: "turn_1", Text: "x", Mode: provider.Ask})
	uuid := p.hearsOf("user").UUID
	p.says(lifecycleOf(uuid, "queued"))
	stopped := make(chan error, 1)
	go func() { stopped <- k.Interrupt(t.Context()) }()
	back := p.hearsOf("cancel_async_message")
	if !strings.Contains(back.raw, uuid) {
		t.Errorf("%s", back.raw)
	}
	p.says(lifecycleOf(uuid, "cancelled"))
	p.says(reply200(back.ID, `{"cancelled":true}`))
	p.says(reply200(p.hearsOf("interrupt").ID, `{"still_queued":[]}`))
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	e, _ := k.until(0, "end", isEnd)
	if e.TurnEnded.State != "stopped" {
		t.Errorf("%+v", e.TurnEnded)
	}
	begun(t, p, k, "turn_2")
}

func TestSteerWithoutATurn(t *testing.T) {
	_, _, k := stubbed(t, ask())
	if d, err := k.Steer(t.Context(), provider.Input{Turn: "turn_2", Text: "y"}); d != provider.NotSent || err == nil {
		t.Errorf("%v %v", d, err)
	}
}

func TestWatchdogs(t *testing.T) {
	begin := func(t *testing.T, p *stub, k *talk) { begun(t, p, k, "turn_1") }
	speak := func(t *testing.T, p *stub, k *talk) {
		begin(t, p, k)
		p.says(saying("hello"))
		k.until(0, "answer", func(e provider.Event) bool { return e.Item != nil })
	}
	cases := []struct {
		name  string
		until func(*testing.T, *stub, *talk)
		limit time.Duration
		says  string
		ended bool // the turn is told as ended, since the agent had taken it
	}{
		{"not taken", func(t *testing.T, p *stub, k *talk) {
			go k.Send(t.Context(), provider.Input{Turn: "turn_1", Text: "x", Mode: provider.Ask})
			p.hearsOf("user")
		}, limits.First, "did not take the message", false},
		{"taken, no answer", begin, limits.First, "nothing came back within 10 minutes", true},
		{"silent after a word", speak, limits.Idle, "no sign of life for 30 minutes", true},
		{"a tool that hangs", func(t *testing.T, p *stub, k *talk) {
			speak(t, p, k)
			p.says(`{"type":"assistant","uuid":"u2","message":{"id":"m2","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"x"}}]}}`)
			k.until(0, "call", func(e provider.Event) bool { return e.Item != nil && e.Item.Kind == event.ToolCall })
		}, limits.Tool, "no sign of life for 6 hours", true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p, clock, k := stubbed(t, ask())
			c.until(t, p, k)
			clock.pass(c.limit - time.Second)
			select {
			case <-k.end:
				t.Fatal("too early")
			default:
			}
			clock.pass(time.Second)
			e, _ := k.until(0, "end of the session", isClosed)
			if e.Closed.Err == nil || e.Closed.Err.Code != "no_answer" || !strings.Contains(e.Closed.Err.Text, c.says) {
				t.Errorf("closed: %+v", e.Closed.Err)
			}
			ended := false
			for _, e := range k.events() {
				ended = ended || e.TurnEnded != nil && e.TurnEnded.State == "failed" && e.TurnEnded.Err.Code == "no_answer"
			}
			if ended != c.ended {
				t.Errorf("ended: %v", ended)
			}
		})
	}
}

const askTouch = `{"type":"control_request","request_id":"q1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"touch x"},"tool_use_id":"t1"}}`

func TestWatchdogPausesWhileTheHumanIsAsked(t *testing.T) {
	p, clock, k := stubbed(t, ask())
	uuid := begun(t, p, k, "turn_1")
	p.says(askTouch)
	e, n := k.until(0, "request", isRequest)
	clock.pass(100 * time.Hour)
	answered := make(chan error, 1)
	go func() { answered <- k.Answer(t.Context(), e.Request.Key, provider.Answer{Option: "allow_once"}) }()
	if l := p.hearsOf("control_response"); l.Response.ID != "q1" || !strings.Contains(string(l.Response.Response), `"behavior":"allow"`) {
		t.Errorf("answer: %s", l.raw)
	}
	if err := <-answered; err != nil {
		t.Fatal(err)
	}
	clock.pass(limits.First - time.Second)
	p.says(saying("done"))
	p.says(resultOf(uuid, ""))
	k.until(n, "end", isEnd)
}

func TestWithdrawnRequests(t *testing.T) {
	p, _, k := stubbed(t, ask())
	begun(t, p, k, "turn_1")
	p.says(askTouch)
	e, n := k.until(0, "request", isRequest)
	p.says(`{"type":"control_cancel_request","request_id":"q1"}`)
	k.until(n, "withdrawal", func(e provider.Event) bool { return e.Withdrawn == "q1" })
	if err := k.Answer(t.Context(), e.Request.Key, provider.Answer{Option: "allow_once"}); !errors.Is(err, provider.ErrNoRequest) {
		t.Errorf("%v", err)
	}
	p.says(strings.Replace(askTouch, "q1", "q2", 1))
	k.until(n, "second request", isRequest)
	p.end()
	k.until(n, "withdrawal at the end", func(e provider.Event) bool { return e.Withdrawn == "q2" })
}

func TestUnknownRequestIsRefusedNotIgnored(t *testing.T) {
	p, _, _ := stubbed(t, ask())
	p.says(`{"type":"control_request","request_id":"x1","request":{"subtype":"from_the_future"}}`)
	if l := p.hearsOf("control_response"); l.Response.ID != "x1" || !strings.Contains(l.raw, `"subtype":"error"`) {
		t.Errorf("%s", l.raw)
	}
}

// The CLI names a conversation before it has written it. An id that no later
// process knows would make the chat unusable.
func TestConversationIsToldWhenItCanBeResumed(t *testing.T) {
	p, c := newStub(t), newClock()
	written := make(chan bool, 10)
	s := newSession(p, c, ask(), func(id string) bool { return id == "s1" && <-written })
	k := follow(t, s)
	told := func() int {
		n := 0
		for _, e := range k.events() {
			if e.Conversation != "" {
				n++
			}
		}
		return n
	}
	mark := func() {
		from := len(k.events())
		p.says(`{"type":"mark"}`)
		k.until(from, "the mark", func(e provider.Event) bool { return e.Raw != nil })
	}
	written <- false
	p.says(`{"type":"system","subtype":"init","session_id":"s1"}`)
	mark()
	if told() != 0 {
		t.Error("told before it was written")
	}
	p.says(`{"type":"system","subtype":"init","session_id":"s1"}`) // too soon to look again
	mark()
	c.pass(lookEvery)
	written <- true
	p.says(`{"type":"system","subtype":"init","session_id":"s1"}`)
	mark()
	if told() != 1 {
		t.Error("not told after it was written")
	}
}

func TestResultProvesTheConversation(t *testing.T) {
	p, _, k := stubbed(t, ask())
	uuid := begun(t, p, k, "turn_1")
	p.says(resultOf(uuid, ""))
	_, n := k.until(0, "end", isEnd)
	if !contains(k.events()[:n], `"Conversation":"s1"`) {
		t.Errorf("not told before the end: %s", k.story(0))
	}
}

func TestDeath(t *testing.T) {
	cases := []struct {
		name   string
		exit   process.Exit
		stderr string
		last   string // on stdout
		want   string
		detail string
	}{
		{"exit code", process.Exit{Code: 7}, "warm up\nit broke\n", "", "exit code 7", "it broke"},
		{"signal", process.Exit{Code: -1, Signal: "killed"}, "", "", "signal (killed)", ""},
		{"garbage", process.Exit{}, "", "Segmentation fault", "ended by itself", "Segmentation fault"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p, _, k := stubbed(t, ask())
			p.exit, p.stderr = c.exit, c.stderr
			begun(t, p, k, "turn_1")
			if c.last != "" {
				p.says(c.last)
			}
			p.end()
			e, _ := k.until(0, "end of the session", isClosed)
			if e.Closed.Err == nil || e.Closed.Err.Code != "agent_ended" || !strings.Contains(e.Closed.Err.Text, c.want) || e.Closed.Err.Detail != c.detail {
				t.Errorf("%+v", e.Closed.Err)
			}
			if e.Closed.Stderr != c.stderr || (e.Closed.ExitCode == nil) != (c.exit.Code < 0) {
				t.Errorf("%+v", e.Closed)
			}
		})
	}
}

func TestOutputEndsButTheProcessDoesNot(t *testing.T) {
	p, c, k := stubbed(t, ask())
	p.lingers = true
	for len(c.set) > 0 {
		<-c.set
	}
	p.end()
	<-c.set // the grace has begun
	c.pass(exitGrace)
	if e, _ := k.until(0, "end of the session", isClosed); e.Closed.Err == nil {
		t.Errorf("%+v", e.Closed)
	}
}

func TestCloseIsNoError(t *testing.T) {
	_, _, k := stubbed(t, ask())
	k.close()
	if e, _ := k.until(0, "end of the session", isClosed); e.Closed.Err != nil {
		t.Errorf("%+v", e.Closed.Err)
	}
	if err := k.Close(t.Context()); err != nil {
		t.Errorf("a second close: %v", err)
	}
	if d, err := k.Send(t.Context(), provider.Input{Turn: "turn_1", Text: "x", Mode: provider.Ask}); d != provider.NotSent || err == nil {
		t.Errorf("send after close: %v %v", d, err)
	}
}

// A chat that closes a session may have stopped reading its events.
func TestCloseWithoutAReader(t *testing.T) {
	p, c := newStub(t), newClock()
	s := newSession(p, c, ask(), func(string) bool { return false })
	go func() {
		for range 2 * eventBuffer {
			if _, err := io.WriteString(p.out, `{"type":"mark"}`+"\n"); err != nil {
				return
			}
		}
	}()
	closed := make(chan error, 1)
	for len(s.events) < eventBuffer { // the reader is held up
		<-time.After(time.Millisecond)
	}
	go func() { closed <- s.Close(context.Background()) }()
	for {
		select {
		case err := <-closed:
			if err != nil {
				t.Error(err)
			}
			for range s.Events() {
			}
			return
		case <-c.set:
			c.pass(drainGrace)
		}
	}
}

func TestAgentThatNeverAnswersItsStart(t *testing.T) {
	p, c := newStub(t), newClock()
	s := newSession(p, c, ask(), func(string) bool { return false })
	started := make(chan error, 1)
	go func() { started <- s.initialize(t.Context()) }()
	p.hears()
	p.says("I am not the program you think I am")
	for len(c.set) == 0 {
		<-time.After(time.Millisecond)
	}
	c.pass(startTimeout)
	var e *provider.Error
	if err := <-started; !errors.As(err, &e) || e.Code != "no_answer" || !strings.Contains(e.Text, "30 seconds") || e.Detail != "I am not the program you think I am" {
		t.Errorf("%#v", err)
	}
}

func TestAgentThatEndsAtItsStart(t *testing.T) {
	p, c := newStub(t), newClock()
	p.exit, p.stderr = process.Exit{Code: 1}, "warming up\nerror: unknown option '--x'\n"
	s := newSession(p, c, ask(), func(string) bool { return false })
	started := make(chan error, 1)
	go func() { started <- s.initialize(t.Context()) }()
	p.hears()
	p.end()
	var e *provider.Error
	if err := <-started; !errors.As(err, &e) || e.Code != "start_failed" || e.Detail != "error: unknown option '--x'" {
		t.Errorf("%#v", err)
	}
}

func TestDuplicateIsToldNotShownAsAnswered(t *testing.T) {
	p, _, k := stubbed(t, ask())
	go k.Send(t.Context(), provider.Input{Turn: "turn_1", Text: "x", Mode: provider.Ask})
	p.says(lifecycleOf(p.hearsOf("user").UUID, "completed"))
	e, _ := k.until(0, "end", isEnd)
	if e.TurnEnded.State != "failed" || e.TurnEnded.Err.Code != "already_delivered" {
		t.Errorf("%+v", e.TurnEnded)
	}
}

func TestUnknownLinesKeepNothingOfWhatTheySay(t *testing.T) {
	p, _, k := stubbed(t, ask())
	p.says(`{"type":"from_the_future","subtype":"new","text":"the secret prompt","n":1,"list":["the secret prompt"]}`)
	p.says(`{"type":"assistant","message":"the secret prompt"}`)
	p.says(`the secret prompt`)
	p.says(`["the secret prompt"]`)
	n := 0
	for range 4 {
		_, n = k.until(n, "raw", func(e provider.Event) bool { return e.Raw != nil })
	}
	if contains(k.events(), "secret") {
		t.Errorf("leaked: %s", k.story(0))
	}
	if !contains(k.events(), "from_the_future") {
		t.Errorf("the kind is lost: %s", k.story(0))
	}
}

func TestMessageIDs(t *testing.T) {
	a, b := messageID("turn_1"), messageID("turn_2")
	if a == b || a != messageID("turn_1") || len(a) != 36 || a[14] != '8' {
		t.Errorf("%s %s", a, b)
	}
}
