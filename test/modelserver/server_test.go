package modelserver

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// each runs a test for every protocol.
func each(t *testing.T, test func(t *testing.T, s *Server, d dialect)) {
	for _, d := range dialects {
		t.Run(d.name, func(t *testing.T) { test(t, start(t), d) })
	}
}

func TestAnswers(t *testing.T) {
	cases := []struct {
		name, text                 string
		wantText, thought, refusal string
	}{
		{name: "plain", text: "hello 你好", wantText: "You said: hello 你好"},
		{name: "text", text: `[[scenario:text {"text":"héllo"}]]`, wantText: "héllo"},
		{name: "thinking", text: `[[scenario:thinking {"thought":"hm, 思考","text":"so"}]]`, wantText: "so", thought: "hm, 思考"},
		{name: "refusal", text: `[[scenario:refusal]]`, refusal: "I cannot help with that."},
		{name: "split", text: `[[scenario:split]]`, wantText: SplitText},
		{name: "slow", text: `[[scenario:slow {"words":3,"ms":1}]]`, wantText: "word0001 word0002 word0003 "},
		{name: "big", text: `[[scenario:big {"bytes":300000}]]`, wantText: BigText(300000)},
	}
	each(t, func(t *testing.T, s *Server, d dialect) {
		for _, c := range cases {
			a := d.ask(t, s, &conversation{text: c.text})
			if a.status != 200 || a.err != nil || !a.ended || !a.usage {
				t.Errorf("%s: status %d, ended %v, usage %v, %v", c.name, a.status, a.ended, a.usage, a.err)
			}
			if a.text != c.wantText || a.thought != c.thought || a.refusal != c.refusal {
				t.Errorf("%s: text %.100q, thought %q, refusal %q", c.name, a.text, a.thought, a.refusal)
			}
			if err := s.DeliveredOnce(c.text); err != nil {
				t.Error(c.name, err)
			}
		}
	})
}

// TestToolsInSteps plays three calls one after the other, then the answer.
func TestToolsInSteps(t *testing.T) {
	tools := map[string][]string{ // shell, read, edit as the protocol's agent calls them
		"anthropic":   {"Bash", "Read", "Edit"},
		"responses":   {"exec_command", "exec_command", "apply_patch"},
		"completions": {"bash", "read", "edit"},
		"gemini":      {"run_shell_command", "read_file", "replace"},
	}
	text := `Do it. [[scenario:shell {"command":"ls","text":"Let me look."}]] [[scenario:read {"path":"/a"}]] then [[scenario:edit {"path":"/a","old":"x","new":"y"}]]`
	each(t, func(t *testing.T, s *Server, d dialect) {
		c := &conversation{text: text, tools: tools[d.name]}
		if d.name == "responses" {
			c.tools, c.custom = []string{"exec_command"}, []string{"apply_patch"}
		}
		for i, want := range tools[d.name] {
			a := d.ask(t, s, c)
			if len(a.calls) != 1 || a.calls[0].name != want || a.calls[0].id == "" {
				t.Fatalf("step %d: %+v, want a call of %s", i, a.calls, want)
			}
			if i == 0 && a.text != "Let me look." {
				t.Errorf("said %q before the call", a.text)
			}
			if !a.calls[0].custom && !json.Valid([]byte(a.calls[0].input)) {
				t.Errorf("step %d: input is not JSON: %s", i, a.calls[0].input)
			}
			c.add(a.calls, "result "+want)
		}
		a := d.ask(t, s, c)
		for _, want := range tools[d.name] {
			if !strings.Contains(a.text, "result "+want) {
				t.Errorf("the final answer does not quote the result of %s: %s", want, a.text)
			}
		}
		if len(a.calls) != 0 {
			t.Errorf("calls after the last step: %+v", a.calls)
		}
		if err := s.DeliveredOnce(text); err != nil {
			t.Error(err)
		}
	})
}

func TestParallelCalls(t *testing.T) {
	text := `[[scenario:parallel {"calls":[{"scenario":"call","tool":"a","input":{"n":1}},{"scenario":"call","tool":"b","input":{"n":2}}]}]]`
	each(t, func(t *testing.T, s *Server, d dialect) {
		c := &conversation{text: text, tools: []string{"a", "b"}}
		a := d.ask(t, s, c)
		if len(a.calls) != 2 || a.calls[0].input != `{"n":1}` || a.calls[1].input != `{"n":2}` || a.calls[0].id == a.calls[1].id {
			t.Fatalf("calls: %+v", a.calls)
		}
		c.add(a.calls, "one", "two")
		if a := d.ask(t, s, c); a.text != "Done. The tool said: one The tool said: two" {
			t.Errorf("final answer %q", a.text)
		}
	})
}

func TestFailures(t *testing.T) {
	each(t, func(t *testing.T, s *Server, d dialect) {
		for _, c := range []struct {
			text     string
			statuses []int
			retry    string
		}{
			{`a [[scenario:status {"code":429,"retry_after":2}]]`, []int{429, 200}, "2"},
			{`b [[scenario:status {"code":529,"times":2}]] [[scenario:text]]`, []int{529, 529, 200}, ""},
			{`c [[scenario:status {"code":500,"times":-1}]]`, []int{500, 500, 500}, ""},
			{`d [[scenario:nonsense]]`, []int{400}, ""},
			{`e [[scenario:text {"no_such":1}]]`, []int{400}, ""},
		} {
			for i, want := range c.statuses {
				a := d.ask(t, s, &conversation{text: c.text})
				if a.status != want {
					t.Errorf("%s try %d: status %d, want %d", c.text, i+1, a.status, want)
				}
				if want != 200 && a.header.Get("Retry-After") != c.retry {
					t.Errorf("%s: Retry-After %q, want %q", c.text, a.header.Get("Retry-After"), c.retry)
				}
				if want != 200 && !bytes.Contains(a.raw, []byte(`"error"`)) {
					t.Errorf("%s: body %s", c.text, a.raw)
				}
			}
		}
	})
}

func TestCutBreaksTheConnection(t *testing.T) {
	each(t, func(t *testing.T, s *Server, d dialect) {
		c := &conversation{text: "[[scenario:cut]]"}
		a := d.ask(t, s, c)
		if a.err == nil || a.ended || a.text == "" {
			t.Errorf("cut: text %q, ended %v, error %v", a.text, a.ended, a.err)
		}
		if a := d.ask(t, s, c); a.err != nil || !a.ended {
			t.Errorf("after the cut: %v", a.err)
		}
		if err := s.DeliveredOnce(c.text); err != nil {
			t.Error(err)
		}
	})
}

func TestInvalidUTF8(t *testing.T) {
	each(t, func(t *testing.T, s *Server, d dialect) {
		a := d.ask(t, s, &conversation{text: "[[scenario:invalid_utf8]]"})
		if !bytes.Contains(a.raw, []byte("Before ")) || !bytes.Contains(a.raw, []byte(InvalidBytes)) {
			t.Errorf("no invalid bytes in %q", a.raw)
		}
	})
}

func TestSilenceEndsWithTheServer(t *testing.T) {
	each(t, func(t *testing.T, s *Server, d dialect) {
		a := d.ask(t, s, &conversation{text: `[[scenario:silence {"seconds":1}]]`})
		if a.text != "An answer after a long silence." {
			t.Errorf("answer %q", a.text)
		}
	})
	s, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan *answer)
	go func() { done <- dialects[0].ask(t, s, &conversation{text: "[[scenario:silence]]"}) }()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := s.Wait(ctx, func(all []Request) bool { return len(all) == 1 }); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if a := <-done; a.ended {
		t.Error("a silent answer ended normally although the server was closed")
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestSideRequests(t *testing.T) {
	s := start(t)
	for name, c := range map[string]struct{ path, body, want string }{
		"schema": {"/v1/messages", `{"model":"m","messages":[{"role":"user","content":"x"}],"output_config":{"format":{"schema":{"type":"object","properties":{"title":{"type":"string"},"n":{"type":"integer","minimum":1}}}}}}`, `{\"n\":1,\"title\":\"A scripted chat\"}`},
		"probe":  {"/v1/messages", `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"quota"}]}`, `"end_turn"`},
		"title":  {"/v1/chat/completions", `{"model":"m","messages":[{"role":"system","content":"You are a title generator."},{"role":"user","content":"x"}]}`, `A scripted chat`},
		"gemini": {"/v1beta/models/m:generateContent", `{"contents":[{"role":"user","parts":[{"text":"x"}]}],"generationConfig":{"responseJsonSchema":{"type":"object","properties":{"next_speaker":{"type":"string","enum":["user","model"]}}}}}`, `{\"next_speaker\":\"user\"}`},
	} {
		resp, err := http.Post(s.URL()+c.path, "application/json", strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != 200 || !strings.Contains(string(body), c.want) {
			t.Errorf("%s: %d %s %v", name, resp.StatusCode, body, err)
		}
	}
	if turns := Turns(s.Requests()); len(turns) != 0 {
		t.Errorf("side requests counted as turns: %+v", turns)
	}
}

func TestControl(t *testing.T) {
	s := start(t)
	post := func(path, body string) int {
		resp, err := http.Post(s.URL()+path, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	if got := post("/_script", `{"match":"weather","steps":[{"scenario":"text","text":"rain"}]}`); got != http.StatusNoContent {
		t.Fatalf("/_script: %d", got)
	}
	if a := dialects[1].ask(t, s, &conversation{text: "the weather?"}); a.text != "rain" {
		t.Errorf("scripted answer %q", a.text)
	}
	resp, err := http.Get(s.URL() + "/_requests")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var all []Request
	if err := json.NewDecoder(resp.Body).Decode(&all); err != nil || len(all) != 1 || all[0].Prompt != "the weather?" || all[0].Outcome != OutcomeDone {
		t.Errorf("recorded %+v, %v", all, err)
	}
	if got := post("/_reset", ""); got != http.StatusNoContent || len(s.Requests()) != 0 {
		t.Errorf("/_reset: %d, %d records left", got, len(s.Requests()))
	}
	if got := post("/v1/unheard", "{}"); got != http.StatusNotFound || len(s.Requests()) != 1 {
		t.Errorf("an unknown path: %d, %d records", got, len(s.Requests()))
	}
	for path, body := range map[string]string{"/v1/messages/count_tokens": `{"messages":[]}`, "/v1beta/models/m:countTokens": `{"contents":[]}`} {
		if got := post(path, body); got != 200 {
			t.Errorf("%s: %d", path, got)
		}
	}
}

// TestDeliveredOnce proves that each way of going wrong is seen.
func TestDeliveredOnce(t *testing.T) {
	for name, c := range map[string]struct {
		texts []string
		fails bool
	}{
		"once":    {[]string{"a"}, false},
		"never":   {[]string{"b"}, true},
		"changed": {[]string{"a "}, true},
		"twice":   {[]string{"a", "a"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			for _, text := range c.texts {
				dialects[0].ask(t, s, &conversation{text: text})
			}
			if err := s.DeliveredOnce("a"); (err != nil) != c.fails {
				t.Errorf("%v: %v", c.texts, err)
			}
		})
	}
	t.Run("twice in one request", func(t *testing.T) {
		s := start(t)
		body := `{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"x"},{"role":"user","content":"a"}]}`
		resp, err := http.Post(s.URL()+"/v1/messages", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if s.DeliveredOnce("a") == nil {
			t.Error("the same text twice in one conversation was not seen")
		}
	})
}

func TestDirectives(t *testing.T) {
	inner := Directive(Step{Scenario: scText, Text: "inner ]] text"})
	steps := []Step{
		{Scenario: scSubagent, Prompt: inner},
		{Scenario: scShell, Command: `echo "]]" {`},
		{Scenario: scRefusal},
	}
	text := "before "
	for _, s := range steps {
		text += Directive(s) + " and "
	}
	got, err := ParseDirectives(text)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := json.Marshal(steps)
	if have, _ := json.Marshal(got); !bytes.Equal(have, want) {
		t.Errorf("parsed %s, want %s", have, want)
	}
	for _, bad := range []string{"[[scenario:]]", "[[scenario:text {]]", `[[scenario:text {"text":"x"}`, "[[scenario:text"} {
		if _, err := ParseDirectives(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func FuzzParseDirectives(f *testing.F) {
	f.Add(`[[scenario:shell {"command":"ls"}]]`)
	f.Add("[[scenario:[[scenario:")
	f.Fuzz(func(t *testing.T, text string) {
		steps, err := ParseDirectives(text)
		if err != nil {
			return
		}
		for _, s := range steps {
			if s.Scenario == "" {
				t.Errorf("a step without a name from %q", text)
			}
		}
	})
}
