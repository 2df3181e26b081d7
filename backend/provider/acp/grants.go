package acp

import (
	"path/filepath"
	"strings"

	"berth/backend/event"
	"berth/backend/provider"
)

// grants are what the user allowed the agent to do through the protocol.
type grants struct {
	writes   bool            // of any file in the folder
	paths    map[string]bool // of these files
	commands []string        // texts that name an allowed command
	terminal bool            // any command
}

// verdict on an act of the agent through the protocol.
type verdict int

const (
	asks verdict = iota
	granted
	refused
)

// allowed notes that the user (or the permission mode) allowed a call, so
// that what the agent then does through the protocol is not asked again.
// Edits that are allowed for more than once cover all files; a command covers
// only itself, for what an agent makes of "always" is not known.
func (s *session) allowed(t *turn, call *tool, kind event.OptionKind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lasting := kind == event.AllowAlways || kind == event.AllowSession
	switch call.kind {
	case event.ToolEdit, event.ToolDelete, event.ToolMove:
		if lasting {
			s.granted.writes = true
		}
		if t.granted.paths == nil {
			t.granted.paths = map[string]bool{}
		}
		for _, path := range call.paths {
			t.granted.paths[filepath.Clean(path)] = true
		}
	case event.ToolExecute:
		g := &t.granted
		if lasting {
			g = &s.granted
		}
		if command := call.command(); command != "" {
			g.commands = append(g.commands, squeeze(command))
		}
	}
}

// mayWrite judges a write of the agent through the protocol.
func (s *session) mayWrite(t *turn, path string) verdict {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.policy.permission {
	case provider.PlanOnly:
		return refused
	case provider.AcceptEdits, provider.Full:
		return granted
	}
	if s.granted.writes || t != nil && t == s.turn && t.granted.paths[filepath.Clean(path)] {
		return granted
	}
	return asks
}

// mayRun judges a command of the agent through the protocol.
func (s *session) mayRun(t *turn, command string) verdict {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.policy.permission {
	case provider.PlanOnly:
		return refused
	case provider.Full:
		return granted
	}
	if s.granted.terminal {
		return granted
	}
	command = squeeze(command)
	given := s.granted.commands
	if t != nil && t == s.turn {
		given = append(given[:len(given):len(given)], t.granted.commands...)
	}
	for _, c := range given {
		if c == command {
			return granted
		}
	}
	return asks
}

// squeeze makes command lines comparable that differ in white space.
func squeeze(command string) string { return strings.Join(strings.Fields(command), " ") }
