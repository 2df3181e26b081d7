package codex

import (
	"fmt"
	"path/filepath"
	"strings"

	"berth/backend/event"
)

// fileChange is one file of an edit. Diff is a unified patch for an update,
// and the whole text of a file that is added or deleted.
type fileChange struct {
	Path string `json:"path"`
	Kind struct {
		Type string  `json:"type"`
		Move *string `json:"move_path"`
	} `json:"kind"`
	Diff string `json:"diff"`
}

// maxFiles bounds the files shown of one edit.
const maxFiles = 500

// editTool describes an edit.
func (s *session) editTool(t *event.Tool, changes []fileChange) {
	t.Kind, t.Name, t.Title = event.ToolEdit, "apply_patch", "Edits files"
	t.Files = s.files(changes)
	kinds := map[string]bool{}
	for _, f := range t.Files {
		kinds[f.Change] = true
		if len(t.Locations) < maxLocations {
			t.Locations = append(t.Locations, event.Location{Path: f.Path})
		}
	}
	if len(kinds) == 1 {
		switch {
		case kinds["deleted"]:
			t.Kind = event.ToolDelete
		case kinds["renamed"]:
			t.Kind = event.ToolMove
		}
	}
	switch len(changes) {
	case 0:
	case 1:
		t.Title = t.Files[0].Path
	default:
		t.Title = fmt.Sprintf("%s and %d more", t.Files[0].Path, len(changes)-1)
	}
}

func (s *session) files(changes []fileChange) []event.FileDiff {
	var list []event.FileDiff
	for _, c := range changes[:min(len(changes), maxFiles)] {
		list = append(list, s.fileDiff(c))
	}
	return list
}

func (s *session) fileDiff(c fileChange) event.FileDiff {
	d := event.FileDiff{Path: s.relative(c.Path), Change: "modified"}
	patch := c.Diff
	switch c.Kind.Type {
	case "add":
		d.Change, patch = "added", wholeFile('+', c.Diff)
	case "delete":
		d.Change, patch = "deleted", wholeFile('-', c.Diff)
	default:
		if c.Kind.Move != nil {
			d.Change, d.OldPath, d.Path = "renamed", d.Path, s.relative(*c.Kind.Move)
			// Codex writes the new name below the patch, too.
			patch = strings.TrimSuffix(patch, "\n\nMoved to: "+*c.Kind.Move)
		}
	}
	switch {
	case len(patch) > maxPatch:
		d.Omitted = "too_large"
		return d
	case strings.ContainsRune(patch, 0):
		d.Omitted = "binary"
		return d
	}
	d.Patch = patch
	for line := range strings.Lines(patch) {
		switch line[0] {
		case '+':
			d.Added++
		case '-':
			d.Removed++
		}
	}
	return d
}

// wholeFile makes the patch of a file that is wholly new or wholly gone.
func wholeFile(sign byte, text string) string {
	if text == "" || len(text) > maxPatch {
		return text
	}
	var b strings.Builder
	n := strings.Count(text, "\n")
	if !strings.HasSuffix(text, "\n") {
		n++
	}
	if sign == '+' {
		fmt.Fprintf(&b, "@@ -0,0 +1,%d @@\n", n)
	} else {
		fmt.Fprintf(&b, "@@ -1,%d +0,0 @@\n", n)
	}
	for line := range strings.Lines(text) {
		b.WriteByte(sign)
		b.WriteString(line)
	}
	if !strings.HasSuffix(text, "\n") {
		b.WriteString("\n\\ No newline at end of file\n")
	}
	return b.String()
}

// relative gives a path below the chat's folder relative to it.
func (s *session) relative(p string) string {
	p = clip(p, maxPath)
	if rel, err := filepath.Rel(s.spec.Cwd, p); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return p
}

// maxPath bounds a path taken over from Codex, in bytes.
const maxPath = 4096

// filesChanged follows an edit while Codex still writes it.
func (s *session) filesChanged(n note) {
	e := s.entries[rawKey(n.TurnID, n.ItemID)]
	if e == nil || e.ended || e.tool == nil {
		return
	}
	s.editTool(e.tool, n.Changes)
	s.emitTool(e, event.InProgress)
}
