package acp

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"berth/backend/event"
	"berth/backend/provider"
	"berth/backend/provider/wire"
)

func newFiles(t *testing.T) (f *files, dir, outside string) {
	t.Helper()
	dir, outside = t.TempDir(), t.TempDir()
	f, err := openFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.close)
	return f, dir, outside
}

// What lies outside the folder is neither read nor written, by whatever path.
func TestFilesStayInTheFolder(t *testing.T) {
	f, dir, outside := newFiles(t)
	secret := filepath.Join(outside, "secret")
	writeFile(t, secret, "secret")
	if err := os.Symlink(secret, filepath.Join(dir, "link")); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "folder")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("missing", filepath.Join(dir, "dangling")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		secret, "relative", filepath.Join(dir, "..", filepath.Base(outside), "secret"), dir + "/../" + filepath.Base(outside) + "/secret",
		filepath.Join(dir, "link"), filepath.Join(dir, "folder", "secret"), filepath.Join(dir, "folder", "new"), dir + "-sibling", dir, "/etc/passwd", "",
	} {
		if text, err := f.read(path, nil, nil); err == nil {
			t.Errorf("read %s: %q", path, text)
		}
		if err := f.write(path, "owned"); err == nil {
			t.Errorf("wrote %s", path)
		}
	}
	if got, err := os.ReadFile(secret); err != nil || string(got) != "secret" {
		t.Errorf("outside: %q, %v", got, err)
	}
	if left, _ := os.ReadDir(outside); len(left) != 1 {
		t.Errorf("outside: %v", left)
	}
}

func TestFilesReadAndWrite(t *testing.T) {
	f, dir, _ := newFiles(t)
	path := filepath.Join(dir, "a", "b.txt")
	if err := f.write(path, "one\ntwo\nthree\n"); err != nil {
		t.Fatal(err)
	}
	number := func(n int) *int { return &n }
	for _, test := range []struct {
		line, limit *int
		want        string
	}{
		{nil, nil, "one\ntwo\nthree\n"},
		{number(2), nil, "two\nthree\n"},
		{number(2), number(1), "two\n"},
		{nil, number(1), "one\n"},
		{number(0), number(1), "one\n"},
		{number(99), number(5), ""},
		{number(1), number(0), ""},
		{number(1 << 40), number(1 << 60), ""},
	} {
		if got, err := f.read(path, test.line, test.limit); err != nil || got != test.want {
			t.Errorf("%v %v: %q, %v", test.line, test.limit, got, err)
		}
	}
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := f.write(path, "x"); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o755 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if _, err := f.read(filepath.Join(dir, "none"), nil, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if err := f.write(path, strings.Repeat("x", maxFile+1)); err == nil {
		t.Error("wrote more than the limit")
	}
}

// request sends a file request and gives the reply; answer, if any, answers
// what we ask the user about it.
func (x *setup) ownRequest(method, params, answer string) (asked *provider.Request, reply line) {
	x.t.Helper()
	x.a.request(7, method, params)
	if answer != "" {
		asked = x.until(func(e provider.Event) bool { return e.Request != nil }).Request
		if err := x.s.Answer(x.t.Context(), asked.Key, provider.Answer{Option: answer, Reason: "not now"}); err != nil {
			x.t.Fatal(err)
		}
	}
	return asked, x.a.expect("")
}

// sessionWith has a mode for each permission.
const sessionWithModes = `{"sessionId":"s1","modes":{"currentModeId":"ask","availableModes":[{"id":"ask","name":""},{"id":"plan","name":""},{"id":"acceptEdits","name":""},{"id":"yolo","name":""}]}}`

func modeSession(t *testing.T, mode provider.Permission) *setup {
	x := begin(t, provider.Spec{Mode: mode}, newHandClock(), testEntry)
	go func() {
		x.a.greet(`{}`, sessionWithModes)
		if mode != provider.Ask {
			x.a.reply(x.a.expect("session/set_mode"), `{}`)
		}
	}()
	if err := x.s.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	x.send(provider.Input{Text: "hi"})
	return x
}

func TestWritesByMode(t *testing.T) {
	tests := []struct {
		mode    provider.Permission
		answer  string
		written bool
	}{
		{provider.Ask, "allow_once", true},
		{provider.Ask, "reject_once", false},
		{provider.AcceptEdits, "", true},
		{provider.Full, "", true},
		{provider.PlanOnly, "", false},
	}
	for _, test := range tests {
		t.Run(string(test.mode)+test.answer, func(t *testing.T) {
			x := modeSession(t, test.mode)
			path := filepath.Join(x.s.spec.Cwd, "a.txt")
			writeFile(t, path, "old\n")
			asked, reply := x.ownRequest("fs/write_text_file", fmt.Sprintf(`{"path":%q,"content":"new\n"}`, path), test.answer)
			got, err := os.ReadFile(path)
			if err != nil || (string(got) == "new\n") != test.written || (len(reply.Error) == 0) != test.written {
				t.Errorf("the file is %q, the reply %s %s", got, reply.Result, reply.Error)
			}
			if asked != nil {
				if b := asked.Body; asked.Kind != event.Approval || b.Title != "Write a.txt" || b.Files[0].Added != 1 || !strings.Contains(b.Reason, "did not ask") {
					t.Errorf("asked %+v", asked)
				}
			}
			if test.answer == "reject_once" && !strings.Contains(string(reply.Error), "not now") {
				t.Errorf("the reason did not reach the agent: %s", reply.Error)
			}
		})
	}
}

// What the user allowed when the agent asked is not asked again, and only
// that.
func TestWritesThatWereAskedFor(t *testing.T) {
	tests := []struct {
		option      string
		first, next bool // asked again in this turn for the file; in the next for another
	}{
		{"o1", false, true},
		{"o2", false, false},
	}
	for _, test := range tests {
		t.Run(test.option, func(t *testing.T) {
			x := modeSession(t, provider.Ask)
			path := filepath.Join(x.s.spec.Cwd, "a.txt")
			x.a.request(6, "session/request_permission", fmt.Sprintf(`{"toolCall":{"toolCallId":"c1","kind":"edit","title":"e",
				"content":[{"type":"diff","path":%q,"newText":"x"}]},%s}`, path, fourOptions))
			key := x.until(func(e provider.Event) bool { return e.Request != nil }).Request.Key
			if err := x.s.Answer(t.Context(), key, provider.Answer{Option: test.option}); err != nil {
				t.Fatal(err)
			}
			x.a.expect("")
			x.ownRequest("fs/write_text_file", fmt.Sprintf(`{"path":%q,"content":"x"}`, path), "")
			answer := ""
			if test.next {
				answer = "allow_once"
			}
			other := filepath.Join(x.s.spec.Cwd, "b.txt")
			if asked, _ := x.ownRequest("fs/write_text_file", fmt.Sprintf(`{"path":%q,"content":"x"}`, other), answer); (asked != nil) != test.next {
				t.Errorf("asked %+v", asked)
			}
		})
	}
}

func TestWriteForTheSession(t *testing.T) {
	x := modeSession(t, provider.Ask)
	write := func(name, answer string) *provider.Request {
		asked, _ := x.ownRequest("fs/write_text_file", fmt.Sprintf(`{"path":%q,"content":"x"}`, filepath.Join(x.s.spec.Cwd, name)), answer)
		return asked
	}
	write("a", "allow_session")
	if asked := write("b", ""); asked != nil {
		t.Errorf("asked %+v", asked)
	}
}

func TestReadFile(t *testing.T) {
	x := modeSession(t, provider.PlanOnly)
	path := filepath.Join(x.s.spec.Cwd, "a.txt")
	writeFile(t, path, "one\ntwo\n")
	_, reply := x.ownRequest("fs/read_text_file", fmt.Sprintf(`{"path":%q,"line":2}`, path), "")
	if string(reply.Result) != `{"content":"two\n"}` {
		t.Errorf("read %s %s", reply.Result, reply.Error)
	}
	var fault wire.RPCError
	_, reply = x.ownRequest("fs/read_text_file", fmt.Sprintf(`{"path":%q}`, path+"x"), "")
	if json.Unmarshal(reply.Error, &fault) != nil || fault.Code != codeNotFound || !strings.Contains(fault.Message, "Resource not found") {
		t.Errorf("a file that is not there: %s", reply.Error)
	}
}

func TestCommandsByMode(t *testing.T) {
	for mode, want := range map[provider.Permission]verdict{provider.Ask: asks, provider.AcceptEdits: asks, provider.PlanOnly: refused, provider.Full: granted} {
		s := &session{policy: policy{permission: mode}}
		if got := s.mayRun(nil, "make"); got != want {
			t.Errorf("%s: %v", mode, got)
		}
	}
	s := &session{policy: policy{permission: provider.Ask}}
	s.turn = &turn{}
	call := &tool{kind: event.ToolExecute, input: json.RawMessage(`{"command":["npm","test"]}`)}
	s.allowed(s.turn, call, event.AllowOnce)
	for command, want := range map[string]verdict{"npm test": granted, "npm  test": granted, "npm test; rm -rf .": asks, "npm": asks} {
		if got := s.mayRun(s.turn, command); got != want {
			t.Errorf("%s: %v", command, got)
		}
	}
	if got := s.mayRun(&turn{}, "npm test"); got != asks {
		t.Errorf("in another turn: %v", got)
	}
	s.allowed(s.turn, call, event.AllowAlways)
	if got := s.mayRun(&turn{}, "npm test"); got != granted {
		t.Errorf("always allowed: %v", got)
	}
}
