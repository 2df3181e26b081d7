package codex

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"berth/backend/event"
	"berth/backend/provider"
	"berth/backend/provider/patch"
	"berth/backend/provider/wire"
)

func TestUnwrap(t *testing.T) {
	for in, want := range map[string]string{
		"/bin/bash -lc 'echo hi > f; ls'":           "echo hi > f; ls",
		"/bin/bash -lc ls":                          "ls",
		`bash -lc "echo \"x\" y"`:                   `echo "x" y`,
		`/bin/zsh -lc 'echo it'"'"'s'`:              "echo it's",
		`/bin/bash -lc 'a' 'b'`:                     `/bin/bash -lc 'a' 'b'`,
		`/bin/bash -lc "echo $HOME"`:                `/bin/bash -lc "echo $HOME"`,
		`/bin/bash -lc 'unclosed`:                   `/bin/bash -lc 'unclosed`,
		`/bin/bash script.sh`:                       `/bin/bash script.sh`,
		`git commit -m 'x'`:                         `git commit -m 'x'`,
		``:                                          ``,
		`/usr/bin/python -c 'print(1)'`:             `/usr/bin/python -c 'print(1)'`,
		"/bin/bash -lc 'line one\nline two'":        "line one\nline two",
		`/bin/bash -lc "a \\ b \$x"`:                `a \ b $x`,
		`/bin/bash -lc echo\ hi`:                    `/bin/bash -lc echo\ hi`,
		`/bin/bash -lc 'x' > /dev/null`:             `/bin/bash -lc 'x' > /dev/null`,
		"/opt/homebrew/bin/bash -c 'true && ls -l'": "true && ls -l",
	} {
		if got := unwrap(in); got != want {
			t.Errorf("unwrap(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzUnwrap(f *testing.F) {
	f.Add("/bin/bash -lc 'echo hi'")
	f.Add(`sh -c "a\"b"'c'`)
	f.Fuzz(func(t *testing.T, command string) {
		if got := unwrap(command); len(got) > len(command) {
			t.Errorf("unwrap(%q) grew to %q", command, got)
		}
	})
}

func TestClip(t *testing.T) {
	if got := clip("世界", 4); got != "世…" || !utf8.ValidString(got) {
		t.Errorf("clip gave %q", got)
	}
	if got := clip("short", 5); got != "short" {
		t.Errorf("clip gave %q", got)
	}
}

func TestFileDiff(t *testing.T) {
	s, _ := newLoose(t)
	move := "/project/new.txt"
	change := func(kind string, move *string, path, diff string) fileChange {
		c := fileChange{Path: path, Diff: diff}
		c.Kind.Type, c.Kind.Move = kind, move
		return c
	}
	cases := []struct {
		name string
		in   fileChange
		want event.FileDiff
	}{
		{"without a last line end", change("add", nil, "/project/a", "x"), event.FileDiff{Path: "a", Change: "added", Added: 1, Patch: "@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n"}},
		{"an empty file", change("add", nil, "/project/a", ""), event.FileDiff{Path: "a", Change: "added"}},
		{"outside the folder", change("update", nil, "/etc/hosts", "@@ -1 +1 @@\n-a\n+b\n"), event.FileDiff{Path: "/etc/hosts", Change: "modified", Added: 1, Removed: 1, Patch: "@@ -1 +1 @@\n-a\n+b\n"}},
		{"moved", change("update", &move, "/project/old.txt", "@@ -1 +1 @@\n-a\n+b\n\n\nMoved to: /project/new.txt"), event.FileDiff{Path: "new.txt", OldPath: "old.txt", Change: "renamed", Added: 1, Removed: 1, Patch: "@@ -1 +1 @@\n-a\n+b\n"}},
		{"too large", change("add", nil, "/project/a", strings.Repeat("x\n", patch.MaxText)), event.FileDiff{Path: "a", Change: "added", Omitted: "too_large"}},
		{"binary", change("delete", nil, "/project/a", "a\x00b\n"), event.FileDiff{Path: "a", Change: "deleted", Omitted: "binary"}},
	}
	for _, tc := range cases {
		if got := s.fileDiff(tc.in); got != tc.want {
			t.Errorf("%s: %+v, want %+v", tc.name, got, tc.want)
		}
	}
}

func TestExplain(t *testing.T) {
	resets := int64(1_800_003_600)
	now := frozen{}.Now()
	cases := []struct {
		message, info, code string
		retry               time.Time
	}{
		{"exceeded retry limit, last status: 429 Too Many Requests", `{"responseTooManyFailedAttempts":{"httpStatusCode":429}}`, "rate_limited", time.Time{}},
		{"rate limit exceeded: Please try again in 2.5s.", `"rateLimitExceeded"`, "rate_limited", now.Add(2500 * time.Millisecond).UTC()},
		{"You've hit your usage limit.", `"usageLimitExceeded"`, "quota", time.Unix(resets, 0).UTC()},
		{"at capacity", `"serverOverloaded"`, "overloaded", time.Time{}},
		{"boom", `"internalServerError"`, "failed", time.Time{}},
		{"no room", `"contextWindowExceeded"`, "context_full", time.Time{}},
		{"unexpected status 401 Unauthorized", `{"httpConnectionFailed":{"httpStatusCode":401}}`, "signed_out", time.Time{}},
		{"The model `x` does not exist", `"modelNotFound"`, "model_unknown", time.Time{}},
		{"stream disconnected before completion", `"other"`, "connection", time.Time{}},
		{"Reconnecting", `{"responseStreamDisconnected":{"httpStatusCode":null}}`, "connection", time.Time{}},
		{"bad", `"badRequest"`, "refused", time.Time{}},
		{"policy", `"cyberPolicy"`, "refused", time.Time{}},
		{`{"error":{"message":"the inner words"}}`, `"other"`, "failed", time.Time{}},
		{"something new", `{"somethingNew":{}}`, "failed", time.Time{}},
		{"nothing", `null`, "failed", time.Time{}},
	}
	for _, tc := range cases {
		s, _ := newLoose(t)
		s.server.limits = rateLimits{Primary: &limitWindow{Used: 100, Resets: &resets}}
		e := s.explain(&turnFailure{Message: tc.message, Info: json.RawMessage(tc.info)})
		if e.Code != tc.code || e.Text == "" || e.Detail == "" || !e.RetryAt.Equal(tc.retry) {
			t.Errorf("%s %s: %+v, want %s and %s", tc.message, tc.info, e, tc.code, tc.retry)
		}
		if strings.HasPrefix(e.Detail, "{") {
			t.Errorf("the detail is JSON: %s", e.Detail)
		}
	}
}

func TestRequestError(t *testing.T) {
	for message, code := range map[string]string{
		"thread x already has an active writer": "in_use", "no rollout found for thread id x": "not_resumable",
		"invalid session id: y": "not_resumable", "something else": "failed",
	} {
		if e := requestError("It failed.", &wire.RPCError{Code: -32600, Message: message}); e.Code != code || e.Detail == "" {
			t.Errorf("%s: %+v, want %s", message, e, code)
		}
	}
	if e := requestError("It failed.", &wire.RPCError{Code: codeOverloaded, Message: "busy"}); e.Code != "overloaded" {
		t.Errorf("%+v", e)
	}
}

// TestLimits: the user is told once that a limit is near, and only in a
// conversation at work.
func TestLimits(t *testing.T) {
	line := `{"method":"account/rateLimits/updated","params":{"rateLimits":{"primary":{"usedPercent":93,"windowDurationMins":300,"resetsAt":1800000000},"secondary":null}}}`
	count := func(events []provider.Event) int {
		n := 0
		for _, e := range events {
			if e.Item != nil && e.Item.Body.Notice != nil && e.Item.Body.Notice.Code == "limit_near" {
				n++
				if !strings.Contains(e.Item.Body.Text, "93 %") || !strings.Contains(e.Item.Body.Text, "5 hours") {
					t.Errorf("the notice says %q", e.Item.Body.Text)
				}
			}
		}
		return n
	}
	if n := count(replay(t, turnOf(line, line))); n != 1 {
		t.Errorf("told %d times", n)
	}
	if n := count(replay(t, [][]byte{[]byte(`{"method":"thread/started","params":{"thread":{"id":"thread-1"}}}`), []byte(line)})); n != 0 {
		t.Errorf("an idle conversation was told %d times", n)
	}
}
