package claude

import (
	"encoding/json"
	"fmt"
	"strings"

	"berth/backend/event"
)

const (
	// maxPatch bounds the patch of one file in an item, in bytes; a larger
	// one is for the review of the working tree.
	maxPatch = 512 << 10
	// maxFiles bounds the files of one tool call.
	maxFiles = 200
)

// hunk is a piece of a patch as the CLI states it (structuredPatch).
type hunk struct {
	OldStart int      `json:"oldStart"`
	OldLines int      `json:"oldLines"`
	NewStart int      `json:"newStart"`
	NewLines int      `json:"newLines"`
	Lines    []string `json:"lines"` // each with its mark: space, + or -
}

// fileDiff makes the change of one file out of hunks.
func fileDiff(path, change string, hunks []hunk) event.FileDiff {
	d := event.FileDiff{Path: path, Change: change}
	var b strings.Builder
	for _, h := range hunks {
		fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n", h.OldStart, h.OldLines, h.NewStart, h.NewLines)
		for _, line := range h.Lines {
			switch {
			case strings.HasPrefix(line, "+"):
				d.Added++
			case strings.HasPrefix(line, "-"):
				d.Removed++
			}
			b.WriteString(line)
			b.WriteByte('\n')
		}
	}
	if d.Patch = b.String(); len(d.Patch) > maxPatch {
		d.Patch, d.Omitted = "", "too_large"
	}
	return d
}

// editResult is the tool_use_result of Edit, Write and MultiEdit, and of Bash
// what git saw change.
type editResult struct {
	Type     string  `json:"type"` // create, update
	Path     string  `json:"filePath"`
	Content  string  `json:"content"` // whole, of a created file
	Hunks    []hunk  `json:"structuredPatch"`
	Original *string `json:"originalFile"` // absent when the file is new
	Bash     struct {
		Files []struct {
			Path    string `json:"filePath"`
			Hunks   []hunk `json:"hunks"`
			Created bool   `json:"created"`
			Deleted bool   `json:"deleted"`
		} `json:"files"`
	} `json:"bashEditDiff"`
}

// changedFiles reads what a tool changed out of its result.
func changedFiles(name string, raw json.RawMessage) []event.FileDiff {
	var r editResult
	if len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &r) != nil {
		return nil
	}
	if name == "Bash" {
		var files []event.FileDiff
		for _, f := range r.Bash.Files[:min(len(r.Bash.Files), maxFiles)] {
			change := "modified"
			switch {
			case f.Created:
				change = "added"
			case f.Deleted:
				change = "deleted"
			}
			files = append(files, fileDiff(f.Path, change, f.Hunks))
		}
		return files
	}
	if r.Path == "" || toolKind(name) != event.ToolEdit {
		return nil
	}
	if r.Original == nil && len(r.Hunks) == 0 {
		return []event.FileDiff{between(r.Path, "", r.Content, false)}
	}
	return []event.FileDiff{fileDiff(r.Path, "modified", r.Hunks)}
}

// contextLines is what a patch shows around a change.
const contextLines = 3

// between makes the change from old to new as one hunk, from the first to the
// last line that differs: exact, if not the smallest. It is for proposals,
// where the CLI states no patch.
func between(path, old, new string, existed bool) event.FileDiff {
	if !existed {
		if new == "" {
			return event.FileDiff{Path: path, Change: "added"}
		}
		lines := mark(nil, "+", splitLines(new))
		return fileDiff(path, "added", []hunk{{NewStart: 1, NewLines: count(lines, "+"), Lines: lines}})
	}
	if old == new {
		return event.FileDiff{Path: path, Change: "modified"}
	}
	a, b := splitLines(old), splitLines(new)
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	from := max(head-contextLines, 0)
	after := min(tail, contextLines)
	lines := mark(nil, " ", a[from:head])
	lines = mark(lines, "-", a[head:len(a)-tail])
	lines = mark(lines, "+", b[head:len(b)-tail])
	lines = mark(lines, " ", a[len(a)-tail:len(a)-tail+after])
	h := hunk{OldStart: from + 1, OldLines: len(a) - tail + after - from, NewStart: from + 1, NewLines: len(b) - tail + after - from, Lines: lines}
	if h.OldLines == 0 {
		h.OldStart--
	}
	if h.NewLines == 0 {
		h.NewStart--
	}
	return fileDiff(path, "modified", []hunk{h})
}

// splitLines keeps the line ends, so that a missing last one is a difference.
func splitLines(s string) []string {
	lines := strings.SplitAfter(s, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// mark adds lines with a mark before each, as in a unified patch.
func mark(lines []string, with string, more []string) []string {
	for _, line := range more {
		text, whole := strings.CutSuffix(line, "\n")
		lines = append(lines, with+text)
		if !whole {
			lines = append(lines, `\ No newline at end of file`)
		}
	}
	return lines
}

func count(lines []string, with string) int {
	n := 0
	for _, line := range lines {
		if strings.HasPrefix(line, with) {
			n++
		}
	}
	return n
}
