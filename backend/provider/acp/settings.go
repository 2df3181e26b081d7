package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	sdk "github.com/coder/acp-go-sdk"

	"berth/backend/provider"
)

// setting is one choice an agent offers: model, effort or mode. Agents tell
// of it as a list of its own (modes, models) or as a configuration option.
type setting struct {
	config  string // id of the configuration option, empty for a list
	initial string // the agent's own choice, before we chose
	current string
	values  []configValue
}

func (c setting) has(value string) bool {
	for _, v := range c.values {
		if v.Value == value {
			return true
		}
	}
	return false
}

// settle takes over what the agent said of the conversation.
func (s *session) settle(id sdk.SessionId, o opened) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.id = id
	if o.Modes != nil {
		s.mode = setting{initial: string(o.Modes.CurrentModeId), current: string(o.Modes.CurrentModeId)}
		for _, m := range o.Modes.AvailableModes {
			s.mode.values = append(s.mode.values, configValue{Value: string(m.Id), Name: m.Name})
		}
	}
	if o.Models != nil {
		s.model = setting{initial: string(o.Models.CurrentModelId), current: string(o.Models.CurrentModelId)}
		for _, m := range o.Models.AvailableModels {
			v := configValue{Value: string(m.ModelId), Name: m.Name}
			if m.Description != nil {
				v.Description = *m.Description
			}
			s.model.values = append(s.model.values, v)
		}
	}
	s.configure(o.ConfigOptions)
}

// configure takes over configuration options; those of a category that is
// not known are the agent's own affair. Called with mu held.
func (s *session) configure(options []configOption) {
	for _, o := range options {
		var current string
		if o.Type != "select" || json.Unmarshal(o.Current, &current) != nil {
			continue
		}
		c := setting{config: o.ID, initial: current, current: current, values: flatten(o.Options)}
		switch {
		case o.Category == "model":
			s.model.become(c)
		case o.Category == "thought_level":
			s.effort.become(c)
		case o.Category == "mode" && (len(s.mode.values) == 0 || s.mode.config != ""):
			s.mode.become(c)
		}
	}
}

// become takes over a new state; what the agent chose at first stays known as
// long as it is offered.
func (c *setting) become(next setting) {
	if c.initial != "" && next.has(c.initial) {
		next.initial = c.initial
	}
	*c = next
}

func flatten(values []configValue) []configValue {
	var flat []configValue
	for _, v := range values {
		if v.Options != nil {
			flat = append(flat, flatten(v.Options)...)
			continue
		}
		flat = append(flat, v)
	}
	return flat
}

// policy is how a permission mode is kept.
type policy struct {
	permission provider.Permission
	mode       string // the agent's own mode, empty when it is left alone
	// native says that the agent itself has a mode for it; without one its
	// requests are answered by us where the permission mode says so.
	native bool
}

// ownModes are the agents' usual names of a permission mode, letters only.
var ownModes = map[provider.Permission][]string{
	provider.Ask:         {"default", "ask", "manual", "approve", "normal"},
	provider.AcceptEdits: {"acceptedits", "autoedit"},
	provider.PlanOnly:    {"plan", "readonly", "architect"},
	provider.Full:        {"full", "fullaccess", "yolo", "bypasspermissions"},
}

// choose finds how the agent keeps a permission mode. One that it cannot keep
// is an error: an agent without a mode for it that works with its own hands
// cannot be held to planning.
func choose(entry Entry, modes setting, want provider.Permission) (policy, error) {
	p := policy{permission: want}
	if own := find(entry, modes, want); own != "" {
		p.mode, p.native = own, true
		return p, nil
	}
	refused := &provider.Error{Code: "mode_unsupported", Text: fmt.Sprintf("%s has no mode for the permissions “%s”.", entry.Title, want)}
	if want == provider.PlanOnly {
		return p, refused
	}
	if p.mode = find(entry, modes, provider.Ask); p.mode != "" || len(modes.values) == 0 {
		return p, nil
	}
	// Modes of its own, none of which is known to ask: stay where the agent
	// started, unless that is known to ask for less.
	for _, looser := range []provider.Permission{provider.AcceptEdits, provider.Full} {
		if find(entry, setting{values: []configValue{{Value: modes.current}}}, looser) != "" {
			return p, refused
		}
	}
	return p, nil
}

func find(entry Entry, modes setting, want provider.Permission) string {
	if own := entry.Modes[want]; own != "" && modes.has(own) {
		return own
	}
	for _, name := range ownModes[want] {
		for _, v := range modes.values {
			if letters(v.Value) == name {
				return v.Value
			}
		}
	}
	return ""
}

func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// apply makes the agent work with a model, an effort and permissions. Empty
// model and effort are the agent's own choice.
func (s *session) apply(ctx context.Context, model, effort string, permission provider.Permission) error {
	s.mu.Lock()
	modes := s.mode
	s.mu.Unlock()
	p, err := choose(s.entry, modes, permission)
	if err != nil {
		return err
	}
	if p.mode != "" && p.mode != modes.current {
		if err := s.setMode(ctx, p.mode); err != nil {
			return fmt.Errorf("set the mode: %w", err)
		}
	}
	s.mu.Lock()
	s.policy = p
	s.mu.Unlock()
	if err := s.setModel(ctx, model); err != nil {
		return err
	}
	return s.setEffort(ctx, effort)
}

func (s *session) setMode(ctx context.Context, mode string) error {
	s.mu.Lock()
	config := s.mode.config
	s.mu.Unlock()
	if config != "" {
		return s.setConfig(ctx, config, mode)
	}
	_, err := s.rpc.Call(ctx, sdk.AgentMethodSessionSetMode, sdk.SetSessionModeRequest{SessionId: s.id, ModeId: sdk.SessionModeId(mode)}, nil)
	if err == nil {
		s.mu.Lock()
		s.mode.current = mode
		s.mu.Unlock()
	}
	return err
}

func (s *session) setModel(ctx context.Context, model string) error {
	s.mu.Lock()
	c := s.model
	s.mu.Unlock()
	if model == "" {
		model = c.initial
	}
	if model == c.current {
		return nil
	}
	if !c.has(model) {
		return &provider.Error{Code: "unknown_model", Text: fmt.Sprintf("%s does not offer the model %q.", s.entry.Title, model)}
	}
	if c.config != "" {
		return s.setConfig(ctx, c.config, model)
	}
	_, err := s.rpc.Call(ctx, sdk.AgentMethodSessionSetModel, sdk.UnstableSetSessionModelRequest{SessionId: s.id, ModelId: sdk.UnstableModelId(model)}, nil)
	if err != nil {
		return fmt.Errorf("set the model: %w", err)
	}
	s.mu.Lock()
	s.model.current = model
	s.mu.Unlock()
	return nil
}

func (s *session) setEffort(ctx context.Context, effort string) error {
	s.mu.Lock()
	c := s.effort
	s.mu.Unlock()
	if effort == "" {
		effort = c.initial
	}
	if effort == c.current {
		return nil
	}
	if !c.has(effort) {
		return &provider.Error{Code: "unknown_effort", Text: fmt.Sprintf("%s does not offer the effort %q.", s.entry.Title, effort)}
	}
	return s.setConfig(ctx, c.config, effort)
}

func (s *session) setConfig(ctx context.Context, id, value string) error {
	var reply opened
	_, err := s.rpc.Call(ctx, sdk.AgentMethodSessionSetConfigOption, sdk.SetSessionConfigOptionValueId{
		SessionId: s.id, ConfigId: sdk.SessionConfigId(id), Value: sdk.SessionConfigValueId(value),
	}, &reply)
	if err != nil {
		return fmt.Errorf("set %s: %w", id, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range []*setting{&s.model, &s.effort, &s.mode} {
		if c.config == id {
			c.current = value
		}
	}
	s.configure(reply.ConfigOptions)
	return nil
}

// learned is what Describe may say of this agent from now on.
func (s *session) learned() learned {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := learned{capabilities: s.capabilities()}
	if s.info != nil {
		l.version = firstBytes(s.info.Version, 120)
	}
	efforts := make([]string, 0, len(s.effort.values))
	for _, v := range s.effort.values {
		efforts = append(efforts, v.Value)
	}
	for _, v := range s.model.values {
		m := provider.Model{Value: v.Value, Label: firstNonEmpty(v.Name, v.Value), Note: firstBytes(v.Description, maxDetail)}
		if v.Value == s.model.current {
			m.Efforts, m.DefaultEffort = efforts, s.effort.current
		}
		l.models = append(l.models, m)
	}
	for _, want := range []provider.Permission{provider.Ask, provider.AcceptEdits, provider.PlanOnly, provider.Full} {
		if _, err := choose(s.entry, s.mode, want); err == nil {
			l.modes = append(l.modes, want)
		}
	}
	return l
}

// capabilities are what the handshake proves, with what the protocol always
// has. Called with mu held.
func (s *session) capabilities() provider.Capabilities {
	c := always
	c.Images = s.caps.PromptCapabilities.Image
	c.Fork = s.caps.SessionCapabilities.Fork != nil
	c.Resume = s.caps.LoadSession || s.caps.SessionCapabilities.Resume != nil
	c.ModelPerTurn, c.EffortPerTurn = len(s.model.values) > 0, len(s.effort.values) > 0
	if s.entry.correct != nil {
		s.entry.correct(&c)
	}
	return c
}

// always is what every agent of the protocol may do.
var always = provider.Capabilities{
	Approvals: true, Questions: true, Thinking: true, Plans: true, Commands: true,
	Files: true, Instructions: true, Interrupt: true, Usage: true,
}
