package conformance

import (
	"context"
	"errors"
	"log/slog"
	"mime"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"berth/backend/event"
	"berth/backend/process"
	"berth/backend/provider"
	"berth/backend/store"
	"berth/test/clis"
	"berth/test/modelserver"
	"berth/test/program"
)

// realClock is the time drivers run on here.
type realClock struct{}

func (realClock) Now() time.Time { return time.Now() }
func (realClock) AfterFunc(d time.Duration, f func()) func() bool {
	return time.AfterFunc(d, f).Stop
}

// bench is the surroundings of a case: a model, a home, a folder, and what
// stands for Berth.
type bench struct {
	t      *testing.T
	agent  agent
	model  *modelserver.Server
	driver provider.Driver
	host   provider.Host
	dir    string // the chats' folder
	state  string
	db     *store.DB
	// program says that the whole program is the route; berth is it, while it
	// runs.
	program bool
	berth   *program.Program
}

// newBench fails if the agent is missing or of another version.
func newBench(t *testing.T, a agent, wholeProgram bool) *bench {
	t.Helper()
	path, err := clis.Find(a.command)
	if err != nil {
		t.Fatal(err)
	}
	model, err := modelserver.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := model.Close(); err != nil {
			t.Error(err)
		}
	})
	home := t.TempDir()
	env, err := a.settings(model, home)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(home, "work")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, agent: a, model: model, driver: a.driver(), dir: dir, state: newState(t), program: wholeProgram}
	b.host = provider.Host{Executable: path, Env: env, Scratch: filepath.Join(b.state, "scratch"), Version: "conformance", Clock: realClock{}}
	if b.host.Self, err = os.Executable(); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(b.host.Scratch, 0o700); err != nil {
		t.Fatal(err)
	}
	b.start()
	t.Cleanup(b.stop)
	t.Cleanup(b.explain)
	return b
}

// newState makes a state directory with a short path: a socket lives in it.
func newState(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "berth-state-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// explain tells after a failure what the model server received.
func (b *bench) explain() {
	if !b.t.Failed() {
		return
	}
	for _, r := range b.model.Requests() {
		b.t.Logf("request %d: %s %s%s, texts %.1000q, results %.300q", r.N, r.Path, r.Outcome, " "+r.Side, r.Texts, r.Results)
	}
}

// start opens what a start of Berth opens, and stop closes it.
func (b *bench) start() {
	b.t.Helper()
	if b.program {
		b.serve()
		return
	}
	db, err := store.Open(context.Background(), filepath.Join(b.state, "berth.db"))
	if err != nil {
		b.t.Fatal(err)
	}
	b.db = db
	b.host.Processes = process.NewSupervisor(db, slog.New(slog.DiscardHandler))
}

func (b *bench) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if b.berth != nil {
		b.endServe(ctx)
		return
	}
	if b.db == nil {
		return
	}
	if err := b.host.Processes.Close(ctx); err != nil {
		b.t.Errorf("processes are left: %v", err)
	}
	if err := b.db.Close(); err != nil {
		b.t.Error(err)
	}
	b.db = nil
}

// processes counts the processes that work for the chats.
func (b *bench) processes() int {
	b.t.Helper()
	if b.berth == nil {
		return len(b.host.Processes.List())
	}
	list, err := b.berth.Processes(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	return len(list)
}

// talk opens a chat by the bench's route.
func (b *bench) talk(spec provider.Spec) talk {
	b.t.Helper()
	if b.berth != nil {
		return b.programTalk(spec)
	}
	return b.driverTalk(spec)
}

// file writes a file into the chats' folder and gives its path.
func (b *bench) file(name, content string) string {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		b.t.Fatal(err)
	}
	return path
}

// driverTalk is a talk through a driver alone.
type driverTalk struct {
	*bench
	spec provider.Spec
	in   provider.Input // what every message carries

	session  provider.Session
	conv     string
	accepted bool
	list     []item
	pending  []request
	used     *provider.Usage
	offered  []string
	ends     []ending
	closed   bool
}

func (b *bench) driverTalk(spec provider.Spec) *driverTalk {
	b.t.Helper()
	if spec.Cwd == "" {
		spec.Cwd = b.dir
	}
	if spec.Mode == "" {
		spec.Mode = provider.Ask
	}
	if spec.Chat == "" {
		spec.Chat = store.NewID("chat")
	}
	spec.Execution = store.NewID("exec")
	spec.RootBypass = true // CI may run as root, and nothing but the test's folder is at stake
	k := &driverTalk{bench: b, spec: spec, in: provider.Input{Model: spec.Model, Effort: spec.Effort, Mode: spec.Mode}}
	k.open()
	b.t.Cleanup(k.close)
	return k
}

func (k *driverTalk) open() {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(k.t.Context(), patience)
	defer cancel()
	session, err := k.driver.Open(ctx, k.host, k.spec)
	if err != nil {
		k.t.Fatalf("open: %v", err)
	}
	k.session, k.closed, k.pending, k.ends = session, false, nil, nil
}

// close ends the session and checks that it says so exactly once.
func (k *driverTalk) close() {
	if k.session == nil {
		return
	}
	session := k.session
	k.session = nil
	drained := make(chan int)
	go func() {
		closes := 0
		for e := range session.Events() {
			if e.Closed != nil {
				closes++
			}
		}
		drained <- closes
	}()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := session.Close(ctx); err != nil {
		k.t.Errorf("close: %v", err)
	}
	select {
	case closes := <-drained:
		if k.closed {
			closes++
		}
		if closes != 1 {
			k.t.Errorf("the session told %d times that it is closed", closes)
		}
	case <-ctx.Done():
		k.t.Error("the session's events did not end")
	}
}

func (k *driverTalk) send(text string, files ...string) {
	k.t.Helper()
	in := k.in
	in.Turn, in.Text = store.NewID("turn"), text
	for _, path := range files {
		info, err := os.Stat(path)
		if err != nil {
			k.t.Fatal(err)
		}
		kind := mime.TypeByExtension(filepath.Ext(path))
		in.Attachments = append(in.Attachments, provider.Attachment{Path: path, Name: filepath.Base(path), Type: kind, Size: info.Size()})
	}
	k.accepted = false
	ctx, cancel := context.WithTimeout(k.t.Context(), patience)
	defer cancel()
	delivery, err := k.session.Send(ctx, in)
	if errors.Is(err, provider.ErrReopen) && delivery == provider.NotSent {
		k.restart(false)
		delivery, err = k.session.Send(ctx, in)
	}
	if err != nil || delivery != provider.Sent {
		k.t.Fatalf("send: delivery %d, %v", delivery, err)
	}
}

func (k *driverTalk) steer(text string) {
	k.t.Helper()
	in := k.in
	in.Turn, in.Text = store.NewID("turn"), text
	ctx, cancel := context.WithTimeout(k.t.Context(), patience)
	defer cancel()
	if delivery, err := k.session.Steer(ctx, in); err != nil || delivery != provider.Sent {
		k.t.Fatalf("steer: delivery %d, %v", delivery, err)
	}
}

func (k *driverTalk) interrupt() {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(k.t.Context(), patience)
	defer cancel()
	if err := k.session.Interrupt(ctx); err != nil {
		k.t.Fatalf("interrupt: %v", err)
	}
}

// until reads events until done holds.
func (k *driverTalk) until(what string, done func() bool) {
	k.t.Helper()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for !done() {
		select {
		case e, open := <-k.session.Events():
			if !open {
				k.t.Fatalf("the session ended while the case waited for %s", what)
			}
			k.take(e)
		case <-limit.C:
			k.t.Fatalf("waited %s in vain for %s; items: %s", patience, what, describe(k.list))
		}
	}
}

// take applies one event.
func (k *driverTalk) take(e provider.Event) {
	k.t.Helper()
	if e.Raw != nil && os.Getenv(traceEnv) != "" {
		k.t.Logf("%.2000s", e.Raw)
	}
	if e.Conversation != "" {
		k.conv = e.Conversation
	}
	switch {
	case e.Accepted != nil:
		k.accepted = true
	case e.Item != nil:
		i := k.item(e.Item.Key, e.Item.Kind, e.Item.Parent)
		i.Kind, i.Status, i.Body = e.Item.Kind, e.Item.Status, e.Item.Body
		if e.Item.Body.Text != "" {
			i.Text = e.Item.Body.Text
		}
	case e.Text != nil:
		k.item(e.Text.Key, e.Text.Kind, e.Text.Parent).Text += e.Text.Text
	case e.Request != nil:
		k.pending = append(k.pending, request{key: e.Request.Key, body: e.Request.Body})
	case e.Withdrawn != "":
		k.pending = slices.DeleteFunc(k.pending, func(r request) bool { return r.key == e.Withdrawn })
	case e.Usage != nil:
		k.used = e.Usage
	case e.Commands != nil:
		k.offered = nil
		for _, c := range *e.Commands {
			k.offered = append(k.offered, c.Name)
		}
	case e.TurnEnded != nil:
		k.ends = append(k.ends, endingOf(e.TurnEnded.State, e.TurnEnded.Err))
	case e.Closed != nil:
		k.closed = true
		k.ends = append(k.ends, endingOf(lost, e.Closed.Err))
	}
}

func endingOf(state string, err *provider.Error) ending {
	if err == nil {
		return ending{state: state}
	}
	return ending{state: state, code: err.Code, text: err.Error()}
}

// item finds or makes the item of a key.
func (k *driverTalk) item(key string, kind event.Kind, parent string) *item {
	for i := range k.list {
		if k.list[i].Key == key {
			return &k.list[i]
		}
	}
	k.list = append(k.list, item{Key: key, Kind: kind, Parent: parent, Status: event.InProgress})
	return &k.list[len(k.list)-1]
}

func (k *driverTalk) asked(kind event.Kind) request {
	k.t.Helper()
	find := func() int {
		return slices.IndexFunc(k.pending, func(r request) bool { return (len(r.body.Questions) > 0) == (kind == event.Question) })
	}
	k.until("a request of kind "+string(kind), func() bool { return find() >= 0 || len(k.ends) > 0 })
	at := find()
	if at < 0 {
		k.t.Fatalf("the turn ended %+v without a request of kind %s; items: %s", k.ends[0], kind, describe(k.list))
	}
	r := k.pending[at]
	k.pending = slices.Delete(k.pending, at, at+1)
	return r
}

func (k *driverTalk) decide(r request, reason string, kinds ...event.OptionKind) {
	k.t.Helper()
	for _, kind := range kinds {
		for _, o := range r.body.Options {
			if o.Kind == kind {
				if !o.Reason {
					reason = ""
				}
				k.answer(r, provider.Answer{Option: o.ID, Reason: reason})
				return
			}
		}
	}
	k.t.Fatalf("no option of %v is offered: %+v", kinds, r.body.Options)
}

func (k *driverTalk) choose(r request, answer string) {
	k.t.Helper()
	k.answer(r, provider.Answer{Answers: map[string][]string{r.body.Questions[0].ID: {answer}}})
}

func (k *driverTalk) answer(r request, a provider.Answer) {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(k.t.Context(), patience)
	defer cancel()
	if err := k.session.Answer(ctx, r.key, a); err != nil {
		k.t.Fatalf("answer: %v", err)
	}
}

func (k *driverTalk) seen(what string, ok func([]item) bool) {
	k.t.Helper()
	k.until(what, func() bool { return ok(k.list) || len(k.ends) > 0 })
	if !ok(k.list) {
		k.t.Fatalf("the turn ended %+v before %s was seen; items: %s", k.ends[0], what, describe(k.list))
	}
}

func (k *driverTalk) ended() ending {
	k.t.Helper()
	k.until("the end of the turn", func() bool { return len(k.ends) > 0 })
	end := k.ends[0]
	k.ends = k.ends[1:]
	if end.state == "completed" && !k.accepted {
		k.t.Error("the turn completed although the message was never accepted")
	}
	return end
}

// allow allows whatever is asked until the turn ends.
func (k *driverTalk) allow() ending {
	k.t.Helper()
	for {
		k.until("a request or the end", func() bool { return len(k.pending) > 0 || len(k.ends) > 0 })
		if len(k.pending) == 0 {
			return k.ended()
		}
		k.decide(k.asked(event.Approval), "", event.AllowOnce)
	}
}

func (k *driverTalk) items() []item          { return k.list }
func (k *driverTalk) usage() *provider.Usage { return k.used }
func (k *driverTalk) commands() []string     { return k.offered }

// killAgent kills the processes of the session, or the one that is shared.
func (k *driverTalk) killAgent() {
	k.t.Helper()
	own := k.session.Processes()
	killed := 0
	for _, l := range k.host.Processes.List() {
		if len(own) > 0 && !slices.Contains(own, l.ID) {
			continue
		}
		p, err := os.FindProcess(l.Pid)
		if err != nil {
			k.t.Fatal(err)
		}
		if err := p.Kill(); err != nil {
			k.t.Fatalf("kill the agent: %v", err)
		}
		killed++
	}
	if killed == 0 {
		k.t.Fatal("the agent has no process to kill")
	}
}

func (k *driverTalk) restart(fork bool) {
	k.t.Helper()
	k.close()
	k.bench.stop()
	if k.agent.settle != nil {
		k.agent.settle(k.t)
	}
	k.bench.start()
	k.spec.Resume, k.spec.Fork = k.conv, fork
	k.open()
}
