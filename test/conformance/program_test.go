package conformance

import (
	"context"
	"mime"
	"os"
	"path/filepath"
	"strconv"

	"berth/backend/chat"
	"berth/backend/event"
	"berth/backend/provider"
	"berth/backend/settings"
	"berth/test/program"
)

// serve starts berth serve and tells it where the agent is.
func (b *bench) serve() {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	p, err := program.Serve(ctx, binary, b.state)
	if err != nil {
		b.t.Fatal(err)
	}
	b.berth = p
	change := settings.Change{Agents: map[string]settings.AgentSettings{b.agent.name: {Executable: b.host.Executable, Env: b.host.Env}}}
	if _, err := p.UpdateSettings(ctx, change); err != nil {
		b.t.Fatal(err)
	}
}

// endServe ends the program and checks that nothing of it is left.
func (b *bench) endServe(ctx context.Context) {
	if b.t.Failed() {
		b.t.Logf("log of Berth:\n%s", b.berth.Log())
	}
	err := b.berth.End(ctx)
	b.berth = nil
	if err != nil {
		b.t.Error(err)
	}
	left, err := program.Left(b.state)
	if err != nil || len(left) > 0 {
		b.t.Errorf("processes are left: %v, %v", left, err)
	}
}

// programTalk is a talk through the whole program, by its API.
type programTalk struct {
	*bench
	chat  string
	turn  string // the one sent last
	turns int
}

func (b *bench) programTalk(spec provider.Spec) *programTalk {
	b.t.Helper()
	if spec.Mode == "" {
		spec.Mode = provider.Ask
	}
	c, err := b.berth.CreateChat(b.t.Context(), chat.NewChat{
		Agent: b.agent.name, Cwd: b.dir, Permissions: spec.Mode, Instructions: spec.Instructions, RootBypass: true,
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return &programTalk{bench: b, chat: c.ID}
}

func (k *programTalk) send(text string, files ...string) {
	k.t.Helper()
	k.turns++
	n := chat.NewTurn{Text: text, ClientID: "turn-" + strconv.Itoa(k.turns)}
	for _, path := range files {
		n.Attachments = append(n.Attachments, k.upload(path))
	}
	a, err := k.berth.Send(k.t.Context(), k.chat, n)
	if err != nil {
		k.t.Fatalf("send: %v", err)
	}
	k.turn = a.Turn
}

func (k *programTalk) upload(path string) string {
	k.t.Helper()
	f, err := os.Open(path)
	if err != nil {
		k.t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		k.t.Fatal(err)
	}
	u, err := k.berth.Upload(k.t.Context(), filepath.Base(path), mime.TypeByExtension(filepath.Ext(path)), info.Size(), f)
	if err != nil {
		k.t.Fatalf("upload: %v", err)
	}
	return u.ID
}

func (k *programTalk) steer(string) { k.t.Fatal("the program does not steer yet") }

func (k *programTalk) interrupt() {
	k.t.Helper()
	if _, err := k.berth.Stop(k.t.Context(), k.chat); err != nil {
		k.t.Fatalf("stop: %v", err)
	}
}

// look is the chat as it is now.
func (k *programTalk) look() chat.Chat {
	k.t.Helper()
	c, err := k.berth.Chat(k.t.Context(), k.chat)
	if err != nil {
		k.t.Fatal(err)
	}
	return c
}

// over says whether the turn sent last needs Berth no more.
func (k *programTalk) over(c chat.Chat) bool {
	if c.Turn == nil || c.Turn.ID != k.turn {
		return false
	}
	return c.Turn.State.Terminal() || c.Turn.State == chat.TurnUncertain
}

func (k *programTalk) until(what string, ok func(chat.Chat) bool) chat.Chat {
	k.t.Helper()
	var c chat.Chat
	eventually(k.t, what, func() bool {
		c = k.look()
		return ok(c)
	})
	return c
}

func (k *programTalk) asked(kind event.Kind) request {
	k.t.Helper()
	var found *request
	c := k.until("a request of kind "+string(kind), func(c chat.Chat) bool {
		found = k.waiting(kind)
		return found != nil || k.over(c)
	})
	if found == nil {
		k.t.Fatalf("the turn ended %+v without a request of kind %s; items: %s", c.Turn, kind, describe(k.items()))
	}
	return *found
}

// waiting is the first request of that kind that waits, if any.
func (k *programTalk) waiting(kind event.Kind) *request {
	k.t.Helper()
	list, err := k.berth.Requests(k.t.Context(), k.chat, false)
	if err != nil {
		k.t.Fatal(err)
	}
	for _, i := range list {
		if i.Kind == kind && i.Body.Request != nil {
			return &request{key: i.Body.Request.ID, body: *i.Body.Request}
		}
	}
	return nil
}

func (k *programTalk) decide(r request, reason string, kinds ...event.OptionKind) {
	k.t.Helper()
	for _, kind := range kinds {
		for _, o := range r.body.Options {
			if o.Kind == kind {
				if !o.Reason {
					reason = ""
				}
				k.answer(r, chat.GivenAnswer{Option: o.ID, Reason: reason})
				return
			}
		}
	}
	k.t.Fatalf("no option of %v is offered: %+v", kinds, r.body.Options)
}

func (k *programTalk) choose(r request, answer string) {
	k.t.Helper()
	k.answer(r, chat.GivenAnswer{Answers: map[string][]string{r.body.Questions[0].ID: {answer}}})
}

func (k *programTalk) answer(r request, a chat.GivenAnswer) {
	k.t.Helper()
	if _, err := k.berth.Answer(k.t.Context(), r.key, a); err != nil {
		k.t.Fatalf("answer: %v", err)
	}
}

func (k *programTalk) allow() ending {
	k.t.Helper()
	for {
		var r *request
		k.until("a request or the end", func(c chat.Chat) bool {
			r = k.waiting(event.Approval)
			return r != nil || k.over(c)
		})
		if r == nil {
			return k.ended()
		}
		k.decide(*r, "", event.AllowOnce)
	}
}

func (k *programTalk) seen(what string, ok func([]item) bool) {
	k.t.Helper()
	c := k.until(what, func(c chat.Chat) bool { return ok(k.items()) || k.over(c) })
	if items := k.items(); !ok(items) {
		k.t.Fatalf("the turn ended %+v before %s was seen; items: %s", c.Turn, what, describe(items))
	}
}

func (k *programTalk) ended() ending {
	k.t.Helper()
	c := k.until("the end of the turn", k.over)
	end := ending{state: string(c.Turn.State)}
	if c.Turn.State == chat.TurnInterrupted || c.Turn.State == chat.TurnUncertain {
		end.state = lost
	}
	if e := c.Turn.Error; e != nil {
		end.code, end.text = e.Code, e.Text+" "+e.Detail
	}
	return end
}

// itemsPage is how many items are asked for at once.
const itemsPage = 100

func (k *programTalk) items() []item {
	k.t.Helper()
	var all []item
	for after := int64(1); ; {
		page, err := k.berth.Items(k.t.Context(), k.chat, 0, after, itemsPage)
		if err != nil {
			k.t.Fatal(err)
		}
		for _, i := range page.Items {
			all = append(all, item{Key: i.ID, Parent: i.Parent, Kind: i.Kind, Status: i.Status, Text: i.Body.Text, Body: i.Body})
			after = i.Seq
		}
		if !page.HasAfter || len(page.Items) == 0 {
			return all
		}
	}
}

func (k *programTalk) usage() *provider.Usage { return k.look().Usage }

func (k *programTalk) commands() []string {
	k.t.Helper()
	list, err := k.berth.Commands(k.t.Context(), k.chat)
	if err != nil {
		k.t.Fatal(err)
	}
	var names []string
	for _, c := range list {
		names = append(names, c.Name)
	}
	return names
}

func (k *programTalk) killAgent() {
	k.t.Helper()
	list, err := k.berth.Processes(k.t.Context())
	if err != nil {
		k.t.Fatal(err)
	}
	if len(list) == 0 {
		k.t.Fatal("the agent has no process to kill")
	}
	for _, l := range list {
		p, err := os.FindProcess(l.Pid)
		if err != nil {
			k.t.Fatal(err)
		}
		if err := p.Kill(); err != nil {
			k.t.Fatalf("kill the agent: %v", err)
		}
	}
}

func (k *programTalk) restart(fork bool) {
	k.t.Helper()
	if fork {
		k.t.Fatal("the program does not fork yet")
	}
	k.bench.stop()
	if k.agent.settle != nil {
		k.agent.settle(k.t)
	}
	k.bench.start()
}

// close ends the program: a chat's process lives until it is idle.
func (k *programTalk) close() { k.bench.stop() }
