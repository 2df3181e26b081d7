package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

// Bounds of finding executables.
const (
	// loginWait is what the login shell may take to say its PATH.
	loginWait = 3 * time.Second
	// maxPathDirs bounds PATH: a child's environment must fit, too.
	maxPathDirs = 512
)

// ErrNotFound: no such executable on the completed PATH.
var ErrNotFound = errors.New("not found")

// finder completes PATH. A program that was not started from a terminal has
// not the PATH of one, and agents are installed for the terminal.
//
// The login shell is asked once; the known places are looked at each time,
// since an agent may have been installed meanwhile.
type finder struct {
	home   string
	getenv func(string) string
	// login asks the login shell for its PATH, "" if it does not tell in time.
	login func(context.Context) string

	once   sync.Once
	known  chan struct{} // closed once loginPath is set
	logins string
}

func newFinder(home string, getenv func(string) string, login func(context.Context) string) *finder {
	return &finder{home: home, getenv: getenv, login: login, known: make(chan struct{})}
}

// dirs are the directories of the completed PATH, in order: what only the
// inherited PATH has (an activated environment, say), what the login shell
// has, and the known places beyond these that exist.
func (f *finder) dirs(ctx context.Context) ([]string, error) {
	// Not ended by ctx: the answer is for all who ask.
	f.once.Do(func() {
		go func() {
			defer close(f.known)
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), loginWait)
			defer cancel()
			f.logins = f.login(ctx)
		}()
	})
	select {
	case <-f.known:
	case <-ctx.Done():
		return nil, fmt.Errorf("ask the login shell for its PATH: %w", ctx.Err())
	}
	inherited, login := pathDirs(f.getenv("PATH")), pathDirs(f.logins)
	fromLogin := map[string]bool{}
	for _, dir := range login {
		fromLogin[dir] = true
	}
	var all []string
	for _, dir := range inherited {
		if !fromLogin[dir] {
			all = append(all, dir)
		}
	}
	all = append(all, login...)
	for _, dir := range f.places() {
		// Relative when the home directory is unknown.
		if info, err := os.Stat(dir); err == nil && info.IsDir() && filepath.IsAbs(dir) {
			all = append(all, dir)
		}
	}
	all = firstOfEach(all)
	return all[:min(len(all), maxPathDirs)], nil
}

// path is PATH for a child that is the executable. An interpreter beside an
// executable in the home directory comes first: what a version manager
// installed runs on the version that it was installed with.
func (f *finder) path(ctx context.Context, executable string) (string, error) {
	dirs, err := f.dirs(ctx)
	if err != nil {
		return "", err
	}
	dir := filepath.Dir(executable)
	if f.home != "" && strings.HasPrefix(dir, f.home+string(filepath.Separator)) && executableIn(dir, "node") != "" {
		dirs = firstOfEach(append([]string{dir}, dirs...))
	}
	return strings.Join(dirs, string(filepath.ListSeparator)), nil
}

// lookPath finds an executable by its name, or checks an absolute path.
func (f *finder) lookPath(ctx context.Context, name string) (string, error) {
	if filepath.Base(name) != name {
		if filepath.IsAbs(name) && executableIn(filepath.Split(name)) != "" {
			return name, nil
		}
		return "", fmt.Errorf("%s: %w, or not an executable file with an absolute path", name, ErrNotFound)
	}
	dirs, err := f.dirs(ctx)
	if err != nil {
		return "", err
	}
	for _, dir := range dirs {
		if path := executableIn(dir, name); path != "" {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s: %w; looked in %s", name, ErrNotFound, strings.Join(dirs, ", "))
}

// executableIn is the path of the executable of that name in dir, or "".
func executableIn(dir, name string) string {
	if runtime.GOOS != "windows" {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && mayExecute(path) {
			return path
		}
		return ""
	}
	extensions := []string{".exe", ".cmd", ".bat", ".com"}
	if filepath.Ext(name) != "" {
		extensions = append([]string{""}, extensions...)
	}
	for _, ext := range extensions {
		path := filepath.Join(dir, name+ext)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}

// pathDirs splits a PATH. Relative entries are left out: what they name
// depends on the folder, which may be a stranger's repository.
func pathDirs(path string) []string {
	var dirs []string
	for _, dir := range filepath.SplitList(path) {
		if filepath.IsAbs(dir) {
			dirs = append(dirs, filepath.Clean(dir))
		}
	}
	return dirs
}

func firstOfEach(dirs []string) []string {
	seen := map[string]bool{}
	kept := make([]string, 0, len(dirs))
	for _, dir := range dirs {
		if !seen[dir] {
			seen[dir] = true
			kept = append(kept, dir)
		}
	}
	return kept
}
