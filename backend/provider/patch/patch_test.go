package patch

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
	"pgregory.net/rapid"

	"berth/backend/event"
)

// A patch, applied to the text before, is the text after.
func TestBetweenApplies(t *testing.T) {
	text := rapid.Custom(func(t *rapid.T) string {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "", "-- x", "+ y"}), 0, 30).Draw(t, "lines")
		s := strings.Join(lines, "\n")
		if rapid.Bool().Draw(t, "ends") && s != "" {
			s += "\n"
		}
		return s
	})
	rapid.Check(t, func(t *rapid.T) {
		old, new := text.Draw(t, "old"), text.Draw(t, "new")
		d := Between("f", &old, &new)
		if old == new {
			if d.Patch != "" {
				t.Fatalf("a patch for no change: %q", d.Patch)
			}
			return
		}
		files, _, err := gitdiff.Parse(strings.NewReader("--- a/f\n+++ b/f\n" + d.Patch))
		if err != nil || len(files) != 1 {
			t.Fatalf("%v in %q", err, d.Patch)
		}
		var got strings.Builder
		if err := gitdiff.Apply(&got, strings.NewReader(old), files[0]); err != nil && !errors.Is(err, io.EOF) {
			t.Fatalf("%v: %q to %q by %q", err, old, new, d.Patch)
		}
		if got.String() != new {
			t.Fatalf("%q became %q, not %q, by %q", old, got.String(), new, d.Patch)
		}
		var added, removed int
		for _, f := range files[0].TextFragments {
			added, removed = added+int(f.LinesAdded), removed+int(f.LinesDeleted)
		}
		if added != d.Added || removed != d.Removed {
			t.Fatalf("counted %d and %d in %q", d.Added, d.Removed, d.Patch)
		}
	})
}

func TestBetween(t *testing.T) {
	text := func(s string) *string { return &s }
	long := strings.Repeat("x\n", MaxText)
	cases := []struct {
		name     string
		old, new *string
		want     event.FileDiff
	}{
		{"changed", text("a\nb\n"), text("a\nc\n"), event.FileDiff{Change: "modified", Added: 1, Removed: 1, Patch: "@@ -1,2 +1,2 @@\n a\n-b\n+c\n"}},
		{"added", nil, text("a\nb\n"), event.FileDiff{Change: "added", Added: 2, Patch: "@@ -0,0 +1,2 @@\n+a\n+b\n"}},
		{"added empty", nil, text(""), event.FileDiff{Change: "added"}},
		{"deleted", text("a\n"), nil, event.FileDiff{Change: "deleted", Removed: 1, Patch: "@@ -1 +0,0 @@\n-a\n"}},
		{"binary", text("a\x00"), text("b"), event.FileDiff{Change: "modified", Omitted: "binary"}},
		{"too large", text(long), text("b"), event.FileDiff{Change: "modified", Omitted: "too_large"}},
		{"a patch too large", text(""), text(long[:MaxPatch]), event.FileDiff{Change: "modified", Added: MaxPatch / 2, Omitted: "too_large"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if c.want.Path = "f"; Between("f", c.old, c.new) != c.want {
				t.Errorf("%+v", Between("f", c.old, c.new))
			}
		})
	}
}

func TestRelative(t *testing.T) {
	root := t.TempDir()
	for path, want := range map[string]string{
		filepath.Join(root, "a", "b"): "a/b", root: ".", filepath.Dir(root): filepath.Dir(root), "c": "c", "": "",
	} {
		if got := Relative(root, path); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}
