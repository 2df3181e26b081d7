package codex

import (
	"context"
	"path"
	"slices"
	"strings"

	"berth/backend/event"
	"berth/backend/provider"
)

// agent is a sub-agent: a thread of its own, shown inside the tool call that
// started it.
type agent struct {
	key    string // of the tool call
	parent string // key of the tool call its starter works in
	tool   event.Tool
	status event.Status
	turn   string // the native turn that runs, if any
	ended  string // the last one that ended
	answer string // its last message
}

// agentState is what collaboration tools say of a sub-agent.
type agentState struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

// agentActivity takes subAgentActivity: a sub-agent began, was spoken to, was
// interrupted, or completed. It is told of at its beginning and at its end.
func (s *session) agentActivity(e *entry) {
	it := &e.item
	a := s.agents[it.Agent]
	if a == nil {
		if it.Agent == "" || len(s.agents) >= maxEntries {
			return
		}
		a = &agent{key: e.key, parent: s.parentOf(e.thread), status: event.InProgress, tool: event.Tool{
			Kind: event.ToolAgent, Name: "spawn_agent", Title: clip(path.Base(it.AgentPath), maxText), StartedAt: at(it.StartedAt),
			Input: mustJSON(map[string]string{"path": clip(it.AgentPath, maxText), "model": clip(it.Model, maxText), "effort": clip(it.Effort, maxText)}),
		}}
		s.agents[it.Agent] = a
		s.emitAgent(a)
	}
	switch it.Kind {
	case "completed":
		s.agentEnded(a, event.Completed, "")
	case "interrupted":
		s.agentEnded(a, event.Cancelled, "")
	case "interacted":
		if a.status != event.InProgress {
			a.status, a.tool.EndedAt = event.InProgress, nil
			s.emitAgent(a)
		}
	}
}

// agentCall takes collabAgentToolCall, by which older models work with
// sub-agents. A call that starts one becomes the sub-agent's row; the others
// are tool calls.
func (s *session) agentCall(e *entry, done bool) {
	it := &e.item
	for thread, state := range it.States {
		if a := s.agents[thread]; a != nil {
			s.agentReported(a, state)
		}
	}
	if it.Tool != "spawnAgent" {
		s.tool(e, statusOf(e))
		return
	}
	a := &agent{key: e.key, parent: s.parentOf(e.thread), status: event.InProgress, tool: event.Tool{
		Kind: event.ToolAgent, Name: "spawn_agent", Title: clip(firstLine(it.Prompt), maxText), StartedAt: at(it.StartedAt),
		Input: mustJSON(map[string]string{"prompt": clip(it.Prompt, maxInput), "model": clip(it.Model, maxText), "effort": clip(it.Effort, maxText)}),
	}}
	for _, thread := range it.Receivers {
		if known := s.agents[thread]; known != nil {
			a = known // its own turn was heard of before the call ended
		} else if len(s.agents) < maxEntries {
			s.agents[thread] = a
		}
	}
	switch {
	case done && it.Status == "failed":
		a.status, a.tool.Error = event.Failed, "It could not be started."
	case done && len(it.Receivers) == 0:
		a.status = event.Completed
	}
	s.emitAgent(a)
}

// agentReported takes what a collaboration tool says of a sub-agent.
func (s *session) agentReported(a *agent, state agentState) {
	if state.Message != "" {
		a.answer = state.Message
	}
	switch state.Status {
	case "completed":
		s.agentEnded(a, event.Completed, "")
	case "errored", "notFound":
		s.agentEnded(a, event.Failed, clip(state.Message, maxText))
	case "interrupted", "shutdown":
		s.agentEnded(a, event.Cancelled, "")
	}
}

// agentTurnStarted: a sub-agent works.
func (s *session) agentTurnStarted(thread, turn string) {
	if a := s.agents[thread]; a != nil {
		a.turn = turn
	}
}

// agentTurnEnded: a sub-agent has done what it was given.
func (s *session) agentTurnEnded(thread string, n nativeTurn) {
	a := s.agents[thread]
	if a == nil {
		return
	}
	a.turn, a.ended = "", n.ID
	s.closeEntries(n.ID, n.Status == statusInterrupted)
	switch n.Status {
	case statusCompleted:
		s.agentEnded(a, event.Completed, "")
	case statusInterrupted:
		s.agentEnded(a, event.Cancelled, "")
	default:
		text := "It failed."
		if n.Error != nil {
			text = s.explain(n.Error).Error()
		}
		s.agentEnded(a, event.Failed, clip(text, maxText))
	}
}

// agentEnded tells of a sub-agent's end, once.
func (s *session) agentEnded(a *agent, status event.Status, problem string) {
	if a.status != event.InProgress {
		return
	}
	now := s.host.Clock.Now().UTC()
	a.status, a.tool.EndedAt = status, &now
	a.tool.Output, a.tool.Error = clip(a.answer, maxOutput), problem
	s.emitAgent(a)
	s.tellBackground()
}

func (s *session) emitAgent(a *agent) {
	tool := a.tool
	s.dog.Working(a.key, a.status == event.InProgress)
	s.emit(provider.Event{Item: &provider.Item{
		Key: a.key, Parent: a.parent, Kind: event.ToolCall, Status: a.status, Body: event.Body{Tool: &tool},
	}})
}

// tellBackground tells what goes on without a turn: commands and sub-agents.
func (s *session) tellBackground() {
	s.mu.Lock()
	working := s.turn != nil
	s.mu.Unlock()
	tasks := []provider.BackgroundTask{}
	for _, e := range s.entries {
		if e.tool != nil && e.tool.Background && !e.ended {
			tasks = append(tasks, provider.BackgroundTask{ID: e.key, Title: e.tool.Title, Kind: "shell", Status: "running"})
		}
	}
	for _, a := range s.agents {
		if a.status != event.InProgress || working {
			continue
		}
		tasks = append(tasks, provider.BackgroundTask{ID: a.key, Title: a.tool.Title, Kind: "subagent", Status: "running"})
		if !a.tool.Background {
			a.tool.Background = true
			s.emitAgent(a)
		}
	}
	slices.SortFunc(tasks, func(a, b provider.BackgroundTask) int { return strings.Compare(a.ID, b.ID) })
	if slices.Equal(tasks, s.shown) {
		return
	}
	s.shown = tasks
	s.emit(provider.Event{Background: &tasks})
}

// stopWork ends what an interrupted turn had going: its commands, which Codex
// leaves running, and its sub-agents with theirs. It runs on the goroutine of
// pump, so that the turn's end is told only afterwards.
func (s *session) stopWork(t *turn) {
	threads := map[string]bool{}
	for _, e := range s.entries {
		if e.turn == t.id && !e.ended && e.item.Type == "commandExecution" {
			threads[e.thread] = true
		}
	}
	ctx := context.Background()
	for _, thread := range s.interruptAgents(ctx) {
		threads[thread] = true
	}
	for thread := range threads {
		s.endCommands(ctx, thread, func(e *entry) bool { return thread != s.thread || e.turn == t.id })
	}
}

// interruptAgents interrupts the sub-agents that work, and gives their
// threads. Their own ends tell whether it worked.
func (s *session) interruptAgents(ctx context.Context) []string {
	var threads []string
	for thread, a := range s.agents {
		if a.turn != "" {
			_ = s.interruptNative(ctx, thread, a.turn)
			threads = append(threads, thread)
		}
	}
	return threads
}

// endCommands ends the commands of a thread that match. What cannot be ended
// is said.
func (s *session) endCommands(ctx context.Context, thread string, match func(*entry) bool) {
	var reply struct {
		Data []struct {
			Item    string `json:"itemId"`
			Process string `json:"processId"`
		} `json:"data"`
	}
	if err := s.server.within(ctx, stopLimit, "thread/backgroundTerminals/list", map[string]any{"threadId": thread}, &reply); err != nil {
		s.notice("running/"+thread, "still_running", "warning", "Codex does not tell whether commands of the stopped turn still run.", clip(err.Error(), maxText))
		return
	}
	for _, running := range reply.Data {
		for _, e := range s.entries {
			if e.thread != thread || e.ended || e.item.ID != running.Item || !match(e) {
				continue
			}
			err := s.server.within(ctx, stopLimit, "thread/backgroundTerminals/terminate",
				map[string]any{"threadId": thread, "processId": running.Process}, nil)
			if err != nil {
				s.notice(e.key+"/running", "still_running", "warning", "A command of the stopped turn could not be ended.", clip(err.Error(), maxText))
				continue
			}
			e.killed = true
		}
	}
}
