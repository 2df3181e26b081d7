package claude

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"berth/backend/event"
	"berth/backend/provider"
	"berth/backend/provider/patch"
)

const (
	// maxRequests bounds the requests that wait at the same time; further
	// ones are denied.
	maxRequests = 128
	// maxPlanFile bounds the plan that the human is asked about, in bytes.
	maxPlanFile = 256 << 10
)

// canUseTool is the CLI's question whether a tool may run (subtype
// can_use_tool of a control_request).
type canUseTool struct {
	Subtype     string            `json:"subtype"`
	Tool        string            `json:"tool_name"`
	Name        string            `json:"display_name"`
	Input       json.RawMessage   `json:"input"`
	Description string            `json:"description"`
	Reason      string            `json:"decision_reason"`
	BlockedPath string            `json:"blocked_path"`
	ToolUse     string            `json:"tool_use_id"`
	Suggestions []json.RawMessage `json:"permission_suggestions"`
}

// suggestion is a change of the permissions that would make the question
// unnecessary. It goes back as it came.
type suggestion struct {
	Type        string `json:"type"` // addRules, addDirectories, setMode
	Mode        string `json:"mode"`
	Destination string `json:"destination"` // session, or a settings file
	Behavior    string `json:"behavior"`
	Rules       []struct {
		Tool    string `json:"toolName"`
		Content string `json:"ruleContent"`
	} `json:"rules"`
	Directories []string `json:"directories"`
}

// pending is a request that waits for the human.
type pending struct {
	tool      string
	input     json.RawMessage
	session   []json.RawMessage // what allow_session changes
	always    []json.RawMessage // what allow_always changes
	questions []asked
}

// asked is one question of AskUserQuestion.
type asked struct {
	Question string `json:"question"`
	Header   string `json:"header"`
	Multiple bool   `json:"multiSelect"`
	Options  []struct {
		Label       string `json:"label"`
		Description string `json:"description"`
	} `json:"options"`
}

// request makes what the human sees of a question of the CLI.
func (p *projector) request(key string, r *canUseTool) (*pending, *provider.Request) {
	w := &pending{tool: r.Tool, input: r.Input}
	req := &provider.Request{Key: key, Kind: event.Approval}
	if c := p.tools[r.ToolUse]; c != nil && !c.hidden {
		req.Tool = r.ToolUse
	}
	switch r.Tool {
	case "AskUserQuestion":
		if fields, ok := w.ask(r.Input); ok {
			req.Kind = event.Question
			req.Body = event.Request{Title: firstLine(w.questions[0].Question), Questions: fields}
			return w, req
		}
	case "ExitPlanMode":
		w.session = []json.RawMessage{acceptEdits}
		req.Body = event.Request{Title: "Carry out this plan?", Reason: p.planText(r.Input), ToolKind: event.ToolThink,
			Options: []event.Option{
				{ID: "allow_once", Kind: event.AllowOnce, Label: "Carry it out"},
				{ID: "allow_session", Kind: event.AllowSession, Label: "Carry it out, and accept edits"},
				{ID: "reject_once", Kind: event.RejectOnce, Label: "Keep planning", Reason: true},
			}}
		return w, req
	}
	w.sort(r.Suggestions)
	req.Body = approval(r, p.cwd)
	req.Body.Options = w.options()
	return w, req
}

// acceptEdits lets the session go on with edits; the CLI offers the same
// after a plan in its own terminal.
var acceptEdits = json.RawMessage(`{"type":"setMode","mode":"acceptEdits","destination":"session"}`)

// ask reads the questions of AskUserQuestion.
func (w *pending) ask(input json.RawMessage) ([]event.QuestionField, bool) {
	var in struct {
		Questions []asked `json:"questions"`
	}
	if json.Unmarshal(input, &in) != nil || len(in.Questions) == 0 {
		return nil, false
	}
	w.questions = in.Questions
	var fields []event.QuestionField
	for i, q := range in.Questions {
		// The CLI offers "Other" with every question and takes any text.
		f := event.QuestionField{ID: questionID(i), Header: q.Header, Text: q.Question, Multiple: q.Multiple, FreeText: true}
		for _, o := range q.Options {
			f.Choices = append(f.Choices, event.Choice{Value: o.Label, Label: o.Label, Note: o.Description})
		}
		fields = append(fields, f)
	}
	return fields, true
}

func questionID(i int) string { return "question_" + strconv.Itoa(i+1) }

// sort splits the CLI's suggestions into those that last for the session and
// those that are kept in a settings file.
func (w *pending) sort(all []json.RawMessage) {
	for _, raw := range all {
		var s suggestion
		if json.Unmarshal(raw, &s) != nil || (s.Type == "addRules" && s.Behavior != "allow") || s.Mode == "bypassPermissions" {
			continue
		}
		switch {
		case s.Destination == "session":
			w.session = append(w.session, raw)
		case s.Type == "addRules":
			w.always = append(w.always, raw)
		}
	}
}

func (w *pending) options() []event.Option {
	options := []event.Option{{ID: "allow_once", Kind: event.AllowOnce, Label: "Allow once"}}
	if len(w.session) > 0 {
		options = append(options, event.Option{ID: "allow_session", Kind: event.AllowSession, Label: "Allow " + describe(w.session) + " in this session"})
	}
	if len(w.always) > 0 {
		options = append(options, event.Option{ID: "allow_always", Kind: event.AllowAlways, Label: "Always allow " + describe(w.always)})
	}
	return append(options, event.Option{ID: "reject_once", Kind: event.RejectOnce, Label: "Deny", Reason: true})
}

// describe says what suggestions would allow.
func describe(all []json.RawMessage) string {
	var parts []string
	for _, raw := range all {
		var s suggestion
		_ = json.Unmarshal(raw, &s) // read before, by sort
		switch s.Type {
		case "setMode":
			if s.Mode == "acceptEdits" {
				parts = append(parts, "all edits")
			} else {
				parts = append(parts, "mode "+s.Mode)
			}
		case "addDirectories":
			parts = append(parts, "work in "+strings.Join(s.Directories, ", "))
		default:
			for _, rule := range s.Rules {
				if rule.Content == "" {
					parts = append(parts, rule.Tool)
				} else {
					parts = append(parts, fmt.Sprintf("%s(%s)", rule.Tool, rule.Content))
				}
			}
		}
	}
	return cut(strings.Join(parts, ", "), maxTitle)
}

// approval makes the body of an approval.
func approval(r *canUseTool, cwd string) event.Request {
	in := readInput(r.Input)
	kind := toolKind(r.Tool)
	body := event.Request{ToolKind: kind, Input: r.Input, Reason: cut(r.Reason, maxDetail)}
	subject := title(r.Tool, in)
	switch kind {
	case event.ToolExecute:
		body.Title, body.Command, body.Cwd = cmp.Or(in.Description, "Run a command"), in.Command, cwd
	case event.ToolEdit:
		body.Title = "Edit " + filepath.Base(subject)
		body.Files = proposed(cwd, r.Tool, r.Input)
	case event.ToolRead:
		body.Title = "Read " + subject
	case event.ToolFetch:
		body.Title, body.Host = "Fetch "+subject, hostOf(in.URL)
	case event.ToolSearch:
		body.Title = "Search " + subject
	default:
		body.Title = strings.TrimSpace(cmp.Or(r.Name, r.Tool) + " " + subject)
	}
	body.Title = cut(body.Title, maxTitle)
	if body.Reason == "" && r.BlockedPath != "" {
		body.Reason = "It reaches " + r.BlockedPath
	}
	return body
}

// planPath says whether a file is where plan mode keeps its plan.
func planPath(path string) bool {
	return filepath.Base(filepath.Dir(path)) == "plans" && filepath.Ext(path) == ".md"
}

// planText is the plan that the human is asked about: in the call itself, or,
// from version 2.1, in a file that the agent has written.
func (p *projector) planText(input json.RawMessage) string {
	if plan := readInput(input).Plan; plan != "" {
		return plan
	}
	text, ok := readFile(p.planFile, maxPlanFile)
	if !ok {
		return ""
	}
	return text
}

// readFile reads a regular file of at most max bytes.
func readFile(path string, max int64) (string, bool) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Size() > max {
		return "", false
	}
	data, err := os.ReadFile(path)
	if err != nil || int64(len(data)) > max {
		return "", false
	}
	return string(data), true
}

// edit is one replacement of Edit and MultiEdit.
type edit struct {
	Old string `json:"old_string"`
	New string `json:"new_string"`
	All bool   `json:"replace_all"`
}

// proposed is what a file would look like after the edit that is asked about.
func proposed(cwd, tool string, input json.RawMessage) []event.FileDiff {
	var in struct {
		edit
		Path    string  `json:"file_path"`
		Content *string `json:"content"`
		Edits   []edit  `json:"edits"`
	}
	if json.Unmarshal(input, &in) != nil || in.Path == "" {
		return nil
	}
	shown := patch.Relative(cwd, in.Path)
	var old *string
	if _, err := os.Lstat(in.Path); err == nil {
		text, ok := readFile(in.Path, patch.MaxText)
		if !ok {
			return []event.FileDiff{{Path: shown, Change: "modified", Omitted: "too_large"}}
		}
		old = &text
	}
	new := ""
	if old != nil {
		new = *old
	}
	switch {
	case tool == "Write" && in.Content != nil:
		new = *in.Content
	case tool == "Edit":
		new = in.edit.apply(new)
	case tool == "MultiEdit":
		for _, e := range in.Edits {
			new = e.apply(new)
		}
	default:
		return nil
	}
	return []event.FileDiff{patch.Between(shown, old, &new)}
}

func (e *edit) apply(s string) string {
	switch {
	case e.Old == "" && s == "":
		return e.New
	case e.Old == "":
		return s
	case e.All:
		return strings.ReplaceAll(s, e.Old, e.New)
	}
	return strings.Replace(s, e.Old, e.New, 1)
}

// reply is the answer to can_use_tool.
type reply struct {
	Behavior    string            `json:"behavior"` // allow, deny
	Input       json.RawMessage   `json:"updatedInput,omitempty"`
	Permissions []json.RawMessage `json:"updatedPermissions,omitempty"`
	Message     string            `json:"message,omitempty"`
	Interrupt   bool              `json:"interrupt,omitempty"`
}

// What the agent is told when the human gave no reason of his own.
const (
	saidNo       = "The user does not want this to be done. Ask what to do instead, or go on without it."
	saidNothing  = "The user did not answer the question. Go on with your own judgement, or ask differently."
	stoppedAll   = "The user stopped the turn."
	askedTooMuch = "Too many requests wait for the user."
)

// answer makes the reply out of the human's answer.
func (w *pending) answer(a provider.Answer) (*reply, error) {
	switch {
	case a.Cancelled:
		return &reply{Behavior: "deny", Message: stoppedAll, Interrupt: true}, nil
	case len(w.questions) > 0:
		return w.answerQuestions(a)
	case a.Option == "reject_once":
		return &reply{Behavior: "deny", Message: cmp.Or(a.Reason, saidNo)}, nil
	case a.Option == "allow_once":
		return &reply{Behavior: "allow", Input: w.input}, nil
	case a.Option == "allow_session" && len(w.session) > 0:
		return &reply{Behavior: "allow", Input: w.input, Permissions: w.session}, nil
	case a.Option == "allow_always" && len(w.always) > 0:
		return &reply{Behavior: "allow", Input: w.input, Permissions: w.always}, nil
	}
	return nil, fmt.Errorf("option %q is none of the request's", a.Option)
}

// answerQuestions gives the answers by the text of their questions, several
// choices joined, as the CLI's own dialogue does.
func (w *pending) answerQuestions(a provider.Answer) (*reply, error) {
	answers := map[string]string{}
	for i, q := range w.questions {
		if values := a.Answers[questionID(i)]; len(values) > 0 {
			answers[q.Question] = strings.Join(values, ", ")
		}
	}
	if len(answers) == 0 {
		return &reply{Behavior: "deny", Message: cmp.Or(a.Reason, saidNothing)}, nil
	}
	var in map[string]json.RawMessage
	if err := json.Unmarshal(w.input, &in); err != nil {
		return nil, fmt.Errorf("read the question again: %w", err)
	}
	said, err := json.Marshal(answers)
	if err != nil {
		return nil, err
	}
	in["answers"] = said
	input, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	return &reply{Behavior: "allow", Input: input}, nil
}
