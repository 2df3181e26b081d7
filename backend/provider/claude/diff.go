package claude

import (
	"encoding/json"
	"fmt"
	"strings"

	"berth/backend/event"
	"berth/backend/provider/patch"
)

// maxFiles bounds the files of one tool call.
const maxFiles = 200

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
			b.WriteString(line)
			b.WriteByte('\n')
		}
	}
	patch.Put(&d, b.String())
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
func (p *projector) changedFiles(name string, raw json.RawMessage) []event.FileDiff {
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
			files = append(files, fileDiff(patch.Relative(p.cwd, f.Path), change, f.Hunks))
		}
		return files
	}
	if r.Path == "" || toolKind(name) != event.ToolEdit {
		return nil
	}
	path := patch.Relative(p.cwd, r.Path)
	if r.Original == nil && len(r.Hunks) == 0 {
		return []event.FileDiff{patch.Between(path, nil, &r.Content)}
	}
	return []event.FileDiff{fileDiff(path, "modified", r.Hunks)}
}
