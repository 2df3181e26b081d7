package codex

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/backend/event"
	"berth/backend/provider"
	"berth/backend/provider/probe"
)

func TestStartThatFails(t *testing.T) {
	for name, want := range map[string]string{
		"dies":    "the configuration is broken", // the program's own last words, without colours
		"garbage": "this is not a protocol",
	} {
		t.Run(name, func(t *testing.T) {
			b := newFake(t, name)
			_, err := b.driver.Open(t.Context(), b.host, provider.Spec{Cwd: b.cwd, Mode: provider.Ask})
			e := wantErr(t, err, "start_failed")
			if !strings.Contains(e.Detail, want) || strings.Contains(e.Detail, "\x1b") {
				t.Errorf("detail %q, want %q", e.Detail, want)
			}
		})
	}
}

func TestStartThatHangs(t *testing.T) {
	b := newFake(t, "mute")
	failed := make(chan error, 1)
	go func() {
		_, err := b.driver.Open(context.Background(), b.host, provider.Spec{Cwd: b.cwd, Mode: provider.Ask})
		failed <- err
	}()
	for len(b.host.Processes.List()) == 0 {
		time.Sleep(5 * time.Millisecond) // nothing announces a process
	}
	b.clock.skip(startLimit)
	wantErr(t, <-failed, "start_failed")
}

func TestNotInstalled(t *testing.T) {
	b := newFake(t, "good")
	b.host.Executable = "/nowhere/codex"
	_, err := b.driver.Open(t.Context(), b.host, provider.Spec{Cwd: b.cwd, Mode: provider.Ask})
	wantErr(t, err, "missing")
}

func TestOpenRefuses(t *testing.T) {
	b := newFake(t, "good")
	_, err := b.driver.Open(t.Context(), b.host, provider.Spec{Cwd: "/nowhere/at/all", Mode: provider.Ask})
	wantErr(t, err, "cwd_missing")
	_, err = b.driver.Open(t.Context(), b.host, provider.Spec{Cwd: b.cwd, Mode: "yolo"})
	wantErr(t, err, "mode_unsupported")
	_, err = b.driver.Open(t.Context(), b.host, provider.Spec{Cwd: b.cwd, Mode: provider.Ask, Resume: "x", Fork: true})
	if !errors.Is(err, provider.ErrUnsupported) {
		t.Errorf("a fork: %v", err)
	}
	k := b.open()
	k.send("hello")
	k.wantEnd("completed", "")
	_, err = b.driver.Open(t.Context(), b.host, provider.Spec{Cwd: b.cwd, Mode: provider.Ask, Resume: k.thread})
	wantErr(t, err, "in_use")
}

// TestAdministered: a thread that comes back with looser permissions than
// those asked for is refused.
func TestAdministered(t *testing.T) {
	b := newFake(t, "administered")
	_, err := b.driver.Open(t.Context(), b.host, provider.Spec{Cwd: b.cwd, Mode: provider.Ask})
	wantErr(t, err, "mode_unsupported")
}

// TestDeath: all conversations of a process that died are told, and the next
// one gets another process.
func TestDeath(t *testing.T) {
	b := newFake(t, "good")
	one, two := b.open(), b.open()
	one.send("hang")
	if d, err := two.s.Send(t.Context(), two.input("die")); d != provider.Uncertain || err == nil {
		t.Errorf("a message to a process that died: delivery %d, %v", d, err)
	}
	for _, k := range []*talk{one, two} {
		k.until("the end", func(e provider.Event) bool { return e.Closed != nil })
		if e := k.closed.Err; e == nil || e.Code != "agent_ended" || !strings.Contains(e.Detail, "panicked") || !strings.Contains(k.closed.Stderr, "panicked") {
			t.Errorf("closed %+v", k.closed)
		}
		if c := k.closed.ExitCode; c == nil || *c != 3 {
			t.Errorf("exit code %v", c)
		}
		if _, open := <-k.s.Events(); open {
			t.Error("an event came after Closed")
		}
	}
	if d, err := one.s.Send(t.Context(), one.input("hello")); d == provider.Sent || err == nil {
		t.Errorf("a message to a dead conversation: delivery %d, %v", d, err)
	}
	three := b.open()
	three.send("hello")
	three.wantEnd("completed", "")
	if three.answers() != "heard hello" {
		t.Errorf("answer %q", three.answers())
	}
}

func TestDelivery(t *testing.T) {
	b := newFake(t, "good")
	// send sends a message while the reply to it does not come in time.
	send := func(k *talk, text string) (provider.Delivery, error) {
		type outcome struct {
			d   provider.Delivery
			err error
		}
		done := make(chan outcome, 1)
		go func() {
			d, err := k.s.Send(context.Background(), k.input(text))
			done <- outcome{d, err}
		}()
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case o := <-done:
				return o.d, o.err
			case <-tick.C:
				b.clock.skip(callLimit)
			}
		}
	}
	t.Run("refused", func(t *testing.T) {
		k := b.open()
		d, err := k.s.Send(t.Context(), k.input("reject"))
		if e := wantErr(t, err, "failed"); d != provider.NotSent || !strings.Contains(e.Detail, "not today") {
			t.Errorf("delivery %d, %+v", d, e)
		}
		k.send("hello") // the conversation goes on
		k.wantEnd("completed", "")
	})
	t.Run("no reply, and not among the turns", func(t *testing.T) {
		k := b.open()
		if d, err := send(k, "lose"); d != provider.Uncertain || err == nil {
			t.Errorf("delivery %d, %v", d, err)
		}
	})
	t.Run("no reply, but among the turns", func(t *testing.T) {
		k := b.open()
		if d, err := send(k, "hide"); d != provider.Sent || err != nil {
			t.Fatalf("delivery %d, %v", d, err)
		}
		k.wantEnd("completed", "")
		if k.answers() != "unheard answer" {
			t.Errorf("what the turn did unheard is told as %q", k.answers())
		}
	})
	t.Run("the turn begins before the reply", func(t *testing.T) {
		k := b.open()
		k.send("early")
		k.wantEnd("completed", "")
		accepted := 0
		for _, e := range k.events {
			if e.Accepted != nil {
				accepted++
			}
		}
		if accepted != 1 {
			t.Errorf("the message was told as accepted %d times", accepted)
		}
	})
	t.Run("while a turn runs", func(t *testing.T) {
		k := b.open()
		k.send("hang")
		if d, err := k.s.Send(t.Context(), k.input("hello")); d != provider.NotSent || err == nil {
			t.Errorf("delivery %d, %v", d, err)
		}
	})
}

func TestRequests(t *testing.T) {
	b := newFake(t, "good")
	k := b.open()
	k.send("ask")
	r := k.asked()
	if r.Body.Command != "make all" || len(r.Body.Options) != 4 {
		t.Errorf("the request is %+v", r.Body)
	}
	err := k.s.Answer(t.Context(), r.Key, provider.Answer{Option: "whatever"})
	wantErr(t, err, "invalid")
	k.decide(r, event.AllowSession)
	k.wantEnd("completed", "")
	if k.answers() != `answered {"decision":"acceptForSession"}` {
		t.Errorf("Codex heard %q", k.answers())
	}
	if err := k.s.Answer(t.Context(), r.Key, provider.Answer{Option: accept}); !errors.Is(err, provider.ErrNoRequest) {
		t.Errorf("a second answer: %v", err)
	}
}

func TestRequestWithdrawn(t *testing.T) {
	b := newFake(t, "good")
	k := b.open()
	k.send("ask and withdraw")
	k.wantEnd("completed", "")
	withdrawn := ""
	for _, e := range k.events {
		if e.Withdrawn != "" {
			withdrawn = e.Withdrawn
		}
	}
	if withdrawn == "" {
		t.Fatalf("the request still waits:%s", tale(k.events))
	}
	if err := k.s.Answer(t.Context(), withdrawn, provider.Answer{Option: accept}); !errors.Is(err, provider.ErrNoRequest) {
		t.Errorf("an answer to a request that was withdrawn: %v", err)
	}
}

// TestRequestOfAStranger: what belongs to no conversation is declined.
func TestRequestOfAStranger(t *testing.T) {
	b := newFake(t, "good")
	k := b.open()
	k.send("ask for a stranger")
	k.wantEnd("completed", "")
	if k.answers() != `answered {"decision":"decline"}` {
		t.Errorf("Codex heard %q", k.answers())
	}
}

func TestTurnWithoutAnAnswer(t *testing.T) {
	b := newFake(t, "good")
	k := b.open()
	k.send("say nothing")
	k.wantEnd("failed", "no_answer")
}

// TestTurnOfItsOwn: what nobody sent is stopped, and said.
func TestTurnOfItsOwn(t *testing.T) {
	b := newFake(t, "good")
	k := b.open()
	k.send("go on alone")
	k.wantEnd("completed", "")
	k.until("the notice", func(e provider.Event) bool {
		return e.Item != nil && e.Item.Body.Notice != nil && e.Item.Body.Notice.Code == "foreign_turn"
	})
	s := k.s.(*session)
	if err := s.waitIdle(t.Context(), patience); err != nil {
		t.Fatalf("it still runs: %v", err)
	}
	k.send("hello")
	k.wantEnd("completed", "")
}

// TestConversationClosedElsewhere: it ends, its process is let go, and it can
// be taken up again.
func TestConversationClosedElsewhere(t *testing.T) {
	b := newFake(t, "good")
	k := b.open()
	k.send("close")
	k.until("the end", func(e provider.Event) bool { return e.Closed != nil })
	if e := k.closed.Err; e == nil || e.Code != "agent_ended" {
		t.Errorf("closed %+v", k.closed)
	}
	again := openTalk(t, b.driver, b.host, provider.Spec{Cwd: b.cwd, Mode: provider.Ask, Resume: k.thread})
	again.send("hello")
	again.wantEnd("completed", "")
	again.close()
	b.clock.skip(idleAfter)
	gone(t, b)
}

func TestSilence(t *testing.T) {
	t.Run("the turn can be ended", func(t *testing.T) {
		b := newFake(t, "good")
		k := b.open()
		k.send("hang")
		k.until("a sign of life", func(e provider.Event) bool { return e.Item != nil })
		b.clock.skip(silenceLimits.Idle)
		k.wantEnd("failed", "no_answer")
		k.send("hello")
		k.wantEnd("completed", "")
	})
	t.Run("the turn cannot be ended", func(t *testing.T) {
		b := newFake(t, "good")
		k := b.open()
		k.send("stall")
		k.until("a sign of life", func(e provider.Event) bool { return e.Item != nil })
		b.clock.skip(silenceLimits.Idle)
		b.clock.skip(endLimit)
		k.until("the end", func(e provider.Event) bool { return e.Closed != nil })
		if e := k.closed.Err; e == nil || e.Code != "no_answer" {
			t.Errorf("closed %+v", k.closed)
		}
	})
	t.Run("the user is asked", func(t *testing.T) {
		b := newFake(t, "good")
		k := b.open()
		k.send("ask")
		r := k.asked()
		b.clock.skip(3 * silenceLimits.Tool)
		k.decide(r, event.AllowOnce)
		k.wantEnd("completed", "")
	})
}

// TestCloseEndsTheTurn: a conversation that is left does not go on.
func TestCloseEndsTheTurn(t *testing.T) {
	b := newFake(t, "good")
	k, other := b.open(), b.open()
	k.send("hang")
	k.until("a sign of life", func(e provider.Event) bool { return e.Item != nil })
	k.close()
	other.send("hello")
	other.wantEnd("completed", "")
}

// TestCloseOfAStuckTurn: one that cannot be stopped costs the process, and
// the others are told.
func TestCloseOfAStuckTurn(t *testing.T) {
	b := newFake(t, "good")
	k, other := b.open(), b.open()
	k.send("stall")
	k.until("a sign of life", func(e provider.Event) bool { return e.Item != nil })
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		k.close()
	}()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for open := true; open; {
		select {
		case <-closed:
			open = false
		case <-tick.C:
			b.clock.skip(stopLimit)
		}
	}
	other.until("the end", func(e provider.Event) bool { return e.Closed != nil })
	if e := other.closed.Err; e == nil || e.Code != "agent_ended" {
		t.Errorf("closed %+v", other.closed)
	}
}

func TestIdleProcessEnds(t *testing.T) {
	b := newFake(t, "good")
	k := b.open()
	k.close()
	if n := len(b.host.Processes.List()); n != 1 {
		t.Fatalf("%d processes", n)
	}
	b.clock.skip(idleAfter - time.Second)
	k = b.open() // it is used again in time
	b.clock.skip(idleAfter)
	k.send("hello")
	k.wantEnd("completed", "")
	k.close()
	b.clock.skip(idleAfter)
	gone(t, b)
}

func gone(t *testing.T, b *fakeBench) {
	t.Helper()
	limit := time.After(patience)
	for len(b.host.Processes.List()) > 0 {
		select {
		case <-time.After(5 * time.Millisecond): // nothing announces it
		case <-limit:
			t.Fatal("the process was not ended")
		}
	}
}

func TestDriverClose(t *testing.T) {
	b := newFake(t, "good")
	k := b.open()
	closeDriver(t, b.driver)
	k.until("the end", func(e provider.Event) bool { return e.Closed != nil })
	gone(t, b)
	_, err := b.driver.Open(t.Context(), b.host, provider.Spec{Cwd: b.cwd, Mode: provider.Ask})
	wantErr(t, err, "closed")
}

func TestJudge(t *testing.T) {
	said := func(stdout, stderr string, code int) answer {
		return answer{Result: probe.Result{Stdout: stdout, Stderr: stderr, Code: code}}
	}
	version, signedIn, signedOut := said("codex-cli 0.171.0\n", "", 0), said("", "Logged in using ChatGPT\n", 0), said("", "Not logged in\n", 1)
	own := func(text string) config {
		home := t.TempDir()
		if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return readConfig(provider.Host{Env: []string{"CODEX_HOME=" + home}})
	}
	cases := []struct {
		name    string
		found   findings
		want    provider.Status
		account string
	}{
		{"signed in", findings{version: version, login: signedIn}, provider.Ready, "ChatGPT"},
		{"a key", findings{version: version, login: said("", "API key configured - sk-abc***def\n", 0)}, provider.Ready, "API key"},
		{"signed out", findings{version: version, login: signedOut}, provider.Unauthenticated, ""},
		{"a provider of one's own", findings{version: version, login: signedOut,
			config: own("model_provider = \"own\"\n[model_providers.own]\nname = \"My models\"\n")}, provider.Ready, "My models"},
		{"one that wants an account", findings{version: version, login: signedOut,
			config: own("model_provider = \"own\"\n[model_providers.own]\nrequires_openai_auth = true\n")}, provider.Unauthenticated, ""},
		{"a broken configuration", findings{version: version, login: signedIn, config: own("model = [broken")}, provider.Broken, ""},
		{"old", findings{version: said("codex-cli 0.9.0", "", 0), login: signedIn}, provider.TooOld, ""},
		{"something else", findings{version: said("hello", "", 0), login: signedIn}, provider.Broken, ""},
		{"does not start", findings{version: answer{err: os.ErrPermission}}, provider.Broken, ""},
		{"too slow", findings{version: answer{err: context.DeadlineExceeded, late: true}}, provider.Unknown, ""},
		{"does not tell", findings{version: version, login: said("", "disk error", 2)}, provider.Unknown, ""},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			d := provider.Description{Status: provider.Ready}
			judge(&d, tc.found)
			if d.Status != tc.want || d.Account != tc.account {
				t.Errorf("status %s (%s %s), account %q", d.Status, d.Message, d.Detail, d.Account)
			}
			if (d.Status == provider.Ready) != (d.Message == "") {
				t.Errorf("%s with the message %q", d.Status, d.Message)
			}
			if strings.Contains(d.Account+d.Message+d.Detail, "sk-") {
				t.Error("a part of the key is shown")
			}
		})
	}
}

func TestDescribeModels(t *testing.T) {
	b := newFake(t, "good")
	d := b.driver.Describe(t.Context(), b.host)
	if d.Status != provider.Ready || d.Version != "0.171.0" || d.Account != "ChatGPT" {
		t.Errorf("status %s (%s), version %q, account %q", d.Status, d.Message, d.Version, d.Account)
	}
	if len(d.Models) != 3 || d.Models[0].Value != "" || d.Models[0].Note != "a" || d.Models[1].Value != "a" || d.Models[2].Value != "b" {
		t.Fatalf("models %+v", d.Models)
	}
	if m := d.Models[1]; strings.Join(m.Efforts, " ") != "low high" || m.DefaultEffort != "low" {
		t.Errorf("efforts %+v", m)
	}
}

// TestDescribeModelsOffline: the catalogue that comes with the program.
func TestDescribeModelsOffline(t *testing.T) {
	b := newFake(t, "offline")
	if d := b.driver.Describe(t.Context(), b.host); len(d.Models) != 2 || d.Models[1].Value != "bundled" {
		t.Errorf("models %+v", d.Models)
	}
}

func TestDescribeInTime(t *testing.T) {
	b := newFake(t, "slow")
	described := make(chan provider.Description, 1)
	go func() { described <- b.driver.Describe(context.Background(), b.host) }()
	for len(b.host.Processes.List()) < 4 {
		time.Sleep(5 * time.Millisecond) // nothing announces a process
	}
	b.clock.skip(describeLimit)
	if d := <-described; d.Status != provider.Unknown || d.Message == "" {
		t.Errorf("status %s %q", d.Status, d.Message)
	}
}

func TestDescribeMissing(t *testing.T) {
	b := newFake(t, "good")
	b.host.Executable = "/nowhere/codex"
	if d := b.driver.Describe(t.Context(), b.host); d.Status != provider.Missing || len(d.Install) == 0 {
		t.Errorf("status %s, install %v", d.Status, d.Install)
	}
}
