package main

import (
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// layers of the program, lowest first. A package imports what lies in lower
// layers, or in its own (where the compiler forbids circles). The longest
// prefix counts.
var layers = []struct {
	name     string
	packages []string
}{
	{"ground", []string{"backend/fault", "backend/refusal", "backend/store", "backend/event", "backend/process", "backend/instance"}},
	{"drivers", []string{"backend/provider"}},
	{"features", []string{
		"backend/chat", "backend/execution", "backend/history", "backend/search", "backend/workspace", "backend/review",
		"backend/artifact", "backend/settings", "backend/terminal", "backend/monitor", "backend/afk", "backend/schedule",
		"backend/delegate", "backend/alert", "backend/mailbox",
	}},
	{"doors", []string{"backend/agenttools", "backend/remote", "backend/team", "backend/api"}},
	{"wiring", []string{"backend"}},
	{"program", []string{"app", "command", "build", "frontend", ""}},
	{"tests", []string{"test", "tools"}},
}

// layerOf is the layer of a package, by its path within the module.
func layerOf(path string) (int, bool) {
	best, length := 0, -1
	for i, l := range layers {
		for _, p := range l.packages {
			if (path == p || strings.HasPrefix(path, p+"/") && p != "") && len(p) > length {
				best, length = i, len(p)
			}
		}
	}
	return best, length >= 0
}

// source is a Go file of the repository.
type source struct {
	path, pkg string
	imports   []string
	desktop   bool // compiled only with the tag desktop
	test      bool
}

func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); name != "." && (strings.HasPrefix(name, ".") || name == "node_modules" || name == "testdata") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		s := source{path: filepath.ToSlash(path), test: strings.HasSuffix(path, "_test.go")}
		if s.pkg = filepath.ToSlash(filepath.Dir(path)); s.pkg == "." {
			s.pkg = ""
		}
		for _, i := range file.Imports {
			name, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			s.imports = append(s.imports, name)
		}
		for _, g := range file.Comments {
			for _, c := range g.List {
				if expr, err := constraint.Parse(c.Text); err == nil && c.Pos() < file.Package {
					s.desktop = s.desktop || !expr.Eval(func(tag string) bool { return tag != "desktop" })
				}
			}
		}
		all = append(all, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestImportsPointDown(t *testing.T) {
	for _, s := range sources(t) {
		if s.test {
			continue // a test may use the whole to prove a part
		}
		from, ok := layerOf(s.pkg)
		if !ok {
			t.Errorf("%s: package %q has no layer; give it one in layers", s.path, s.pkg)
			continue
		}
		for _, name := range s.imports {
			target, ours := strings.CutPrefix(name, "berth/")
			if !ours {
				continue
			}
			to, ok := layerOf(target)
			if !ok || to > from {
				t.Errorf("%s (%s) imports %s (%s), which lies above it", s.path, layers[from].name, name, layers[to].name)
			}
		}
	}
}

func TestOnlyTheWindowImportsTheToolkit(t *testing.T) {
	for _, s := range sources(t) {
		if s.path == "deps.go" {
			continue // keeps the module's version; never compiled
		}
		uses := slices.ContainsFunc(s.imports, func(i string) bool { return strings.HasPrefix(i, "github.com/wailsapp/") })
		if uses && (s.pkg != "app" || !s.desktop) {
			t.Errorf("%s imports the toolkit; only app may, behind the tag desktop", s.path)
		}
	}
}

func TestHeadlessProgramLinksNoToolkit(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("list what the program links: %v\n%s", err, out)
	}
	for name := range strings.Lines(string(out)) {
		if strings.Contains(name, "wailsapp/wails") || strings.Contains(name, "go-webview2") {
			t.Errorf("the program without a window links %s", strings.TrimSpace(name))
		}
	}
}

// TestRepositoryStandsAlone looks for what would work on one machine only.
func TestRepositoryStandsAlone(t *testing.T) {
	out, err := exec.Command("git", "ls-files", "-z").Output()
	if err != nil {
		t.Skipf("not a checkout: %v", err)
	}
	foreign := []string{"../" + "shared", "/work/" + "shared", "/work/" + "wt", "/root" + "/.", "/root" + "/go/", "registry.npmjs" + ".org", "proxy.golang" + ".org"}
	for path := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		data, err := os.ReadFile(path)
		if err != nil {
			continue // deleted, or a link
		}
		for _, f := range foreign {
			if strings.Contains(string(data), f) {
				t.Errorf("%s mentions %s", path, f)
			}
		}
	}
}
