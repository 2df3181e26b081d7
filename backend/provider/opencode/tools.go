package opencode

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"berth/backend/event"
	"berth/backend/provider"
)

// toolPart is a call of a tool.
type toolPart struct {
	CallID string    `json:"callID"`
	Tool   string    `json:"tool"`
	State  toolState `json:"state"`
}

type toolState struct {
	Status   string          `json:"status"` // pending, running, completed, error
	Input    json.RawMessage `json:"input"`
	Title    string          `json:"title"`
	Output   string          `json:"output"`
	Error    string          `json:"error"`
	Metadata struct {
		Output    string `json:"output"`
		Exit      *int   `json:"exit"`
		SessionID string `json:"sessionId"`
		Exists    *bool  `json:"exists"`
		Diff      string `json:"diff"`
		FileDiff  *struct {
			File      string `json:"file"`
			Patch     string `json:"patch"`
			Additions int    `json:"additions"`
			Deletions int    `json:"deletions"`
		} `json:"filediff"`
		Display struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"display"`
	} `json:"metadata"`
	Time struct {
		Start int64 `json:"start"` // ms since 1970
		End   int64 `json:"end"`
	} `json:"time"`
	Attachments []struct {
		Mime     string `json:"mime"`
		Filename string `json:"filename"`
		URL      string `json:"url"`
	} `json:"attachments"`
}

// input is what the built-in tools are called with.
type input struct {
	Command     string `json:"command"`
	FilePath    string `json:"filePath"`
	Path        string `json:"path"`
	Pattern     string `json:"pattern"`
	URL         string `json:"url"`
	Query       string `json:"query"`
	Description string `json:"description"`
	Name        string `json:"name"`
	Content     string `json:"content"`
}

var toolKinds = map[string]event.ToolKind{
	"bash": event.ToolExecute, "read": event.ToolRead, "edit": event.ToolEdit, "write": event.ToolEdit, "multiedit": event.ToolEdit,
	"patch": event.ToolEdit, "apply_patch": event.ToolEdit, "glob": event.ToolSearch, "grep": event.ToolSearch, "list": event.ToolSearch,
	"codesearch": event.ToolSearch, "lsp": event.ToolSearch, "webfetch": event.ToolFetch, "websearch": event.ToolFetch, "task": event.ToolAgent,
}

// toolUpdated takes the state of a call.
func (s *session) toolUpdated(session, id, messageID string, call toolPart) {
	known := s.view.parts[id]
	if known == nil {
		if len(s.view.parts) == maxItems {
			return
		}
		known = &partial{kind: event.ToolCall, session: session}
		s.view.parts[id] = known
		s.view.calls[messageID+"/"+call.CallID] = id
	}
	if call.Tool == "todowrite" || call.Tool == "question" {
		known.ended = true
		return // the plan and the question stand for them
	}
	if call.Tool == "task" && call.State.Metadata.SessionID != "" {
		s.view.children[call.State.Metadata.SessionID] = id
	}
	before := known.tool
	known.tool = &call
	if live := call.State.Metadata.Output; call.State.Status == "running" && before != nil && before.State.Status == "running" && string(before.State.Input) == string(call.State.Input) {
		s.live(session, id, known, live)
		return
	}
	s.emitTool(session, id, known, "")
}

// live streams what was added to a running call's output.
func (s *session) live(session, id string, known *partial, output string) {
	added, grew := strings.CutPrefix(output, known.output)
	known.output = output
	switch {
	case !grew: // OpenCode shortened its beginning
		s.emitTool(session, id, known, "")
	case added != "":
		s.emit(provider.Event{Text: &provider.Text{Key: id, Parent: s.view.parent(session), Kind: event.ToolCall, Text: added}})
	}
}

// emitTool puts the call's item as it now stands; as, if not empty, replaces
// its status.
func (s *session) emitTool(session, id string, known *partial, as event.Status) {
	call := known.tool
	st := call.State
	status := as
	if status == "" {
		status = toolStatus(st.Status)
	}
	known.ended = status != event.Pending && status != event.InProgress
	s.dog.Working(id, !known.ended)
	var in input
	_ = json.Unmarshal(st.Input, &in)
	body := &event.Tool{
		Kind: kindOf(call.Tool), Name: call.Tool, Title: call.title(in), Input: bounded(st.Input), ExitCode: st.Metadata.Exit,
		Files: s.changes(call, in), StartedAt: at(st.Time.Start), EndedAt: at(st.Time.End),
	}
	if path := firstNonEmpty(in.FilePath, in.Path); path != "" {
		body.Locations = []event.Location{{Path: path}}
	}
	output := st.Output
	switch {
	case call.Tool == "read" && st.Metadata.Display.Type == "file":
		output = st.Metadata.Display.Text // without the model's line numbers
	case output == "":
		output = st.Metadata.Output
	}
	body.Output, body.OutputBytes = firstBytes(output, maxOutput), int64(len(output))
	if status == event.Failed {
		body.Error = firstBytes(firstNonEmpty(st.Error, lastLine(output)), maxInput)
	}
	item := &provider.Item{
		Key: id, Parent: s.view.parent(session), Kind: event.ToolCall, Status: status, ProviderID: call.CallID, Body: event.Body{Tool: body},
	}
	for _, a := range st.Attachments {
		if image, ok := dataImage(a.Mime, a.Filename, a.URL); ok {
			item.Images = append(item.Images, image)
		}
	}
	s.emit(provider.Event{Item: item})
}

// sweep ends what OpenCode left open at the end of a turn.
func (s *session) sweep(state string) {
	for id, known := range s.view.parts {
		if known.ended {
			continue
		}
		as := event.Completed
		switch state {
		case stopped:
			as = event.Cancelled
		case failed:
			as = event.Failed
		}
		switch {
		case known.tool != nil:
			s.emitTool(known.session, id, known, as)
		case known.told > 0:
			known.ended = true
			s.emit(provider.Event{Item: &provider.Item{Key: id, Parent: s.view.parent(known.session), Kind: known.kind, Status: event.Completed, ProviderID: id}})
		}
	}
}

func kindOf(tool string) event.ToolKind {
	if kind, ok := toolKinds[tool]; ok {
		return kind
	}
	return event.ToolOther
}

// title is what a call works on.
func (call *toolPart) title(in input) string {
	switch call.Tool {
	case "bash":
		return firstNonEmpty(in.Command, call.State.Title)
	case "task":
		return firstNonEmpty(call.State.Title, in.Description)
	}
	return firstNonEmpty(call.State.Title, in.FilePath, in.Path, in.Pattern, in.URL, in.Query, in.Name)
}

// changes are the diffs of a call: OpenCode gives them with the result of an
// edit; of a file that is written anew the content is the diff.
func (s *session) changes(call *toolPart, in input) []event.FileDiff {
	meta := call.State.Metadata
	switch {
	case meta.FileDiff != nil:
		return []event.FileDiff{patchOf(s.relative(meta.FileDiff.File), meta.FileDiff.Patch)}
	case meta.Diff != "":
		return []event.FileDiff{patchOf(s.relative(in.FilePath), meta.Diff)}
	case call.Tool == "write" && meta.Exists != nil && !*meta.Exists:
		return []event.FileDiff{added(s.relative(in.FilePath), in.Content)}
	}
	return nil
}

// patchOf takes the hunks out of a patch with a header of some kind.
func patchOf(path, patch string) event.FileDiff {
	d := event.FileDiff{Path: path, Change: "modified"}
	if len(patch) > maxOutput {
		d.Omitted = "too_large"
		return d
	}
	i := strings.Index(patch, "\n@@ ")
	if i < 0 {
		return d
	}
	d.Patch = patch[i+1:]
	files, _, err := gitdiff.Parse(strings.NewReader("--- a/x\n+++ b/x\n" + d.Patch))
	if err != nil || len(files) != 1 {
		d.Patch, d.Omitted = "", "binary"
		return d
	}
	old := int64(0)
	for _, f := range files[0].TextFragments {
		d.Added += int(f.LinesAdded)
		d.Removed += int(f.LinesDeleted)
		old += f.OldLines
	}
	if old == 0 && d.Added > 0 {
		d.Change = "added"
	}
	return d
}

// added is the diff of a new file.
func added(path, content string) event.FileDiff {
	d := event.FileDiff{Path: path, Change: "added"}
	if len(content) > maxOutput {
		d.Omitted = "too_large"
		return d
	}
	lines := strings.SplitAfter(content, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	d.Added = len(lines)
	var b strings.Builder
	for _, line := range lines {
		b.WriteString("+" + line)
	}
	if d.Added > 0 {
		if !strings.HasSuffix(content, "\n") {
			b.WriteString("\n\\ No newline at end of file\n")
		}
		d.Patch = hunkHeader(d.Added) + b.String()
	}
	return d
}

// relative gives a path below the chat's folder relative to it.
func (s *session) relative(path string) string {
	if rel, err := filepath.Rel(s.spec.Cwd, path); path != "" && err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

func toolStatus(s string) event.Status {
	switch s {
	case "completed":
		return event.Completed
	case "error":
		return event.Failed
	case "running":
		return event.InProgress
	}
	return event.Pending
}

// at turns OpenCode's milliseconds into a time.
func at(ms int64) *time.Time {
	if ms <= 0 {
		return nil
	}
	t := time.UnixMilli(ms).UTC()
	return &t
}

// bounded keeps an input that is not too large; a note of its size stands for
// one that is.
func bounded(raw json.RawMessage) json.RawMessage {
	if len(raw) <= maxInput {
		return raw
	}
	note, err := json.Marshal(map[string]any{"omitted": "too_large", "bytes": len(raw)})
	if err != nil {
		return nil
	}
	return note
}

// hunkHeader heads the one hunk of a new file.
func hunkHeader(lines int) string { return fmt.Sprintf("@@ -0,0 +1,%d @@\n", lines) }
