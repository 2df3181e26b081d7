package claude

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"berth/backend/event"
	"berth/backend/provider"
	"berth/backend/provider/patch"
	"berth/backend/provider/wire"
)

func TestPiecesHoldBackHalfCharacters(t *testing.T) {
	cases := []struct {
		name   string
		pieces []string // raw JSON
		want   []string
	}{
		{"plain", []string{`"a"`, `"b\n"`}, []string{"a", "b\n"}},
		{"half and half", []string{`"x\ud83d"`, `"\ude00y"`}, []string{"x", "😀y"}},
		{"upper case", []string{`"\uD83D"`, `"\uDE00"`}, []string{"", "😀"}},
		{"whole pair", []string{`"\ud83d\ude00"`}, []string{"😀"}},
		{"an escaped backslash before u", []string{`"\\ud83d"`, `"z"`}, []string{`\ud83d`, "z"}},
		{"a half that never gets its other", []string{`"\ud83d"`, `"z"`}, []string{"", "\uFFFDz"}},
		{"not a string", []string{`7`, `null`, ``, `{"a":1}`}, []string{"", "", "", ""}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var p pieces
			for i, raw := range c.pieces {
				if got := p.next(json.RawMessage(raw)); got != c.want[i] {
					t.Errorf("%s: %q, want %q", raw, got, c.want[i])
				}
			}
		})
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		in   string
		max  int
		want string
	}{{"abc", 3, "abc"}, {"abc", 2, "ab"}, {"a你", 3, "a"}, {"你", 1, ""}} {
		if got := cut(c.in, c.max); got != c.want {
			t.Errorf("cut(%q, %d) = %q", c.in, c.max, got)
		}
	}
}

func TestProposed(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	text := file("a.txt", "x\ny\nx\n")
	cases := []struct {
		name, tool string
		input      map[string]any
		want       event.FileDiff
	}{
		{"edit", "Edit", map[string]any{"file_path": text, "old_string": "y", "new_string": "z"},
			event.FileDiff{Change: "modified", Added: 1, Removed: 1, Patch: "@@ -1,3 +1,3 @@\n x\n-y\n+z\n x\n"}},
		{"edit all", "Edit", map[string]any{"file_path": text, "old_string": "x", "new_string": "z", "replace_all": true},
			event.FileDiff{Change: "modified", Added: 2, Removed: 2, Patch: "@@ -1,3 +1,3 @@\n-x\n+z\n y\n-x\n+z\n"}},
		{"several edits", "MultiEdit", map[string]any{"file_path": text, "edits": []map[string]any{{"old_string": "y", "new_string": "1"}, {"old_string": "1", "new_string": "2"}}},
			event.FileDiff{Change: "modified", Added: 1, Removed: 1, Patch: "@@ -1,3 +1,3 @@\n x\n-y\n+2\n x\n"}},
		{"overwritten", "Write", map[string]any{"file_path": text, "content": "x\ny\n"},
			event.FileDiff{Change: "modified", Removed: 1, Patch: "@@ -1,3 +1,2 @@\n x\n y\n-x\n"}},
		{"new", "Write", map[string]any{"file_path": filepath.Join(dir, "new"), "content": "a"},
			event.FileDiff{Change: "added", Added: 1, Patch: "@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n"}},
		{"binary", "Edit", map[string]any{"file_path": file("b", "a\x00b"), "old_string": "a", "new_string": "c"},
			event.FileDiff{Change: "modified", Omitted: "binary"}},
		{"a folder", "Write", map[string]any{"file_path": dir, "content": "a"}, event.FileDiff{Change: "modified", Omitted: "too_large"}},
		{"too large", "Write", map[string]any{"file_path": file("c", strings.Repeat("x", patch.MaxText+1)), "content": "a"}, event.FileDiff{Change: "modified", Omitted: "too_large"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			input, _ := json.Marshal(c.input)
			got := proposed(dir, c.tool, input)
			if c.want.Path = patch.Relative(dir, c.input["file_path"].(string)); len(got) != 1 || got[0] != c.want {
				t.Errorf("%+v\nwant %+v", got, c.want)
			}
		})
	}
	if got := proposed(dir, "NotebookEdit", json.RawMessage(`{"file_path":"x"}`)); got != nil {
		t.Errorf("a notebook: %+v", got)
	}
}

func TestChangedFilesOfCommands(t *testing.T) {
	raw := json.RawMessage(`{"stdout":"","bashEditDiff":{"files":[
		{"filePath":"f","hunks":[{"oldStart":1,"oldLines":1,"newStart":1,"newLines":2,"lines":[" a","+b"]}]},
		{"filePath":"n","hunks":[{"oldStart":0,"oldLines":0,"newStart":1,"newLines":1,"lines":["+new"]}],"created":true}]}}`)
	got := newProjector("/").changedFiles("Bash", raw)
	if len(got) != 2 || got[0].Change != "modified" || got[0].Patch != "@@ -1,1 +1,2 @@\n a\n+b\n" || got[1].Change != "added" || got[1].Added != 1 {
		t.Errorf("%+v", got)
	}
	long := hunk{OldStart: 1, NewStart: 1, NewLines: 1, Lines: []string{"+" + strings.Repeat("x", patch.MaxPatch)}}
	if d := fileDiff("f", "modified", []hunk{long}); d.Patch != "" || d.Omitted != "too_large" || d.Added != 1 {
		t.Errorf("%+v", d)
	}
}

func TestOutcomes(t *testing.T) {
	reset := time.Unix(2000, 0).UTC()
	cases := []struct {
		name        string
		result      resultLine
		failure     failure
		limit       rateLimit
		interrupted bool
		silent      bool // nothing was said
		state, code string
		retry       time.Time
	}{
		{name: "answered", result: resultLine{Subtype: "success", StopReason: "end_turn", Turns: 1}, state: "completed"},
		{name: "interrupted", result: resultLine{Subtype: "error_during_execution", IsError: true, TerminalReason: "aborted_streaming", Errors: []string{diagnostic + " x"}}, interrupted: true, state: "stopped"},
		{name: "interrupted, told by its diagnostics only", result: resultLine{Subtype: "error_during_execution", IsError: true, Errors: []string{diagnostic + " x"}}, interrupted: true, state: "stopped"},
		{name: "a real error after an interrupt stays", result: resultLine{Subtype: "error_during_execution", IsError: true, Errors: []string{diagnostic + " x", "disk on fire"}}, interrupted: true, state: "failed", code: "failed"},
		{name: "ended before the interrupt came", result: resultLine{Subtype: "success", Turns: 1, Result: "x"}, interrupted: true, state: "completed"},
		{name: "silent", result: resultLine{Subtype: "success", Turns: 1}, silent: true, state: "failed", code: "no_answer"},
		{name: "a command that says nothing", result: resultLine{Subtype: "success"}, silent: true, state: "completed"},
		{name: "refused", result: resultLine{Subtype: "success", StopReason: "refusal", Turns: 1, IsError: true, Result: "no"}, failure: failure{kind: "invalid_request"}, state: "failed", code: "refused"},
		{name: "too long", result: resultLine{Subtype: "success", IsError: true, TerminalReason: "prompt_too_long", Status: 400}, failure: failure{kind: "invalid_request"}, state: "failed", code: "context_full"},
		{name: "signed out", result: resultLine{Subtype: "success", IsError: true}, failure: failure{kind: "authentication_failed"}, state: "failed", code: "signed_out"},
		{name: "no credit", result: resultLine{Subtype: "success", IsError: true, Status: 400}, failure: failure{kind: "billing_error"}, state: "failed", code: "quota"},
		{name: "subscription used up", result: resultLine{Subtype: "success", IsError: true, Status: 429}, failure: failure{kind: "rate_limit", limit: true}, limit: rateLimit{Status: "rejected", ResetsAt: 2000, Kind: "five_hour"}, state: "failed", code: "quota", retry: reset},
		{name: "too many requests", result: resultLine{Subtype: "success", IsError: true, Status: 429}, failure: failure{kind: "rate_limit"}, limit: rateLimit{Status: "allowed"}, state: "failed", code: "rate_limited"},
		{name: "overloaded", result: resultLine{Subtype: "success", IsError: true, Status: 529}, failure: failure{kind: "server_error"}, state: "failed", code: "overloaded"},
		{name: "server error", result: resultLine{Subtype: "success", IsError: true, Status: 500}, failure: failure{kind: "server_error"}, state: "failed", code: "service_error"},
		{name: "unknown model", result: resultLine{Subtype: "success", IsError: true, Status: 404}, failure: failure{kind: "invalid_request"}, state: "failed", code: "model_unavailable"},
		{name: "unreadable answer", result: resultLine{Subtype: "success", IsError: true, TerminalReason: "api_error"}, failure: failure{kind: "unknown"}, state: "failed", code: "service_error"},
		{name: "too many steps", result: resultLine{Subtype: "error_max_turns"}, state: "failed", code: "failed"},
		{name: "of a kind not known", result: resultLine{Subtype: "error_from_the_future", IsError: true}, state: "failed", code: "failed"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := newProjector("/")
			p.failure, p.limit, p.spoke = c.failure, c.limit, !c.silent
			end := p.outcome(&c.result, c.interrupted, true)
			code, retry := "", time.Time{}
			if end.Err != nil {
				code, retry = end.Err.Code, end.Err.RetryAt
				if end.Err.Text == "" || strings.Contains(end.Err.Detail, diagnostic) {
					t.Errorf("%+v", end.Err)
				}
			}
			if end.State != c.state || code != c.code || !retry.Equal(c.retry) {
				t.Errorf("%s %s %s", end.State, code, retry)
			}
		})
	}
}

func TestLimitIsWarnedOfOnce(t *testing.T) {
	p := newProjector("/")
	close := rateLimit{Status: "allowed_warning", Kind: "five_hour", ResetsAt: 2000, Windows: map[string]rateLimitWindow{"five_hour": {0.91}}}
	p.limits(rateLimit{Status: "allowed", Kind: "five_hour", ResetsAt: 2000})
	p.limits(close)
	p.limits(close)
	events := p.take()
	if len(events) != 1 || events[0].Item.Body.Text != "91 % of the subscription's 5-hour limit is used." || events[0].Item.Body.Notice.Code != "limit_close" {
		t.Errorf("%s", tale(events))
	}
}

func TestOptionsAreThoseTheAgentOffers(t *testing.T) {
	rule := `{"type":"addRules","behavior":"allow","destination":"localSettings","rules":[{"toolName":"Bash","ruleContent":"go test *"}]}`
	folder := `{"type":"addDirectories","destination":"session","directories":["/x"]}`
	edits := `{"type":"setMode","mode":"acceptEdits","destination":"session"}`
	cases := []struct {
		name    string
		offered []string
		labels  []string
	}{
		{"nothing", nil, []string{"Allow once", "Deny"}},
		{"a rule", []string{rule}, []string{"Allow once", "Always allow Bash(go test *)", "Deny"}},
		{"for the session", []string{folder, edits}, []string{"Allow once", "Allow work in /x, all edits in this session", "Deny"}},
		{"both", []string{rule, edits}, []string{"Allow once", "Allow all edits in this session", "Always allow Bash(go test *)", "Deny"}},
		{"bypassing is not offered", []string{`{"type":"setMode","mode":"bypassPermissions","destination":"session"}`}, []string{"Allow once", "Deny"}},
		{"a rule that denies", []string{strings.Replace(rule, "allow", "deny", 1)}, []string{"Allow once", "Deny"}},
		{"garbage", []string{`7`}, []string{"Allow once", "Deny"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := &canUseTool{Tool: "Bash", Input: json.RawMessage(`{"command":"go test ./x","description":"Test it"}`)}
			for _, s := range c.offered {
				r.Suggestions = append(r.Suggestions, json.RawMessage(s))
			}
			w, req := newProjector("/home").request("k", r)
			var labels []string
			for _, o := range req.Body.Options {
				labels = append(labels, o.Label)
				if _, err := w.answer(provider.Answer{Option: o.ID}); err != nil {
					t.Errorf("%s: %v", o.ID, err)
				}
			}
			if !slices.Equal(labels, c.labels) {
				t.Errorf("%q", labels)
			}
			if req.Body.Title != "Test it" || req.Body.Command != "go test ./x" || req.Body.Cwd != "/home" {
				t.Errorf("%+v", req.Body)
			}
			if _, err := w.answer(provider.Answer{Option: "allow_everything"}); err == nil {
				t.Error("an option that was not offered is taken")
			}
		})
	}
}

func TestAnswers(t *testing.T) {
	input := json.RawMessage(`{"questions":[{"question":"Which?","options":[{"label":"A"},{"label":"B"}]},{"question":"And?","multiSelect":true}],"metadata":{"source":"x"}}`)
	w, req := newProjector("/").request("k", &canUseTool{Tool: "AskUserQuestion", Input: input})
	if req.Kind != event.Question || len(req.Body.Questions) != 2 || req.Body.Title != "Which?" {
		t.Fatalf("%+v", req)
	}
	cases := []struct {
		name   string
		answer provider.Answer
		want   string
	}{
		{"all", provider.Answer{Answers: map[string][]string{"question_1": {"B"}, "question_2": {"x", "my own"}}},
			`{"behavior":"allow","updatedInput":{"answers":{"And?":"x, my own","Which?":"B"},"metadata":{"source":"x"},"questions":[{"question":"Which?","options":[{"label":"A"},{"label":"B"}]},{"question":"And?","multiSelect":true}]}}`},
		{"none", provider.Answer{}, `{"behavior":"deny","message":"` + saidNothing + `"}`},
		{"stopped", provider.Answer{Cancelled: true}, `{"behavior":"deny","message":"` + stoppedAll + `","interrupt":true}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r, err := w.answer(c.answer)
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := json.Marshal(r); string(got) != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
	// Questions that cannot be read are a plain approval, not lost.
	if _, req := newProjector("/").request("k", &canUseTool{Tool: "AskUserQuestion", Input: json.RawMessage(`{"questions":7}`)}); req.Kind != event.Approval || len(req.Body.Options) < 2 {
		t.Errorf("%+v", req)
	}
}

func TestPlanIsReadFromItsFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "plans")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "a-plan.md")
	if err := os.WriteFile(path, []byte("# Do it"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := newProjector("/")
	input, _ := json.Marshal(map[string]string{"file_path": path, "content": "# Do it"})
	p.called("", &block{Type: "tool_use", ID: "t1", Name: "Write", Input: input})
	p.user(&messageLine{Message: message{Content: content{{Type: "tool_result", ToolUseID: "t1"}}}})
	if _, req := p.request("k", &canUseTool{Tool: "ExitPlanMode", Input: json.RawMessage(`{}`)}); req.Body.Reason != "# Do it" {
		t.Errorf("%+v", req.Body)
	}
}

func TestStepsOfAPlan(t *testing.T) {
	var p plan
	call := func(name, input, result string) bool {
		return p.apply(name, json.RawMessage(input), json.RawMessage(result))
	}
	want := func(steps string) {
		t.Helper()
		var got []string
		for _, e := range p.entries() {
			got = append(got, e.Text+":"+string(e.Status))
		}
		if s := strings.Join(got, " "); s != steps {
			t.Errorf("%s, want %s", s, steps)
		}
	}
	call("TaskCreate", `{"subject":"a"}`, `{"task":{"id":"1","subject":"a"}}`)
	call("TaskCreate", `{"subject":"b"}`, `{"task":{"id":"2"}}`)
	want("a:pending b:pending")
	call("TaskUpdate", `{"taskId":"1","status":"in_progress"}`, `{}`)
	call("TaskUpdate", `{"taskId":"2","subject":"c"}`, `{}`)
	want("a:in_progress c:pending")
	if call("TaskUpdate", `{"taskId":"9","status":"completed"}`, `{}`) || call("TaskGet", `{}`, `{}`) {
		t.Error("nothing changed, but it is told")
	}
	call("TaskUpdate", `{"taskId":"1","status":"deleted"}`, `{}`)
	want("c:pending")
	call("TaskList", `{}`, `{"tasks":[{"id":"7","subject":"d","status":"completed"}]}`)
	want("d:completed")
	call("TodoWrite", `{"todos":[{"content":"e","status":"in_progress"}]}`, `{}`)
	want("e:in_progress")
	call("TodoWrite", `{"todos":7}`, `{}`)
	want("e:in_progress")
}

func TestMessageContent(t *testing.T) {
	dir := t.TempDir()
	pic, text, large := filepath.Join(dir, "p.png"), filepath.Join(dir, "n.txt"), filepath.Join(dir, "l.png")
	picture(t, pic)
	data, err := os.ReadFile(pic)
	if err != nil {
		t.Fatal(err)
	}
	for path, content := range map[string][]byte{text: []byte("x"), large: append(data, make([]byte, maxPicture)...)} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all := []provider.Attachment{{Path: pic, Name: "p"}, {Path: text, Name: "n"}, {Path: large, Name: "l", Type: "image/png"}}
	cases := []struct {
		name, text string
		files      []provider.Attachment
		want       string // a letter for each block: t text of the user, f files, i image
	}{
		{"text", " x\n", nil, "t"},
		{"with files", "x", all, "fti"},
		{"a command", "/x", all, "fit"},
		{"a picture alone", "", all[:1], "i"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			blocks, paths, err := messageContent(provider.Input{Text: c.text, Attachments: c.files})
			if err != nil || len(paths) != len(c.files) {
				t.Fatal(err, paths)
			}
			got := ""
			for _, b := range blocks {
				switch {
				case b.Type == "image":
					got += "i"
				case *b.Text == c.text:
					got += "t"
				default:
					got += "f"
					if strings.Contains(*b.Text, pic) || !strings.Contains(*b.Text, text) || !strings.Contains(*b.Text, large) {
						t.Errorf("%s", *b.Text)
					}
				}
			}
			if got != c.want {
				t.Errorf("%s", got)
			}
		})
	}
	if _, _, err := messageContent(provider.Input{Attachments: []provider.Attachment{{Path: filepath.Join(dir, "gone"), Name: "gone"}}}); err == nil {
		t.Error("a missing attachment is passed over")
	}
}

func TestArguments(t *testing.T) {
	args, err := arguments(provider.Spec{Mode: provider.AcceptEdits, Model: "opus", Effort: "high", Resume: "-x", Fork: true, Instructions: "between us"})
	if err != nil {
		t.Fatal(err)
	}
	line := strings.Join(args, " ")
	for _, want := range []string{"--permission-mode acceptEdits", "--model=opus", "--effort=high", "--resume=-x", "--fork-session", "--replay-user-messages", "--permission-prompt-tool stdio"} {
		if !strings.Contains(line, want) {
			t.Errorf("no %s in %s", want, line)
		}
	}
	if strings.Contains(line, "between us") || strings.Contains(line, "dangerous") {
		t.Errorf("%s", line)
	}
	var e *provider.Error
	if _, err := arguments(provider.Spec{Mode: "yolo"}); !errors.As(err, &e) || e.Code != "unsupported" {
		t.Errorf("an unknown mode: %v", err)
	}
}

func TestBypassAsRootIsTheUsersChoice(t *testing.T) {
	cases := []struct {
		spec provider.Spec
		root bool
		env  int
		code string
	}{
		{provider.Spec{Mode: provider.Full}, false, 0, ""},
		{provider.Spec{Mode: provider.Full}, true, 0, "root_bypass"},
		{provider.Spec{Mode: provider.Full, RootBypass: true}, true, 1, ""},
		{provider.Spec{Mode: provider.Ask, RootBypass: true}, true, 0, ""},
	}
	for _, c := range cases {
		env, err := rootEnv(c.spec, c.root)
		code := ""
		var e *provider.Error
		if errors.As(err, &e) {
			code = e.Code
		}
		if len(env) != c.env || code != c.code {
			t.Errorf("%+v as root %v: %v %v", c.spec, c.root, env, err)
		}
	}
}

func TestTools(t *testing.T) {
	cases := []struct {
		name, input string
		kind        event.ToolKind
		title       string
		line        int
	}{
		{"Read", `{"file_path":"/a","offset":7}`, event.ToolRead, "/a", 7},
		{"Bash", `{"command":"ls -l","description":"List"}`, event.ToolExecute, "ls -l", 0},
		{"Grep", `{"pattern":"x.*","path":"/a"}`, event.ToolSearch, "x.*", 0},
		{"WebFetch", `{"url":"https://x"}`, event.ToolFetch, "https://x", 0},
		{"Agent", `{"description":"Look","prompt":"long"}`, event.ToolAgent, "Look", 0},
		{"mcp__files__read", `{}`, event.ToolOther, "files: read", 0},
		{"mcp__files__read", `{"path":"/b"}`, event.ToolOther, "/b", 0},
		{"Fresh", `{"command":7}`, event.ToolOther, "", 0},
		{"Fresh", `not json`, event.ToolOther, "", 0},
	}
	for _, c := range cases {
		got := newTool(c.name, json.RawMessage(c.input))
		line := 0
		if len(got.Locations) > 0 {
			line = got.Locations[0].Line
		}
		if got.Kind != c.kind || got.Title != c.title || line != c.line {
			t.Errorf("%s %s: %+v", c.name, c.input, got)
		}
	}
}

// Any line at all leaves the session sound, and its texts valid.
func FuzzLines(f *testing.F) {
	tapes, err := filepath.Glob(filepath.Join("testdata", "*.jsonl"))
	if err != nil || len(tapes) == 0 {
		f.Fatal("no tapes", err)
	}
	for _, path := range tapes {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if strings.HasPrefix(line, "< ") {
				f.Add([]byte(strings.TrimSpace(line[2:])))
			}
		}
	}
	f.Add([]byte(`{"type":"stream_event","event":{"type":"content_block_delta","delta":{"text":"\ud83d"}}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		if len(line) == 0 {
			return
		}
		s := &session{clock: realClock{}, lines: wire.NewLines(strings.NewReader(""), io.Discard, 0), p: newProjector("/"), kept: func(string) bool { return false }, calls: map[string]chan controlReply{},
			requests: map[string]*pending{}, attached: map[string]bool{}, closing: true}
		s.dog = newDog(s)
		s.turn = &turn{id: "turn_1", uuid: messageID("turn_1"), begun: true, steers: map[string]string{}}
		for range 2 { // the second time it meets what the first has left
			s.take(slices.Clone(line))
		}
		s.p.end()
		for _, e := range s.p.take() {
			if e.Text != nil && !utf8.ValidString(e.Text.Text) {
				t.Errorf("invalid text %q", e.Text.Text)
			}
			if e.Item != nil && e.Item.Key == "" {
				t.Errorf("an item without a key: %+v", e.Item)
			}
			if _, err := json.Marshal(e); err != nil {
				t.Errorf("%v", err)
			}
		}
		s.dog.Stop()
		s.writers.Wait()
	})
}
