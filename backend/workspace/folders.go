// Package workspace looks at folders and files on behalf of the user: what
// completes a folder that is being typed, and which files of a chat's folder
// match what follows an @.
//
// Looking is bounded in entries, bytes and time; where a bound was reached,
// the result says so. Files of a chat's folder are found through a handle of
// that folder (os.Root), without following links out of it.
package workspace

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"berth/backend/refusal"
)

// maxScanned bounds how many entries of one folder are looked at.
const maxScanned = 5000

// Folder is a directory that completes what the user types.
type Folder struct {
	Path string `json:"path" doc:"Absolute."`
	// PathRaw is set where the path is not UTF-8.
	PathRaw []byte `json:"path_raw,omitempty" doc:"The bytes of the path, where it is not UTF-8; base64."`
	Name    string `json:"name"`
	Repo    bool   `json:"repo,omitempty" doc:"A git repository."`
}

// Folders is a list of completions.
type Folders struct {
	Folders   []Folder `json:"folders"`
	Path      string   `json:"path" doc:"What was typed, made absolute."`
	PathRaw   []byte   `json:"path_raw,omitempty" doc:"The bytes of the path, where it is not UTF-8; base64."`
	Exists    bool     `json:"exists" doc:"What was typed is itself a folder."`
	Truncated bool     `json:"truncated,omitempty" doc:"There are more."`
}

// CompleteFolder gives at most limit folders that begin with what was typed,
// whatever the case. ~ is the home directory, and what is not absolute lies
// below it. A folder that cannot be read has no completions. Hidden folders
// come when asked for, or when the last part begins with a dot.
func CompleteFolder(typed string, limit int, hidden bool) (Folders, error) {
	path, err := expand(typed, "query.prefix")
	if err != nil {
		return Folders{}, err
	}
	parent, begin := filepath.Split(path)
	if typed == "" || endsInSeparator(typed) || typed == "~" {
		parent, begin = path, ""
	}
	out := Folders{Folders: []Folder{}, Exists: isDir(path)}
	out.Path, out.PathRaw = showPath(path)
	names, more := folderNames(parent, begin, hidden || strings.HasPrefix(begin, "."))
	out.Truncated = more || len(names) > limit
	for _, name := range names[:min(limit, len(names))] {
		out.Folders = append(out.Folders, folder(filepath.Join(parent, name)))
	}
	return out, nil
}

// CreateFolder makes one folder in a folder that exists.
func CreateFolder(typed string) (Folder, error) {
	path, err := expand(typed, "path")
	if err != nil {
		return Folder{}, err
	}
	err = os.Mkdir(path, 0o755)
	switch {
	case errors.Is(err, fs.ErrExist):
		return Folder{}, refusal.New(refusal.Conflict, "path", "There is something of that name already.")
	case errors.Is(err, fs.ErrNotExist):
		return Folder{}, refusal.New(refusal.Invalid, "path", "The folder in which it would be made does not exist.")
	case errors.Is(err, fs.ErrPermission):
		return Folder{}, refusal.New(refusal.Denied, "path", "The operating system does not allow a folder to be made here.")
	case err != nil:
		return Folder{}, fmt.Errorf("make a folder: %w", err)
	}
	return folder(path), nil
}

// expand makes what a person types for a folder an absolute path.
func expand(typed, field string) (string, error) {
	if strings.ContainsRune(typed, 0) {
		return "", refusal.New(refusal.Invalid, field, "A path has no zero byte.")
	}
	if filepath.IsAbs(typed) {
		return filepath.Clean(typed), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the home directory: %w", err)
	}
	rest := typed
	if typed == "~" || strings.HasPrefix(typed, "~/") || strings.HasPrefix(typed, `~`+string(filepath.Separator)) {
		rest = typed[1:]
	}
	return filepath.Join(home, rest), nil
}

func endsInSeparator(typed string) bool { return os.IsPathSeparator(typed[len(typed)-1]) }

// folderNames gives the folders in dir, sorted, that begin so. more says that
// not all entries were looked at.
func folderNames(dir, begin string, hidden bool) (names []string, more bool) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	entries, err := f.ReadDir(maxScanned)
	if err != nil && !errors.Is(err, io.EOF) && len(entries) == 0 {
		return nil, false
	}
	begin = strings.ToLower(begin)
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(strings.ToLower(name), begin) || !hidden && strings.HasPrefix(name, ".") {
			continue
		}
		if e.IsDir() || e.Type()&fs.ModeSymlink != 0 && isDir(filepath.Join(dir, name)) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(strings.ToLower(a), strings.ToLower(b)), cmp.Compare(a, b))
	})
	return names, len(entries) == maxScanned
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func folder(path string) Folder {
	_, err := os.Lstat(filepath.Join(path, ".git"))
	shown, raw := showPath(path)
	return Folder{Path: shown, PathRaw: raw, Name: filepath.Base(shown), Repo: err == nil}
}

// showPath gives a path as text; raw are its bytes where it is not UTF-8.
func showPath(path string) (shown string, raw []byte) {
	if utf8.ValidString(path) {
		return path, nil
	}
	return strings.ToValidUTF8(path, "\uFFFD"), []byte(path)
}
