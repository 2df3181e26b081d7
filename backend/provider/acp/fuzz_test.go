package acp

import (
	"path/filepath"
	"testing"

	"berth/backend/provider"
)

// FuzzLines feeds an open session with lines of any kind: it must neither
// panic nor hang, nor write outside its folder.
func FuzzLines(f *testing.F) {
	for _, seed := range []string{
		`{"method":"session/update","params":{"sessionId":"s1","update":` + chunk("x") + `}}`,
		`{"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call","toolCallId":"1","content":[{"type":"diff","path":"/x","newText":"y"},{"type":"terminal","terminalId":"t"}],"rawOutput":{"output":"x"}}}}`,
		`{"method":"session/update","params":{"update":{"sessionUpdate":"plan","entries":[{"content":"x"}]}}}`,
		`{"method":"session/update","params":{"update":{"sessionUpdate":"usage_update","used":1,"cost":{"amount":1,"currency":"usd"}}}}`,
		`{"method":"session/update","params":{"update":{"sessionUpdate":"config_option_update","configOptions":[{"type":"select","currentValue":"x"}]}}}`,
		`{"id":1,"method":"session/request_permission","params":` + permission("edit", fourOptions) + `}`,
		`{"id":2,"method":"elicitation/create","params":` + colourForm + `}`,
		`{"id":3,"method":"fs/write_text_file","params":{"path":"/x","content":"y"}}`,
		`{"id":4,"method":"fs/read_text_file","params":{"path":"/etc/passwd"}}`,
		`{"id":5,"method":"terminal/wait_for_exit","params":{"terminalId":"x"}}`,
		`{"method":"$/cancel_request","params":{"requestId":1}}`,
		`{"id":1,"result":{"stopReason":"end_turn"}}`, `null`, `{"id":null,"method":""}`, "\xff",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p := newPipeProcess()
		dir := t.TempDir()
		host := provider.Host{Scratch: t.TempDir(), Clock: newHandClock()}
		files, err := openFiles(dir)
		if err != nil {
			t.Fatal(err)
		}
		s := newSession(host, provider.Spec{Cwd: dir, Mode: provider.Full}, testEntry, p, files)
		s.phase, s.id = open, "s1"
		s.policy = policy{permission: provider.AcceptEdits}
		s.turn = &turn{number: 1, tools: map[string]*tool{}}
		go s.read()
		written := make(chan struct{})
		go func() { // what we write to the agent
			defer close(written)
			buf := make([]byte, 4096)
			for {
				if _, err := p.inner.Read(buf); err != nil {
					return
				}
			}
		}()
		go func() {
			_, _ = p.outer.Write(append(data, '\n'))
			p.outer.Close()
		}()
		for range s.events {
		}
		<-s.done
		<-written
		if names, _ := filepath.Glob(filepath.Join(filepath.Dir(dir), "*")); len(names) > 2 {
			t.Errorf("written outside: %v", names)
		}
	})
}

func FuzzAgentsFile(f *testing.F) {
	f.Add([]byte(`{"agents":[{"id":"a","title":"x","command":"x","modes":{"ask":"y"}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := ParseAgentsFile(data)
		if err == nil && file.Validate() != nil {
			t.Error("taken although it is not valid")
		}
	})
}

// FuzzDiff: the hunks of a patch, applied by count, hold as many lines as the
// texts differ in.
func FuzzDiff(f *testing.F) {
	f.Add("a\nb\n", "a\nc\n")
	f.Fuzz(func(t *testing.T, old, text string) {
		d := fileDiff("x", &old, text, "")
		if d.Omitted == "" && (old == text) != (d.Patch == "") {
			t.Errorf("%q to %q: %+v", old, text, d)
		}
	})
}
