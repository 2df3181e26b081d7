package opencode

import (
	"regexp"
	"runtime"
	"slices"
	"strings"

	"berth/backend/provider"
)

// rule is one of OpenCode's permission rules; of those that match, the last
// decides.
type rule struct {
	Permission string `json:"permission"`
	Pattern    string `json:"pattern"`
	Action     string `json:"action"`
}

// The actions of a rule.
const (
	allow = "allow"
	ask   = "ask"
	deny  = "deny"
)

type rules []rule

// asking asks before anything that changes or leaves the folder. Tools of MCP
// servers are called <server>_<tool>; the names with an underscore also hold
// what is outside the folder (external_directory) and endless repetition
// (doom_loop). OpenCode's own way in and out of planning is shut: Berth's
// mode decides.
var asking = rules{
	{"*_*", "*", ask},
	{"bash", "*", ask},
	{"edit", "*", ask},
	{"web*", "*", ask},
	{"codesearch", "*", ask},
	{"plan_enter", "*", deny},
	{"plan_exit", "*", deny},
}

// config is the rules as OpenCode's settings write them. A pattern is merged
// into those of the user, where a plain word would replace them; "web*" stands
// for two names that take only words.
func (rs rules) config() map[string]map[string]string {
	out := map[string]map[string]string{}
	for _, r := range rs {
		out[r.Permission] = map[string]string{r.Pattern: r.Action}
	}
	return out
}

// forMode is what a permission mode means, over the rules that the user's own
// settings make: what they deny stays denied, and what they ask about is
// asked except with full permissions.
func forMode(mode provider.Permission, own rules) rules {
	base := slices.Clone(asking)
	switch mode {
	case provider.AcceptEdits:
		base = append(base, rule{"edit", "*", allow})
	case provider.PlanOnly:
		base = append(base, rule{"edit", "*", deny})
	case provider.Full:
		base = rules{{"*", "*", allow}, {"plan_enter", "*", deny}, {"plan_exit", "*", deny}}
	}
	out := slices.Clone(base)
	for _, r := range own.without(asking) {
		switch {
		case r.Action == deny:
			out = append(out, r)
		case r.Permission == "*":
			out = append(out, base...) // takes back what was denied before it
		default:
			action := base.decide(r.Permission, r.Pattern)
			if r.Action == ask && action == allow && mode != provider.Full {
				action = ask
			}
			out = append(out, rule{r.Permission, r.Pattern, action})
		}
	}
	// Last, since OpenCode's own list begins by allowing and ends by shutting.
	return append(out, rule{"plan_enter", "*", deny}, rule{"plan_exit", "*", deny})
}

// without leaves out the rules that the server got from us.
func (rs rules) without(ours rules) rules {
	return slices.DeleteFunc(slices.Clone(rs), func(r rule) bool { return slices.Contains(ours, r) })
}

// decide is what the rules say; nothing said is allowed, as in OpenCode.
func (rs rules) decide(permission, pattern string) string {
	action := allow
	for _, r := range rs {
		if wild(r.Permission, permission) && wild(r.Pattern, pattern) {
			action = r.Action
		}
	}
	return action
}

// wild matches as OpenCode's wildcards do: * any text, ? one character, and
// an end of " *" also nothing ("ls *" matches "ls").
func wild(pattern, text string) bool {
	if pattern == "*" || pattern == text {
		return true
	}
	if len(pattern) > maxInput || strings.Count(pattern, "*") > 64 {
		return false // no rule that a person wrote
	}
	expr := regexp.QuoteMeta(pattern)
	expr = strings.ReplaceAll(strings.ReplaceAll(expr, `\*`, ".*"), `\?`, ".")
	if rest, ok := strings.CutSuffix(expr, " .*"); ok {
		expr = rest + "( .*)?"
	}
	flags := "(?s)"
	if runtime.GOOS == "windows" {
		flags = "(?si)"
	}
	re, err := regexp.Compile(flags + "^" + expr + "$")
	return err == nil && re.MatchString(text)
}

// decides gives the reply to a request that needs no user: what the mode
// allows in a sub-agent, and what was allowed for this chat.
func (s *session) decides(permission string, patterns []string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.mode {
	case provider.Full:
		return true
	case provider.AcceptEdits:
		if permission == "edit" {
			return true
		}
	}
	if len(patterns) == 0 {
		return false
	}
	for _, p := range patterns {
		if s.granted.decide(permission, p) != allow {
			return false
		}
	}
	return true
}
