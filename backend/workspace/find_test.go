package workspace

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"berth/backend/process"
	"berth/backend/refusal"
	"berth/backend/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newFinder(t *testing.T) *Finder {
	t.Helper()
	db, err := store.Open(context.Background(), filepath.Join(t.TempDir(), "berth.db"))
	if err != nil {
		t.Fatal(err)
	}
	s := process.NewSupervisor(db, slog.New(slog.DiscardHandler))
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
		db.Close()
	})
	return NewFinder(s)
}

func find(t *testing.T, f *Finder, dir, query string) []string {
	t.Helper()
	found, err := f.Find(context.Background(), dir, query, 50)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, file := range found.Files {
		if file.Dir {
			file.Path += "/"
		}
		paths = append(paths, file.Path)
	}
	return paths
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func TestFindInARepository(t *testing.T) {
	root := tree(t, ".gitignore", "src/main.go", "src/ünïcode name.go", "new.txt", "build/out.bin", "sub/dir/deep.go")
	if err := os.WriteFile(filepath.Join(root, ".gitignore"), []byte("build/\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	git(t, root, "init", "-q")
	git(t, root, "add", "src/main.go")
	// What a repository configures must not run.
	trap := filepath.Join(root, "trap")
	git(t, root, "config", "core.fsmonitor", "touch "+trap+"; false")
	f := newFinder(t)
	got := find(t, f, root, "")
	slices.Sort(got)
	want := []string{".gitignore", "new.txt", "src/", "src/main.go", "src/ünïcode name.go", "sub/", "sub/dir/", "sub/dir/deep.go"}
	if !slices.Equal(got, want) {
		t.Errorf("found %q", got)
	}
	if _, err := os.Stat(trap); err == nil {
		t.Error("a program that the repository names was run")
	}
	if got := find(t, f, filepath.Join(root, "sub"), "deep"); !slices.Equal(got, []string{"dir/deep.go"}) {
		t.Errorf("below the top: %q", got)
	}
	// An ignored folder is looked through all the same when it is the chat's.
	if got := find(t, f, filepath.Join(root, "build"), ""); !slices.Equal(got, []string{"out.bin"}) {
		t.Errorf("in an ignored folder: %q", got)
	}
}

func TestFindOutsideARepository(t *testing.T) {
	root := tree(t, "a/readme.md", "node_modules/x/index.js", "b.txt")
	outside := tree(t, "secret.txt")
	if err := os.Symlink(outside, filepath.Join(root, "out")); err != nil {
		t.Skipf("no links here: %v", err)
	}
	got := find(t, newFinder(t), root, "")
	slices.Sort(got)
	if !slices.Equal(got, []string{"a/", "a/readme.md", "b.txt", "out"}) {
		t.Errorf("found %q", got)
	}
}

func TestFindInAFolderThatIsGone(t *testing.T) {
	var refused *refusal.Error
	_, err := newFinder(t).Find(context.Background(), filepath.Join(t.TempDir(), "gone"), "", 10)
	if !errors.As(err, &refused) || refused.Code != refusal.NotFound {
		t.Errorf("%v", err)
	}
}

// noGit is a machine without git.
type noGit struct{}

func (noGit) LookPath(string) (string, error) { return "", errors.New("not found") }
func (noGit) Start(context.Context, process.Spec) (process.Process, error) {
	return nil, errors.New("not found")
}

func TestFindWithoutGit(t *testing.T) {
	root := tree(t, ".git/HEAD", "a.go")
	if got := find(t, NewFinder(noGit{}), root, ""); !slices.Equal(got, []string{"a.go"}) {
		t.Errorf("found %q", got)
	}
}

func TestRank(t *testing.T) {
	paths := []string{"internal/server/handler.go", "handler.go", "docs/handlers.md", "handler/", "src/HttpRequest.ts", "a/b/c/htre.ts", "README.md"}
	for _, c := range []struct {
		query string
		limit int
		want  []string
	}{
		{"handler.go", 9, []string{"handler.go", "internal/server/handler.go"}},
		{"handler", 3, []string{"handler/", "handler.go", "docs/handlers.md"}},
		{"serv", 9, []string{"internal/server/handler.go"}},
		{"htre", 9, []string{"a/b/c/htre.ts", "src/HttpRequest.ts"}},
		{"hr.ts", 1, []string{"src/HttpRequest.ts"}},
		{"READ", 1, []string{"README.md"}},
		{"zzz", 9, []string{}},
		{"", 2, []string{"handler/", "README.md"}},
	} {
		if got := rank(paths, c.query, c.limit); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q", c.query, got)
		}
	}
}

func FuzzReadNames(f *testing.F) {
	f.Add("a\x00b\x00cut")
	f.Add("\x00\x00")
	f.Add(strings.Repeat("x", maxPath+1))
	f.Fuzz(func(t *testing.T, text string) {
		names, _ := readNames(io.NopCloser(strings.NewReader(text)))
		whole := strings.Join(names, "\x00")
		if len(names) > 0 && !strings.HasPrefix(text, whole+"\x00") {
			t.Errorf("%q gives %q", text, names)
		}
	})
}
