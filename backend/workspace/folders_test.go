package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"berth/backend/refusal"
)

// tree makes files below a new directory; names that end in a slash are
// folders.
func tree(t *testing.T, names ...string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		path := filepath.Join(root, filepath.FromSlash(name))
		dir := filepath.Dir(path)
		if strings.HasSuffix(name, "/") {
			dir = path
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if dir != path {
			if err := os.WriteFile(path, []byte(name), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return root
}

func TestCompleteFolder(t *testing.T) {
	root := tree(t, "Projects/api/.git/HEAD", "Projects/app/", "projector/", ".config/", "file", "Projects/API-old/")
	t.Setenv("HOME", root)
	t.Setenv("USERPROFILE", root)
	if err := os.Symlink("Projects", filepath.Join(root, "prolink")); err != nil && runtime.GOOS != "windows" {
		t.Fatal(err)
	}
	all := []string{"projector", "Projects", "prolink"}
	if runtime.GOOS == "windows" {
		all = all[:2]
	}
	for _, c := range []struct {
		typed  string
		limit  int
		hidden bool
		want   []string
		more   bool
		exists bool
	}{
		{"", 10, false, all, false, true},
		{"~", 10, false, all, false, true},
		{"~/", 10, true, append([]string{".config"}, all...), false, true},
		{"~/.c", 10, false, []string{".config"}, false, false},
		{"~/pro", 2, false, all[:2], len(all) > 2, false},
		{"pro", 10, false, all, false, false},
		{root + "/Projects/ap", 10, false, []string{"api", "API-old", "app"}, false, false},
		{root + "/Projects/api", 10, false, []string{"api", "API-old"}, false, true},
		{root + "/Projects/app/", 10, false, nil, false, true},
		{root + "/nowhere/x", 10, false, nil, false, false},
		{root + "/file", 10, false, nil, false, false},
		{root + "/file/x", 10, false, nil, false, false},
	} {
		got, err := CompleteFolder(c.typed, c.limit, c.hidden)
		if err != nil {
			t.Errorf("%q: %v", c.typed, err)
			continue
		}
		var names []string
		for _, f := range got.Folders {
			names = append(names, f.Name)
			if f.Repo != (f.Name == "api") || !filepath.IsAbs(f.Path) {
				t.Errorf("%q: %+v", c.typed, f)
			}
		}
		if !slices.Equal(names, c.want) || got.Truncated != c.more || got.Exists != c.exists {
			t.Errorf("%q gives %v, %+v", c.typed, names, got)
		}
	}
	var refused *refusal.Error
	if _, err := CompleteFolder("a\x00b", 10, false); !errors.As(err, &refused) || refused.Code != refusal.Invalid {
		t.Errorf("a zero byte: %v", err)
	}
}

func TestFolderNameThatIsNotUTF8(t *testing.T) {
	root := tree(t)
	name := "caf\xe9"
	if err := os.Mkdir(filepath.Join(root, name), 0o755); err != nil {
		t.Skipf("this file system takes only UTF-8: %v", err)
	}
	got, err := CompleteFolder(root+"/", 10, false)
	if err != nil || len(got.Folders) != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	if f := got.Folders[0]; f.Name != "caf\uFFFD" || string(f.PathRaw) != filepath.Join(root, name) {
		t.Errorf("%+v", f)
	}
}

func TestCreateFolder(t *testing.T) {
	root := tree(t, "there/")
	t.Setenv("HOME", root)
	t.Setenv("USERPROFILE", root)
	got, err := CreateFolder("~/new one")
	if err != nil || got.Path != filepath.Join(root, "new one") || !isDir(got.Path) {
		t.Fatalf("%+v, %v", got, err)
	}
	for typed, code := range map[string]string{"~/there": refusal.Conflict, "~/no/where": refusal.Invalid, "~/a\x00": refusal.Invalid} {
		var refused *refusal.Error
		if _, err := CreateFolder(typed); !errors.As(err, &refused) || refused.Code != code || refused.Field != "path" {
			t.Errorf("%q: %v", typed, err)
		}
	}
}
