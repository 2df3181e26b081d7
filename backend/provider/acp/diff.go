package acp

import (
	"path/filepath"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"berth/backend/event"
)

// fileDiff makes a patch of the two texts that the protocol gives for an
// edit. The library is the diff of Go's own tools as a module: bounded in
// time on any input.
func fileDiff(path string, old *string, text, kind string) event.FileDiff {
	d := event.FileDiff{Path: path, Change: "modified"}
	before := ""
	if old != nil {
		before = *old
	}
	switch {
	case old == nil || kind == "add":
		d.Change = "added"
	case kind == "delete":
		d.Change = "deleted"
	}
	switch {
	case len(before) > maxDiffText || len(text) > maxDiffText:
		d.Omitted = "too_large"
		return d
	case strings.ContainsRune(before, 0) || strings.ContainsRune(text, 0):
		d.Omitted = "binary"
		return d
	}
	patch := udiff.Unified("a", "b", before, text)
	if i := strings.Index(patch, "@@"); i >= 0 {
		d.Patch = patch[i:] // hunks only: the path stands beside them
	}
	for line := range strings.Lines(d.Patch) {
		switch line[0] {
		case '+':
			d.Added++
		case '-':
			d.Removed++
		}
	}
	return d
}

// relative gives a path below the chat's folder relative to it.
func (s *session) relative(path string) string {
	if rel, err := filepath.Rel(s.spec.Cwd, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}
