package codex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"berth/backend/provider"
	"berth/backend/provider/wire"
)

// errStillRuns: a turn did not end although it was interrupted.
var errStillRuns = errors.New("the turn did not end in time")

// settings are what the user's own configuration says where a chat says
// nothing, and the sandbox it describes.
type settings struct {
	model   string
	effort  string
	summary string
	efforts map[string]string // the default of each model
	writing workspaceWrite
	// plans says that the thread is in plan mode, as it stood after the last
	// turn.
	plans bool
}

// workspaceWrite is the user's own choice for the sandbox that may write to
// the folder ([sandbox_workspace_write] of config.toml).
type workspaceWrite struct {
	Roots       []string `json:"writable_roots"`
	Network     bool     `json:"network_access"`
	ExcludeTmp  bool     `json:"exclude_slash_tmp"`
	ExcludeTemp bool     `json:"exclude_tmpdir_env_var"`
}

// opened is the reply to thread/start and thread/resume, as far as it is
// used.
type opened struct {
	Thread struct {
		ID     string `json:"id"`
		Status struct {
			Type string `json:"type"`
		} `json:"status"`
	} `json:"thread"`
	Approval json.RawMessage `json:"approvalPolicy"`
	Reviewer string          `json:"approvalsReviewer"`
	Sandbox  struct {
		Type string `json:"type"`
	} `json:"sandbox"`
	Collaboration struct {
		Mode string `json:"mode"`
	} `json:"collaborationMode"`
}

// open starts or resumes the thread and checks that it runs under the
// permissions asked for.
func (s *session) open(ctx context.Context) error {
	mode, err := permissionsOf(s.spec.Mode)
	if err != nil {
		return err
	}
	if err := s.readSettings(ctx); err != nil {
		return requestError("Codex could not read its settings.", err)
	}
	var reply opened
	if s.spec.Resume == "" {
		reply, err = s.start(ctx, mode)
	} else {
		reply, err = s.resume(ctx, mode)
	}
	if err != nil {
		return err
	}
	if err := mode.check(reply); err != nil {
		return err
	}
	s.mu.Lock()
	s.settings.plans = reply.Collaboration.Mode == modePlan
	s.mu.Unlock()
	if err := s.instruct(ctx); err != nil {
		return requestError("Codex did not take the instructions of this chat.", err)
	}
	s.post(func() { s.emit(provider.Event{Conversation: s.thread}) })
	go s.loadSkills()
	return nil
}

// threadParams are those of starting and resuming alike.
func (s *session) threadParams(mode permissions) map[string]any {
	p := map[string]any{
		"cwd": s.spec.Cwd, "approvalPolicy": mode.approval, "approvalsReviewer": reviewer, "sandbox": mode.sandbox,
		// Dotted, so that the user's other settings of the same table stay.
		"config": map[string]any{"tools.update_plan.enabled": true},
	}
	if model := s.model(s.spec.Model); model != "" {
		p["model"] = model
	}
	if s.spec.Instructions != "" {
		p["developerInstructions"] = s.spec.Instructions
	}
	return p
}

// start begins a thread. Its id is registered by the reading goroutine,
// before anything that follows the reply is read.
func (s *session) start(ctx context.Context, mode permissions) (opened, error) {
	var reply opened
	got := make(chan error, 3) // each of the three below may say one thing
	go func() {
		_, _, err := s.server.rpc.Begin(ctx, "thread/start", s.threadParams(mode), func(m wire.Message) {
			got <- s.startedThread(m, &reply)
		})
		if err != nil {
			got <- err
		}
	}()
	stop := s.host.Clock.AfterFunc(callLimit, func() { got <- errors.New("no reply in time") })
	defer stop()
	var err error
	select {
	case err = <-got:
	case <-s.server.ended:
		err = wire.ErrEnded
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		return opened{}, requestError("Codex could not start the conversation.", err)
	}
	return reply, nil
}

// startedThread takes the reply on the reading goroutine. One that comes too
// late leaves an empty thread behind, which Codex unloads.
func (s *session) startedThread(m wire.Message, reply *opened) error {
	if m.Error != nil {
		return m.Error
	}
	if err := json.Unmarshal(m.Result, reply); err != nil {
		return fmt.Errorf("reply to thread/start: %w", err)
	}
	select {
	case <-s.over:
		return errors.New("nobody waits for the thread any more")
	default:
	}
	s.setThread(reply.Thread.ID)
	if reply.Thread.ID == "" || !s.server.register(reply.Thread.ID, s) {
		return errors.New("reply to thread/start: no new thread")
	}
	return nil
}

func (s *session) setThread(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.thread = id
}

// resume loads a thread that was there before. One that still runs a turn
// (its end was not heard of) is interrupted: nobody here waits for it.
func (s *session) resume(ctx context.Context, mode permissions) (opened, error) {
	s.setThread(s.spec.Resume)
	if !s.server.register(s.spec.Resume, s) {
		s.setThread("") // it is not ours to leave
		return opened{}, &provider.Error{Code: "in_use", Text: "This Codex conversation is open in another chat.", Detail: s.spec.Resume}
	}
	params := s.threadParams(mode)
	params["threadId"], params["excludeTurns"] = s.thread, true
	var reply opened
	if err := s.server.within(ctx, callLimit, "thread/resume", params, &reply); err != nil {
		return opened{}, requestError("Codex could not take up the conversation again.", err)
	}
	if reply.Thread.ID != s.thread {
		return opened{}, &provider.Error{Code: "not_resumable", Text: "Codex took up another conversation than the one asked for.", Detail: reply.Thread.ID}
	}
	if reply.Thread.Status.Type != "active" {
		return reply, nil
	}
	return reply, s.endForeign(ctx)
}

// endForeign ends a turn that runs in a thread just taken up.
func (s *session) endForeign(ctx context.Context) error {
	turns, err := s.lastTurns(ctx)
	if err != nil {
		return requestError("Codex could not take up the conversation again.", err)
	}
	if len(turns) == 0 || turns[0].Status != statusRunning {
		return nil
	}
	s.mu.Lock()
	s.foreign = turns[0].ID
	s.mu.Unlock()
	if err := s.interruptNative(ctx, s.thread, turns[0].ID); err != nil {
		return requestError("The conversation's last turn still runs and could not be stopped.", err)
	}
	if err := s.waitIdle(ctx, endLimit); err != nil {
		return requestError("The conversation's last turn still runs and could not be stopped.", err)
	}
	return nil
}

// readSettings reads what Codex is configured to, as seen from the folder.
func (s *session) readSettings(ctx context.Context) error {
	var config struct {
		Config struct {
			Model   string         `json:"model"`
			Effort  string         `json:"model_reasoning_effort"`
			Summary string         `json:"model_reasoning_summary"`
			Writing workspaceWrite `json:"sandbox_workspace_write"`
		} `json:"config"`
	}
	if err := s.server.within(ctx, callLimit, "config/read", map[string]any{"cwd": s.spec.Cwd}, &config); err != nil {
		return err
	}
	var catalog struct {
		Data []struct {
			Model   string `json:"model"`
			Effort  string `json:"defaultReasoningEffort"`
			Default bool   `json:"isDefault"`
		} `json:"data"`
	}
	list := map[string]any{"limit": maxModels, "includeHidden": true}
	if err := s.server.within(ctx, lookLimit, "model/list", list, &catalog); err != nil {
		catalog.Data = nil // the catalogue may want the network; without it defaults stay with Codex
	}
	c := config.Config
	out := settings{model: c.Model, effort: c.Effort, summary: c.Summary, writing: c.Writing, efforts: map[string]string{}}
	for _, m := range catalog.Data {
		out.efforts[m.Model] = m.Effort
		if m.Default && out.model == "" {
			out.model = m.Model
		}
	}
	s.mu.Lock()
	s.settings = out
	s.mu.Unlock()
	return nil
}

// model is what a chat's choice means: the default is named, so that a
// thread that ran with another one goes back to it.
func (s *session) model(choice string) string {
	if choice != "" {
		return choice
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings.model
}

// effort likewise; empty when nothing is known of the model.
func (s *session) effort(choice, model string) string {
	if choice != "" {
		return choice
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.settings.effort != "" {
		return s.settings.effort
	}
	return s.settings.efforts[model]
}
