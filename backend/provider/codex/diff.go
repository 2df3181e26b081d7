package codex

import (
	"fmt"
	"strings"

	"berth/backend/event"
	"berth/backend/provider/patch"
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
	path := s.relative(c.Path)
	switch {
	case c.Kind.Type == "add":
		return patch.Between(path, nil, &c.Diff)
	case c.Kind.Type == "delete":
		return patch.Between(path, &c.Diff, nil)
	}
	d := event.FileDiff{Path: path, Change: "modified"}
	hunks := c.Diff
	if c.Kind.Move != nil {
		d.Change, d.OldPath, d.Path = "renamed", path, s.relative(*c.Kind.Move)
		// Codex writes the new name below the patch, too.
		hunks = strings.TrimSuffix(hunks, "\n\nMoved to: "+*c.Kind.Move)
	}
	patch.Put(&d, hunks)
	return d
}

// relative gives a path below the chat's folder relative to it.
func (s *session) relative(path string) string {
	return patch.Relative(s.spec.Cwd, clip(path, maxPath))
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
