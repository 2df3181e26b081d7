// Package patch makes the unified patches that items show out of two texts,
// for agents that state an edit as the text before and after.
package patch

import (
	"path/filepath"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"berth/backend/event"
)

const (
	// MaxText bounds each of the two texts, in bytes: the library is quick on
	// any input, but what it makes of larger ones is of no use in a timeline.
	MaxText = 2 << 20
	// MaxPatch bounds the patch of one file in an item, in bytes; a larger
	// one is for the review of the working tree.
	MaxPatch = 512 << 10
)

// Between is the change of a file from one text to another. nil stands for a
// file that is not there.
func Between(path string, old, new *string) event.FileDiff {
	d := event.FileDiff{Path: path, Change: "modified"}
	var before, after string
	switch {
	case old == nil:
		d.Change = "added"
	case new == nil:
		d.Change = "deleted"
	}
	if old != nil {
		before = *old
	}
	if new != nil {
		after = *new
	}
	switch {
	case len(before) > MaxText || len(after) > MaxText:
		d.Omitted = "too_large"
		return d
	case strings.ContainsRune(before, 0) || strings.ContainsRune(after, 0):
		d.Omitted = "binary"
		return d
	}
	hunks := udiff.Unified("a", "b", before, after)
	if i := strings.Index(hunks, "@@"); i >= 0 {
		Put(&d, hunks[i:]) // the names above are no part of an item's patch
	}
	return d
}

// Put sets the hunks of a change and counts their lines.
func Put(d *event.FileDiff, hunks string) {
	for line := range strings.Lines(hunks) {
		switch line[0] {
		case '+':
			d.Added++
		case '-':
			d.Removed++
		}
	}
	if d.Patch = hunks; len(hunks) > MaxPatch {
		d.Patch, d.Omitted = "", "too_large"
	}
}

// Relative gives a path below a folder relative to it, with slashes; any
// other path stays as it is.
func Relative(folder, path string) string {
	if rel, err := filepath.Rel(folder, path); err == nil && filepath.IsAbs(path) && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}
