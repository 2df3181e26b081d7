package claude

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"berth/backend/provider"
)

const (
	// lookEvery bounds how often the transcript is looked for on disk.
	lookEvery = 100 * time.Millisecond
	// maxGarbage bounds what is kept of a line that is not the protocol's, in
	// bytes.
	maxGarbage = 300
)

// read takes the lines in order and is the only one that sends events.
func (s *session) read() {
	defer close(s.done)
	for {
		raw, err := s.lines.Next()
		if err != nil {
			s.end(err)
			return
		}
		s.take(raw)
		s.send(s.p.take())
	}
}

func (s *session) send(events []provider.Event) {
	for _, e := range events {
		select {
		case s.events <- e:
		case <-s.abandoned:
		}
	}
}

func (s *session) tell(e provider.Event) { s.p.out = append(s.p.out, e) }

// take handles one line. What reads files does so before it locks: Interrupt
// and Close must never wait for a disk.
func (s *session) take(raw []byte) {
	var h head
	if raw[0] != '{' || json.Unmarshal(raw, &h) != nil || h.Type == "" {
		s.garbage = cut(string(raw), maxGarbage)
		s.tell(provider.Event{Raw: shape(raw)})
		return
	}
	before := len(s.p.out)
	s.bind(&h)
	if err := s.dispatch(&h, raw); err != nil {
		s.tell(provider.Event{Raw: shape(raw)})
	}
	if now := s.clock.Now(); len(s.p.out) == before && now.Sub(s.toldLife) >= signOfLife {
		s.toldLife = now
		s.tell(provider.Event{Active: true})
	}
}

var errUnknownLine = errors.New("a line of a kind that is not known")

// dispatch gives a line to what handles its kind.
func (s *session) dispatch(h *head, raw []byte) error {
	switch h.Type {
	case "stream_event":
		return locked(s, raw, func(l *streamLine) { s.lively(); s.p.streamEvent(l) })
	case "assistant":
		return locked(s, raw, func(l *messageLine) { s.lively(); s.p.assistant(l) })
	case "user":
		return locked(s, raw, s.user)
	case "system":
		return locked(s, raw, s.system)
	case "result":
		return locked(s, raw, s.result)
	case "command_lifecycle":
		return locked(s, raw, s.lifecycle)
	case "control_request":
		return s.asked(raw)
	case "control_response":
		return locked(s, raw, func(l *controlLine) { s.replied(&l.Response) })
	case "control_cancel_request":
		return locked(s, raw, func(l *controlLine) { s.withdraw(l.ID) })
	case "rate_limit_event":
		return locked(s, raw, func(l *rateLimitLine) { s.p.limits(l.Info) })
	case "tool_progress":
		return locked(s, raw, func(*struct{}) { s.lively() })
	case "keep_alive", "auth_status", "prompt_suggestion", "tool_use_summary":
		return nil
	}
	return errUnknownLine
}

// locked reads a line and handles it under the session's lock. A field of
// another type than it was is passed over: a turn must end although its
// result has a field that has changed.
func locked[T any](s *session, raw []byte, handle func(*T)) error {
	var l T
	err := json.Unmarshal(raw, &l)
	if changed := (*json.UnmarshalTypeError)(nil); err != nil && !errors.As(err, &changed) {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	handle(&l)
	return err
}

// lively notes a sign of the running turn's answer. What comes before the
// agent has taken the message belongs to work of its own.
func (s *session) lively() {
	switch t := s.turn; {
	case t == nil:
	case t.begun:
		t.alive = true
		s.dog.Alive()
	default:
		s.dog.Restart()
	}
}

// began notes that the agent took a message of ours: it says so by the
// message's own uuid.
func (s *session) began(uuid string) {
	t := s.turn
	switch {
	case t == nil || uuid == "":
	case t.uuid == uuid && !t.begun:
		t.begun = true
		s.p.begin()
		s.dog.Restart()
		s.tell(provider.Event{Accepted: &provider.Accepted{Turn: t.id, ProviderTurn: uuid}})
	case t.steers[uuid] != "":
		id := t.steers[uuid]
		delete(t.steers, uuid)
		t.taken = append(t.taken, uuid)
		s.tell(provider.Event{Accepted: &provider.Accepted{Turn: id, ProviderTurn: uuid, Steered: true}})
	}
}

func (s *session) user(l *messageLine) {
	if l.Replay {
		s.began(l.UUID)
		return
	}
	s.lively()
	s.p.user(l)
}

func (s *session) lifecycle(l *lifecycleLine) {
	t := s.turn
	switch {
	case l.State == "started":
		s.began(l.Message)
	case t == nil:
	case l.State == "cancelled" && t.uuid == l.Message && !t.begun:
		s.finish(&provider.TurnEnded{State: "stopped", StopReason: "interrupted"})
	case l.State == "cancelled":
		delete(t.steers, l.Message)
	case l.State == "completed" && t.uuid == l.Message && !t.answered && !t.alive:
		// The conversation holds this message already, and the CLI does not
		// take it twice.
		s.began(l.Message)
		s.finish(&provider.TurnEnded{State: "failed", Err: &provider.Error{Code: "already_delivered",
			Text: "Claude Code had received this message before. It was not given to the model again."}})
	}
}

func (s *session) system(l *systemLine) {
	switch l.Subtype {
	case "init":
		s.p.model = l.Model
		s.modeIs(l.Mode)
		s.skills(l.Skills)
		s.beganAll(l.Messages)
	case "status":
		if l.Mode != "" {
			s.modeIs(l.Mode)
		}
		s.beganAll(l.Messages)
	case "api_retry":
		s.lively()
		s.p.retrying(l)
	case "compact_boundary":
		s.p.compacted(l)
	case "informational":
		s.p.informed(l)
	case "task_progress", "thinking_tokens":
		s.lively()
	case "task_notification":
		s.lively()
		s.p.backgroundEnded(l)
	case "background_tasks_changed":
		s.background(l.Tasks)
	}
}

func (s *session) modeIs(mode string) { s.inPlan = mode == "plan" }

func (s *session) beganAll(uuids []string) {
	for _, uuid := range uuids {
		s.began(uuid)
	}
}

// maxTasks bounds the background tasks that are told of.
const maxTasks = 256

// background tells what goes on outside the turns.
func (s *session) background(tasks []task) {
	list := []provider.BackgroundTask{}
	for _, t := range tasks[:min(len(tasks), maxTasks)] {
		kind := "shell"
		if t.Kind != "local_bash" {
			kind = "subagent"
		}
		list = append(list, provider.BackgroundTask{ID: t.ID, Title: cut(t.Description, maxTitle), Kind: kind, Status: "running"})
	}
	s.tell(provider.Event{Background: &list})
}

// result takes the end of a turn of the CLI's own. It ends ours if it answers
// its message and nothing waits to join it; a turn that the CLI began by
// itself, after a background task, answers no message.
func (s *session) result(r *resultLine) {
	t := s.turn
	s.p.spent(r)
	s.sample()
	if t == nil {
		if r.IsError && r.Turns == 0 {
			s.failed = r
		}
		return
	}
	ours := r.Message == "" && len(r.Messages) == 0 && t.begun
	for _, uuid := range append(slices.Clone(r.Messages), r.Message) {
		s.began(uuid)
		ours = ours || uuid != "" && t.owns(uuid)
	}
	t.answered = t.answered || ours
	if !ours || len(t.steers) > 0 && !t.stopping {
		return
	}
	s.finish(s.p.outcome(r, t.stopping, t.prompted))
}

// finish ends the running turn.
func (s *session) finish(end *provider.TurnEnded) {
	s.turn = nil
	s.dog.Stop()
	s.p.recovered()
	s.tell(provider.Event{TurnEnded: end})
}

// sample asks for the context's figures; the reply is taken when it comes
// soon enough.
func (s *session) sample() {
	if s.closing {
		return
	}
	s.sampleID, s.sampleUntil = s.newID(), s.clock.Now().Add(usageTimeout)
	id := s.sampleID
	s.writers.Go(func() {
		_, _ = s.lines.Write(context.Background(), controlRequest(id, map[string]any{"subtype": "get_context_usage"}))
	})
}

// replied takes a reply to a request of ours. With --replay-user-messages the
// CLI also echoes our own replies, which have ids of its own.
func (s *session) replied(r *controlReply) {
	if r.ID == s.sampleID && r.ID != "" {
		s.sampleID = ""
		if r.Subtype == "success" && !s.clock.Now().After(s.sampleUntil) {
			s.p.sampled(r.Response)
		}
		return
	}
	if call := s.calls[r.ID]; call != nil {
		if r.Subtype == "success" {
			s.offered(r.Response)
		}
		call <- *r // has room for the only reply
		delete(s.calls, r.ID)
	}
}

// asked takes a request of the CLI.
func (s *session) asked(raw []byte) error {
	var l controlLine
	if err := json.Unmarshal(raw, &l); err != nil || l.ID == "" {
		return errUnknownLine
	}
	if l.Request.Subtype != "can_use_tool" {
		s.refuse(l.ID)
		return errUnknownLine
	}
	w, req := s.p.request(l.ID, &l.Request)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.attachedRead(&l.Request):
		s.respondSoon(l.ID, &reply{Behavior: "allow", Input: l.Request.Input})
	case len(s.requests) >= maxRequests:
		s.respondSoon(l.ID, &reply{Behavior: "deny", Message: askedTooMuch})
	default:
		s.requests[l.ID] = w
		s.dog.Wait()
		s.tell(provider.Event{Request: req})
	}
	return nil
}

// attachedRead says whether the agent wants to read a file that the user has
// attached: by attaching it the user allowed that.
func (s *session) attachedRead(r *canUseTool) bool {
	return r.Tool == "Read" && s.attached[readInput(r.Input).FilePath]
}

// respondSoon answers without holding up the reader, which may not wait for a
// pipe that the CLI reads only after we have read from it.
func (s *session) respondSoon(id string, r *reply) {
	s.writers.Go(func() { _ = s.respond(context.Background(), id, r) })
}

// refuse tells the CLI that a request of it is not served.
func (s *session) refuse(id string) {
	s.writers.Go(func() {
		_, _ = s.lines.Write(context.Background(), map[string]any{"type": "control_response",
			"response": map[string]any{"subtype": "error", "request_id": id, "error": "This request is not served."}})
	})
}

func (s *session) withdraw(id string) {
	if s.requests[id] == nil {
		return
	}
	s.settle(id)
	s.tell(provider.Event{Withdrawn: id})
}

// offered takes the commands out of the reply to initialize.
func (s *session) offered(raw json.RawMessage) {
	var r struct {
		Commands []struct {
			Name        string `json:"name"`
			Description string `json:"description"`
			Hint        string `json:"argumentHint"`
		} `json:"commands"`
	}
	if json.Unmarshal(raw, &r) != nil || len(r.Commands) == 0 {
		return
	}
	s.commands = nil
	for _, c := range r.Commands[:min(len(r.Commands), maxCommands)] {
		s.commands = append(s.commands, provider.Command{Name: cut(c.Name, maxTitle), Description: cut(c.Description, maxNotice), Hint: cut(c.Hint, maxTitle), Kind: "command"})
	}
	s.tellCommands()
}

// maxCommands bounds what the CLI may offer after "/".
const maxCommands = 500

// skills marks those of the commands that are skills; the CLI says which with
// the first turn.
func (s *session) skills(names []string) {
	changed := false
	for i, c := range s.commands {
		if c.Kind != "skill" && slices.Contains(names, c.Name) {
			s.commands[i].Kind, changed = "skill", true
		}
	}
	if changed {
		s.tellCommands()
	}
}

func (s *session) tellCommands() {
	list := slices.Clone(s.commands)
	s.tell(provider.Event{Commands: &list})
}

// bind tells the conversation's id, once there is proof that it can be
// resumed: the CLI names it before it has written anything, and a process
// that ends in between leaves an id that no later one knows.
func (s *session) bind(h *head) {
	if h.Session == "" || h.Session == s.bound {
		return
	}
	if h.Type == "result" {
		s.mu.Lock()
		ran := s.turn != nil
		s.mu.Unlock()
		if !ran { // of a conversation that could not be resumed
			return
		}
	} else {
		now := s.clock.Now()
		if now.Sub(s.lookedAt) < lookEvery {
			return
		}
		s.lookedAt = now
		if !s.kept(h.Session) {
			return
		}
	}
	s.bound = h.Session
	s.tell(provider.Event{Conversation: h.Session})
}
