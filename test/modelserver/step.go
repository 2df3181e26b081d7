package modelserver

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Step is one answer of the model. Scenario says what it does; the other
// fields are its arguments, each used by the scenarios that name it.
type Step struct {
	Scenario string `json:"scenario,omitempty"`

	Text       string   `json:"text,omitempty"`       // text, thinking, split: the answer; before a tool call: what is said first
	Thought    string   `json:"thought,omitempty"`    // any: a thought before the answer or call
	Command    string   `json:"command,omitempty"`    // shell
	Path       string   `json:"path,omitempty"`       // read, write, edit, patch
	Content    string   `json:"content,omitempty"`    // write
	Old        string   `json:"old,omitempty"`        // edit, patch
	New        string   `json:"new,omitempty"`        // edit, patch
	Question   string   `json:"question,omitempty"`   // question
	Options    []string `json:"options,omitempty"`    // question
	Multiple   bool     `json:"multiple,omitempty"`   // question: several may be chosen
	Prompt     string   `json:"prompt,omitempty"`     // subagent
	Background bool     `json:"background,omitempty"` // subagent: the agent goes on without waiting
	Entries    []string `json:"entries,omitempty"`    // plan
	Calls      []Step   `json:"calls,omitempty"`      // parallel

	Tool  string          `json:"tool,omitempty"`  // call: the tool's name
	Input json.RawMessage `json:"input,omitempty"` // call: its input, a JSON string for a custom tool

	Code       int  `json:"code,omitempty"`        // status
	Times      int  `json:"times,omitempty"`       // status, cut: how often before going on; -1 always, 0 means once
	RetryAfter *int `json:"retry_after,omitempty"` // status: seconds, absent for no header
	Seconds    int  `json:"seconds,omitempty"`     // silence
	Bytes      int  `json:"bytes,omitempty"`       // big
	Words      int  `json:"words,omitempty"`       // slow, clock
	MS         int  `json:"ms,omitempty"`          // slow, clock: between words
}

// The scenarios.
const (
	scText     = "text"     // a plain answer
	scThinking = "thinking" // a thought, then an answer
	scShell    = "shell"    // runs a command
	scRead     = "read"     // reads a file
	scWrite    = "write"    // writes a file
	scEdit     = "edit"     // replaces a text in a file
	scPatch    = "patch"    // edits by a patch where the agent has such a tool, else as edit
	scQuestion = "question" // asks the user
	scSubagent = "subagent" // starts a sub-agent with a prompt
	scPlan     = "plan"     // sets the plan or to-do list
	scParallel = "parallel" // several calls in one answer
	scCall     = "call"     // calls a tool by its own name
	scRefusal  = "refusal"  // declines to answer
	scStatus   = "status"   // an HTTP error, some times or always
	scCut      = "cut"      // breaks the connection in mid-answer
	scSilence  = "silence"  // begins, says nothing for a while, then answers
	scBig      = "big"      // a long answer
	scInvalid  = "invalid_utf8"
	scSplit    = "split" // emoji and CJK, in pieces that split characters
	scSlow     = "slow"  // words at a pace
	scClock    = "clock" // at a pace, the time at which each word is sent
)

// transportOnly are the scenarios that may be followed by another step
// without a tool call between them.
func (s Step) transportOnly() bool { return s.Scenario == scStatus || s.Scenario == scCut }

// callCount is how many tool calls the step makes.
func (s Step) callCount() int {
	switch s.Scenario {
	case scParallel:
		return len(s.Calls)
	case scShell, scRead, scWrite, scEdit, scPatch, scQuestion, scSubagent, scPlan, scCall:
		return 1
	}
	return 0
}

const (
	directiveOpen  = "[[scenario:"
	directiveClose = "]]"
)

// ParseDirectives reads the steps out of a text: [[scenario:NAME]] or
// [[scenario:NAME {arguments}]], any number of them, in order. Arguments are
// a JSON object with the fields of Step. Text around them is ignored.
func ParseDirectives(text string) ([]Step, error) {
	var steps []Step
	for {
		_, rest, found := strings.Cut(text, directiveOpen)
		if !found {
			return steps, nil
		}
		end := strings.IndexAny(rest, " ]{")
		if end <= 0 {
			return nil, fmt.Errorf("a directive has no name: %.60q", rest)
		}
		step := Step{}
		name := rest[:end]
		rest = strings.TrimLeft(rest[end:], " ")
		if strings.HasPrefix(rest, "{") {
			d := json.NewDecoder(strings.NewReader(rest))
			d.DisallowUnknownFields()
			if err := d.Decode(&step); err != nil {
				return nil, fmt.Errorf("arguments of %s: %w", name, err)
			}
			rest = strings.TrimLeft(rest[d.InputOffset():], " ")
		}
		if !strings.HasPrefix(rest, directiveClose) {
			return nil, fmt.Errorf("directive %s is not closed by %s", name, directiveClose)
		}
		step.Scenario = name
		steps = append(steps, step)
		text = rest[len(directiveClose):]
	}
}

// Directive is the notation of a step, to be put into a user's text.
func Directive(s Step) string {
	name := s.Scenario
	s.Scenario = ""
	args, err := json.Marshal(s)
	if err != nil { // only Input can be malformed, and then the caller wrote it so
		panic(err)
	}
	if string(args) == "{}" {
		return directiveOpen + name + directiveClose
	}
	return directiveOpen + name + " " + string(args) + directiveClose
}
