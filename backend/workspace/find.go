package workspace

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"berth/backend/process"
	"berth/backend/refusal"
)

// Bounds of looking through a folder.
const (
	maxFiles = 50_000 // kept of one folder
	maxPath  = 4096   // bytes of one path
	// maxLook is how long a person who types may wait for the first list.
	maxLook = 3 * time.Second
	// listLife is how long a list serves the next keystrokes.
	listLife = 10 * time.Second
	maxLists = 8
	gitGrace = time.Second
)

// skipped are folders that are not looked into outside a repository, where
// nothing says what is ignored.
var skipped = []string{".git", "node_modules", ".venv", "__pycache__"}

// File is a file or folder of a workspace.
type File struct {
	Path    string `json:"path" doc:"Relative to the workspace, with slashes."`
	PathRaw []byte `json:"path_raw,omitempty" doc:"The bytes of the path, where it is not UTF-8; base64."`
	Dir     bool   `json:"dir,omitempty"`
}

// Found is what a search for files gives, best match first.
type Found struct {
	Files     []File `json:"files"`
	Truncated bool   `json:"truncated,omitempty" doc:"The workspace is larger than what was looked at."`
}

// Starter starts git (see process.Supervisor).
type Starter interface {
	Start(ctx context.Context, spec process.Spec) (process.Process, error)
	LookPath(name string) (string, error)
}

// Finder finds files by a few characters. Its methods may be called from any
// goroutine.
type Finder struct {
	processes Starter

	mu    sync.Mutex
	lists map[string]*list // by folder
}

// list is what was seen in a folder. Who finds it unready waits on ready.
type list struct {
	ready     chan struct{}
	at        time.Time
	paths     []string // folders end in a slash
	truncated bool
	err       error
}

// NewFinder makes a finder that runs git by processes.
func NewFinder(processes Starter) *Finder {
	return &Finder{processes: processes, lists: map[string]*list{}}
}

// Find gives at most limit files and folders below dir that match the query,
// best first: in a git repository those that it does not ignore.
func (f *Finder) Find(ctx context.Context, dir, query string, limit int) (Found, error) {
	l, err := f.list(ctx, dir)
	if err != nil {
		return Found{}, err
	}
	out := Found{Files: []File{}, Truncated: l.truncated}
	for _, p := range rank(l.paths, query, limit) {
		name, isDir := strings.CutSuffix(p, "/")
		shown, raw := showPath(name)
		out.Files = append(out.Files, File{Path: shown, PathRaw: raw, Dir: isDir})
	}
	return out, nil
}

// list gives a fresh list of a folder; callers at the same time share one
// look.
func (f *Finder) list(ctx context.Context, dir string) (*list, error) {
	f.mu.Lock()
	l := f.lists[dir]
	if l == nil || time.Since(l.at) > listLife {
		l = &list{ready: make(chan struct{}), at: time.Now()}
		f.makeRoom()
		f.lists[dir] = l
		go f.look(dir, l)
	}
	f.mu.Unlock()
	select {
	case <-l.ready:
		return l, l.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (f *Finder) makeRoom() {
	var oldest string
	for dir, l := range f.lists {
		if oldest == "" || l.at.Before(f.lists[oldest].at) {
			oldest = dir
		}
	}
	if len(f.lists) >= maxLists {
		delete(f.lists, oldest)
	}
}

func (f *Finder) look(dir string, l *list) {
	defer close(l.ready)
	ctx, cancel := context.WithTimeout(context.Background(), maxLook)
	defer cancel()
	var files []string
	if inRepository(dir) {
		files, l.truncated = f.tracked(ctx, dir)
	}
	// Git gives nothing where the folder is ignored, or git is not there.
	if len(files) == 0 {
		files, l.truncated, l.err = walk(ctx, dir)
	}
	l.paths = withFolders(files)
}

func inRepository(dir string) bool {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return false
		}
		dir = parent
	}
}

// tracked asks git for the files that are tracked or could be. Nothing that a
// repository configures is run (core.fsmonitor names a program).
func (f *Finder) tracked(ctx context.Context, dir string) (files []string, truncated bool) {
	git, err := f.processes.LookPath("git")
	if err != nil {
		return nil, false
	}
	p, err := f.processes.Start(ctx, process.Spec{Path: git, Dir: dir, Label: "git", Env: []string{"GIT_OPTIONAL_LOCKS=0"},
		Args: []string{"-c", "core.fsmonitor=false", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"}})
	if err != nil {
		return nil, false
	}
	defer func() { _ = p.Stop(context.WithoutCancel(ctx), gitGrace) }() // what does not end is the supervisor's to tell
	defer context.AfterFunc(ctx, func() { _ = p.Stop(context.WithoutCancel(ctx), 0) })()
	files, truncated = readNames(p.Stdout())
	return files, truncated || ctx.Err() != nil
}

// readNames reads names that end in a zero byte.
func readNames(r io.Reader) (names []string, truncated bool) {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 0, 4096), maxPath)
	s.Split(func(data []byte, atEnd bool) (int, []byte, error) {
		if i := slices.Index(data, 0); i >= 0 {
			return i + 1, data[:i], nil
		}
		if atEnd {
			return len(data), nil, nil // a name without its end was cut off
		}
		return 0, nil, nil
	})
	for s.Scan() {
		if len(names) == maxFiles {
			return names, true
		}
		names = append(names, s.Text())
	}
	return names, s.Err() != nil
}

// walk looks through a folder outside a repository.
func walk(ctx context.Context, dir string) (files []string, truncated bool, err error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, refusal.New(refusal.NotFound, "", "The folder of this chat does not exist any more.")
	}
	if err != nil {
		return nil, false, fmt.Errorf("look into a folder: %w", err)
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil || len(files) == maxFiles:
			truncated = true
			return fs.SkipAll
		case err != nil:
			return nil // what cannot be read has no files
		case e.IsDir() && slices.Contains(skipped, e.Name()):
			return fs.SkipDir
		case !e.IsDir():
			files = append(files, name)
		}
		return nil
	})
	if err != nil {
		return nil, false, fmt.Errorf("look into a folder: %w", err)
	}
	return files, truncated, nil
}

// withFolders adds the folders of files, each ending in a slash.
func withFolders(files []string) []string {
	seen := map[string]bool{}
	out := files
	for _, file := range files {
		for dir := path.Dir(file); dir != "." && !seen[dir]; dir = path.Dir(dir) {
			seen[dir] = true
			out = append(out, dir+"/")
		}
	}
	return out
}
