package acp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"berth/backend/provider"
)

// Entry is one agent of the registry: how it is started, shown and repaired.
type Entry struct {
	ID      string            `json:"id"`
	Title   string            `json:"title"`
	Mark    string            `json:"mark,omitempty"` // two letters for lists; made of the title when absent
	Command string            `json:"command"`        // a name looked up on PATH, or an absolute path
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	// Commands for the user's terminal, each a program and its arguments.
	Install []string `json:"install,omitempty"`
	Login   []string `json:"login,omitempty"`
	Update  []string `json:"update,omitempty"`
	// Modes names the agent's own mode for Berth's permission modes, where
	// its name does not tell.
	Modes map[provider.Permission]string `json:"modes,omitempty"`
	// Authenticate is the sign-in method that works without the user when an
	// environment variable is set.
	Authenticate *Authenticate `json:"authenticate,omitempty"`
	// OwnFiles leaves files to the agent: the protocol's file methods are not
	// offered to it.
	OwnFiles bool `json:"own_files,omitempty"`

	// Demo marks the built-in demo agent.
	Demo bool `json:"-"`
	// correct puts right what the protocol alone would have the agent able to
	// do, where that is known.
	correct func(*provider.Capabilities)
	// account tells the login state from local files, where it is known how.
	account func(env func(string) string) (account string, status provider.Status)
}

// Authenticate names a sign-in method of the protocol and the environment
// variable that holds what it needs.
type Authenticate struct {
	Method string `json:"method"`
	Env    string `json:"env"`
}

// AgentsFile is the user's own list of agents, a JSON file in the state
// directory: {"agents": [{"id": …, "title": …, "command": …, …}]}. An entry
// with the id of a built-in one replaces it.
type AgentsFile struct {
	Agents []Entry `json:"agents"`
}

// The bounds of an agents file: far above what anyone would write by hand.
const (
	maxAgentsFile = 1 << 20
	maxAgents     = 64
	maxWords      = 64
	maxWord       = 4096
)

// LoadAgentsFile reads and validates the file. A file that does not exist is
// an empty list. With an error come the entries that can be used.
func LoadAgentsFile(path string) (AgentsFile, error) {
	f, err := os.Open(path)
	if os.IsNotExist(err) {
		return AgentsFile{}, nil
	}
	if err != nil {
		return AgentsFile{}, fmt.Errorf("agents file: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxAgentsFile+1))
	if err != nil {
		return AgentsFile{}, fmt.Errorf("agents file: %w", err)
	}
	return ParseAgentsFile(data)
}

// ParseAgentsFile decodes and validates; the error names the fields. With it
// come the entries that are valid.
func ParseAgentsFile(data []byte) (AgentsFile, error) {
	if len(data) > maxAgentsFile {
		return AgentsFile{}, fmt.Errorf("agents file: larger than %d bytes", maxAgentsFile)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var file AgentsFile
	if err := dec.Decode(&file); err != nil {
		return AgentsFile{}, fmt.Errorf("agents file: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return AgentsFile{}, fmt.Errorf("agents file: something follows the closing brace")
	}
	return file.valid()
}

// Validate checks each entry and that ids are used once.
func (f AgentsFile) Validate() error {
	_, err := f.valid()
	return err
}

// valid gives the entries that can be used, and what is wrong with the
// others.
func (f AgentsFile) valid() (AgentsFile, error) {
	if len(f.Agents) > maxAgents {
		return AgentsFile{}, fmt.Errorf("agents: at most %d", maxAgents)
	}
	var good AgentsFile
	var faults []error
	seen := map[string]bool{}
	for i, entry := range f.Agents {
		err := entry.validate()
		if err == nil && seen[entry.ID] {
			err = fmt.Errorf("id: %q is used twice", entry.ID)
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("agents[%d].%w", i, err))
			continue
		}
		seen[entry.ID] = true
		good.Agents = append(good.Agents, entry)
	}
	return good, errors.Join(faults...)
}

// Registry is the agents of the file and those known from the start that it
// does not replace.
func (f AgentsFile) Registry() []Entry {
	list := slices.Clone(f.Agents)
	for _, known := range Builtin() {
		if !slices.ContainsFunc(f.Agents, func(e Entry) bool { return e.ID == known.ID }) {
			list = append(list, known)
		}
	}
	return list
}

var (
	entryID = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)
	envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	// Drivers of their own, which an entry cannot replace.
	reserved = []string{"claude", "codex", "cursor", "opencode", "demo"}
)

func (e Entry) validate() error {
	switch {
	case !entryID.MatchString(e.ID):
		return fmt.Errorf("id: %q is not 1 to 32 of a-z, 0-9 and -, beginning with a letter", e.ID)
	case slices.Contains(reserved, e.ID):
		return fmt.Errorf("id: %q is an agent that Berth drives in its own way", e.ID)
	case strings.TrimSpace(e.Title) == "" || len(e.Title) > 80:
		return fmt.Errorf("title: 1 to 80 bytes")
	case len([]rune(e.Mark)) > 3:
		return fmt.Errorf("mark: at most 3 letters")
	case strings.TrimSpace(e.Command) == "" || len(e.Command) > maxWord || strings.ContainsRune(e.Command, 0):
		return fmt.Errorf("command: a program's name or absolute path")
	}
	for field, words := range map[string][]string{"args": e.Args, "install": e.Install, "login": e.Login, "update": e.Update} {
		if err := validWords(words); err != nil {
			return fmt.Errorf("%s%w", field, err)
		}
	}
	return e.validateMaps()
}

func (e Entry) validateMaps() error {
	if len(e.Env) > maxWords {
		return fmt.Errorf("env: at most %d variables", maxWords)
	}
	for name, value := range e.Env {
		if !envName.MatchString(name) {
			return fmt.Errorf("env.%s: not a name of an environment variable", name)
		}
		if len(value) > maxWord || strings.ContainsRune(value, 0) {
			return fmt.Errorf("env.%s: at most %d bytes and no NUL", name, maxWord)
		}
	}
	for mode, own := range e.Modes {
		switch mode {
		case provider.Ask, provider.AcceptEdits, provider.PlanOnly, provider.Full:
		default:
			return fmt.Errorf("modes.%s: not one of ask, accept-edits, plan, full", mode)
		}
		if own == "" || len(own) > maxWord {
			return fmt.Errorf("modes.%s: the agent's own name of the mode", mode)
		}
	}
	if a := e.Authenticate; a != nil {
		if a.Method == "" || len(a.Method) > maxWord {
			return fmt.Errorf("authenticate.method: the agent's own id of the method")
		}
		if !envName.MatchString(a.Env) {
			return fmt.Errorf("authenticate.env: not a name of an environment variable")
		}
	}
	return nil
}

func validWords(words []string) error {
	if len(words) > maxWords {
		return fmt.Errorf(": at most %d", maxWords)
	}
	for i, word := range words {
		if len(word) > maxWord || strings.ContainsRune(word, 0) {
			return fmt.Errorf("[%d]: at most %d bytes and no NUL", i, maxWord)
		}
	}
	return nil
}

// mark gives the two letters shown in lists.
func (e Entry) mark() string {
	if e.Mark != "" {
		return e.Mark
	}
	letters := []rune(strings.ToUpper(strings.ReplaceAll(e.Title, " ", "")))
	return string(letters[:min(2, len(letters))])
}
