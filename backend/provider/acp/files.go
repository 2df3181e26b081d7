package acp

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	sdk "github.com/coder/acp-go-sdk"

	"berth/backend/event"
	"berth/backend/provider"
	"berth/backend/provider/wire"
)

// The bounds of the protocol's file methods.
const (
	// maxFile is the largest file that is read or written, in bytes.
	maxFile = 16 << 20
	// maxAtWork is how many file and terminal requests are worked on at once.
	maxAtWork = 64
	// codeNotFound is the protocol's code of a file that does not exist.
	codeNotFound = -32002
)

// files serves fs/read_text_file and fs/write_text_file inside one folder.
// All access goes through a handle of that folder which follows no link out.
type files struct {
	root  *os.Root
	names []string // the folder, as given and with its links resolved
	slots chan struct{}
}

func openFiles(dir string) (*files, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	f := &files{root: root, names: []string{filepath.Clean(dir)}, slots: make(chan struct{}, maxAtWork)}
	if real, err := filepath.EvalSymlinks(dir); err == nil && real != f.names[0] {
		f.names = append(f.names, real)
	}
	return f, nil
}

func (f *files) close() { _ = f.root.Close() }

// local gives a path relative to the folder.
func (f *files) local(path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("%s is not an absolute path", path)
	}
	for _, dir := range f.names {
		if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
			return rel, nil
		}
	}
	return "", fmt.Errorf("%s is outside the folder of this chat", path)
}

// read gives a text file's content, or of it the limit lines from line (from
// 1) on.
func (f *files) read(path string, line, limit *int) (string, error) {
	rel, err := f.local(path)
	if err != nil {
		return "", err
	}
	// Without blocking: a named pipe would wait for a writer.
	file, err := f.root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil {
		return "", err
	} else if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a regular file", path)
	}
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return "", err
	}
	if len(data) > maxFile {
		return "", fmt.Errorf("%s is larger than %d bytes", path, maxFile)
	}
	return lines(string(data), line, limit), nil
}

func lines(text string, line, limit *int) string {
	if line == nil && limit == nil {
		return text
	}
	all := strings.SplitAfter(text, "\n")
	from, to := 0, len(all)
	if line != nil {
		from = min(max(*line-1, 0), len(all))
	}
	if limit != nil && *limit >= 0 {
		to = min(from+*limit, len(all))
	}
	return strings.Join(all[from:to], "")
}

// write replaces a file's content in place, so that its mode and links stay,
// and makes it and its folders where there are none.
func (f *files) write(path, text string) error {
	rel, err := f.local(path)
	if err != nil {
		return err
	}
	if len(text) > maxFile {
		return fmt.Errorf("the text for %s is larger than %d bytes", path, maxFile)
	}
	if info, err := f.root.Stat(rel); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", path)
	}
	if err := f.root.MkdirAll(filepath.Dir(rel), 0o755); err != nil {
		return err
	}
	return f.root.WriteFile(rel, []byte(text), 0o644)
}

// old is what a write replaces, for showing the change; nil for a new file.
func (f *files) old(path string) *string {
	text, err := f.read(path, nil, nil)
	if err != nil {
		return nil
	}
	return &text
}

// atWork runs the work on a request of the agent, of which only so many may
// go on at once.
func (s *session) atWork(id json.RawMessage, work func()) {
	select {
	case s.files.slots <- struct{}{}:
		go func() {
			defer func() { <-s.files.slots }()
			work()
		}()
	default:
		s.refuse(id, wire.CodeInternal, fmt.Sprintf("more than %d requests at once", maxAtWork))
	}
}

func (s *session) readFile(m wire.Message) {
	var in struct {
		Path  string `json:"path"`
		Line  *int   `json:"line"`
		Limit *int   `json:"limit"`
	}
	if json.Unmarshal(m.Params, &in) != nil || in.Path == "" {
		s.refuse(m.ID, wire.CodeInvalidParams, "fs/read_text_file needs a path")
		return
	}
	s.accept()
	s.atWork(m.ID, func() {
		text, err := s.files.read(in.Path, in.Line, in.Limit)
		if err != nil {
			s.refuseFile(m.ID, err)
			return
		}
		_ = s.rpc.Reply(s.ctx, m.ID, sdk.ReadTextFileResponse{Content: text})
	})
}

func (s *session) writeFile(m wire.Message) {
	var in struct {
		Path    string `json:"path"`
		Content string `json:"content"`
	}
	if json.Unmarshal(m.Params, &in) != nil || in.Path == "" {
		s.refuse(m.ID, wire.CodeInvalidParams, "fs/write_text_file needs a path")
		return
	}
	t := s.accept()
	write := func() {
		if err := s.files.write(in.Path, in.Content); err != nil {
			s.refuseFile(m.ID, err)
			return
		}
		_ = s.rpc.Reply(s.ctx, m.ID, sdk.WriteTextFileResponse{})
	}
	if _, err := s.files.local(in.Path); err != nil {
		s.refuseFile(m.ID, err)
		return
	}
	switch s.mayWrite(t, in.Path) {
	case refused:
		s.refuse(m.ID, wire.CodeInvalidRequest, "only planning is permitted: nothing is written")
	case granted:
		s.atWork(m.ID, write)
	case asks:
		change := fileDiff(s.relative(in.Path), s.files.old(in.Path), in.Content, "")
		s.askOwn(m.ID, event.Request{
			Title: "Write " + change.Path, ToolKind: event.ToolEdit, Cwd: s.spec.Cwd, Files: []event.FileDiff{change},
		}, func(kind event.OptionKind) {
			if kind == event.AllowSession {
				s.mu.Lock()
				s.granted.writes = true
				s.mu.Unlock()
			}
			write()
		})
	}
}

func (s *session) refuseFile(id json.RawMessage, err error) {
	code, text := wire.CodeInternal, err.Error()
	if errors.Is(err, fs.ErrNotExist) {
		// Agents tell a file that does not exist from other failures by
		// these words.
		code, text = codeNotFound, "Resource not found: "+text
	}
	_ = s.rpc.Refuse(s.ctx, id, code, text)
}

// The options of what we ask ourselves.
var ownOptions = []event.Option{
	{ID: "allow_once", Kind: event.AllowOnce, Label: "Allow once"},
	{ID: "allow_session", Kind: event.AllowSession, Label: "Allow for this chat until it is closed"},
	{ID: "reject_once", Kind: event.RejectOnce, Label: "Deny", Reason: true},
}

// askOwn puts to the user what the agent wants to do through the protocol and
// did not ask about. The reason of a denial reaches the agent.
func (s *session) askOwn(id json.RawMessage, body event.Request, do func(event.OptionKind)) {
	body.Options = ownOptions
	body.Reason = s.entry.Title + " did not ask for permission by itself."
	s.put(&request{
		id: id,
		check: func(a provider.Answer) error {
			for _, o := range ownOptions {
				if o.ID == a.Option {
					return nil
				}
			}
			return fmt.Errorf("option: %q is not one of those offered", a.Option)
		},
		answer: func(a provider.Answer) error {
			if a.Option == string(event.RejectOnce) {
				return s.rpc.Refuse(s.ctx, id, wire.CodeInvalidRequest, strings.TrimSpace("the user denied it. "+a.Reason))
			}
			do(event.OptionKind(a.Option))
			return nil
		},
		cancelled: func() { _ = s.rpc.Refuse(s.ctx, id, wire.CodeInvalidRequest, "cancelled") },
	}, provider.Request{Kind: event.Approval, Body: body})
}
