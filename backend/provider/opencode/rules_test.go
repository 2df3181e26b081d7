package opencode

import (
	"fmt"
	"slices"
	"testing"

	"berth/backend/provider"
)

// native are the rules that OpenCode 1.18.33 tells of its agent "build",
// started with ours, when the user's settings have none.
func native(user ...rule) rules {
	rs := rules{
		{"*", "*", allow}, {"doom_loop", "*", ask}, {"external_directory", "*", ask}, {"question", "*", deny},
		{"plan_enter", "*", deny}, {"plan_exit", "*", deny}, {"read", "*", allow}, {"read", "*.env", ask},
		{"question", "*", allow}, {"plan_enter", "*", allow},
	}
	return slices.Concat(rs, user, asking)
}

func TestModesAsRules(t *testing.T) {
	const a, q, d = allow, ask, deny
	tests := []struct {
		permission, pattern         string
		ask, acceptEdits, plan, all string
	}{
		{"bash", "ls", q, q, q, a},
		{"edit", "a.txt", q, a, d, a},
		{"webfetch", "https://x", q, q, q, a},
		{"websearch", "x", q, q, q, a},
		{"external_directory", "/etc/*", q, q, q, a},
		{"doom_loop", "*", q, q, q, a},
		{"github_create_issue", "*", q, q, q, a},
		{"read", "a.txt", a, a, a, a},
		{"read", ".env", q, q, q, a},
		{"grep", "x", a, a, a, a},
		{"question", "*", a, a, a, a},
		{"task", "general", a, a, a, a},
		{"plan_enter", "*", d, d, d, d},
		{"plan_exit", "*", d, d, d, d},
	}
	for _, test := range tests {
		for mode, want := range map[provider.Permission]string{provider.Ask: test.ask, provider.AcceptEdits: test.acceptEdits, provider.PlanOnly: test.plan, provider.Full: test.all} {
			// As the server decides: its own rules, then the session's.
			if got := slices.Concat(native(), forMode(mode, native())).decide(test.permission, test.pattern); got != want {
				t.Errorf("%s: %s %s: %s, want %s", mode, test.permission, test.pattern, got, want)
			}
		}
	}
}

// Whatever mode was before, the rules that are added for the next hold alone.
func TestModesFollowEachOther(t *testing.T) {
	all := []provider.Permission{provider.Ask, provider.AcceptEdits, provider.PlanOnly, provider.Full}
	for _, first := range all {
		for _, then := range all {
			added := slices.Concat(native(), forMode(first, native()), forMode(then, native()))
			alone := slices.Concat(native(), forMode(then, native()))
			for _, permission := range []string{"bash", "edit", "webfetch", "x_y", "read", "external_directory", "plan_exit"} {
				if got, want := added.decide(permission, "x"), alone.decide(permission, "x"); got != want {
					t.Errorf("%s after %s: %s is %s, want %s", then, first, permission, got, want)
				}
			}
		}
	}
}

// What the user's settings deny stays denied; what they allow is asked where
// the mode asks.
func TestTheUsersOwnRules(t *testing.T) {
	own := native(rule{"bash", "git status", allow}, rule{"bash", "rm *", deny}, rule{"webfetch", "*", deny}, rule{"skill", "x", ask})
	for _, mode := range []provider.Permission{provider.Ask, provider.AcceptEdits, provider.PlanOnly, provider.Full} {
		rs := slices.Concat(own, forMode(mode, own))
		asks := ask
		if mode == provider.Full {
			asks = allow
		}
		for what, want := range map[[2]string]string{
			{"bash", "rm -rf ."}: deny, {"webfetch", "https://x"}: deny, {"bash", "git status"}: asks, {"bash", "ls"}: asks, {"skill", "x"}: asks,
		} {
			if got := rs.decide(what[0], what[1]); got != want {
				t.Errorf("%s: %v is %s, want %s", mode, what, got, want)
			}
		}
	}
	// A list that denies all but what it names.
	own = native(rule{"*", "*", deny}, rule{"read", "*", allow}, rule{"bash", "ls*", allow})
	rs := slices.Concat(own, forMode(provider.Ask, own))
	for what, want := range map[[2]string]string{{"read", "a"}: allow, {"bash", "ls"}: ask, {"bash", "rm x"}: deny, {"edit", "a"}: deny} {
		if got := rs.decide(what[0], what[1]); got != want {
			t.Errorf("%v is %s, want %s", what, got, want)
		}
	}
}

func TestSettingsOfTheServer(t *testing.T) {
	config := asking.config()
	// These names take a word and no patterns: with a pattern OpenCode could
	// no longer tell its own settings.
	for _, name := range []string{"todowrite", "question", "webfetch", "websearch", "doom_loop"} {
		if _, ok := config[name]; ok {
			t.Errorf("%s is given patterns", name)
		}
	}
	if config["bash"]["*"] != ask || config["plan_exit"]["*"] != deny {
		t.Errorf("%v", config)
	}
}

func TestWild(t *testing.T) {
	for _, test := range []struct {
		pattern, text string
		want          bool
	}{
		{"*", "", true}, {"ls *", "ls", true}, {"ls *", "ls -la", true}, {"ls *", "lsof", false}, {"ls*", "lsof", true},
		{"*.env", "a/.env", true}, {"*.env", "env", false}, {"a?c", "abc", true}, {"a?c", "ac", false}, {"a.c", "abc", false},
		{"echo *", "echo a\nb", true}, {"(*", "(x", true},
	} {
		if got := wild(test.pattern, test.text); got != test.want {
			t.Errorf("%q %q: %v", test.pattern, test.text, got)
		}
	}
}

func TestDecides(t *testing.T) {
	s := &session{granted: rules{{"*", "*", ask}}}
	check := func(mode provider.Permission, permission string, patterns []string, want bool) {
		t.Helper()
		s.mode = mode
		if got := s.decides(permission, patterns); got != want {
			t.Errorf("%s %s %v: %v", mode, permission, patterns, got)
		}
	}
	check(provider.Ask, "bash", []string{"ls"}, false)
	check(provider.Ask, "bash", nil, false)
	check(provider.AcceptEdits, "edit", []string{"a"}, true)
	check(provider.AcceptEdits, "bash", []string{"ls"}, false)
	check(provider.PlanOnly, "edit", []string{"a"}, false)
	check(provider.Full, "bash", []string{"ls"}, true)
	s.grant(permission{Permission: "bash", Always: []string{"echo *", "ls *"}})
	check(provider.Ask, "bash", []string{"echo a", "ls"}, true)
	check(provider.Ask, "bash", []string{"echo a", "rm b"}, false)
	check(provider.Ask, "edit", []string{"echo a"}, false)
	for i := range maxRules + 10 {
		s.grant(permission{Permission: "bash", Always: []string{fmt.Sprint(i)}})
	}
	if len(s.granted) > maxRules {
		t.Errorf("%d rules are kept", len(s.granted))
	}
}

func FuzzWild(f *testing.F) {
	f.Add("git *", "git status")
	f.Add("(?[*", "x")
	f.Fuzz(func(t *testing.T, pattern, text string) {
		wild(pattern, text)
		if !wild("*", text) || !wild(text, text) {
			t.Errorf("%q does not match itself", text)
		}
	})
}
