package settings

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"berth/backend/provider"
	"berth/backend/refusal"
)

// maxAgents bounds for how many agents there can be settings.
const maxAgents = 64

var (
	agentName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)
	envEntry  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)
)

// What can be chosen; the declarations of Settings repeat these for the API,
// and a test holds them together.
var (
	languages   = []string{"auto", "en", "zh-CN"}
	themes      = []string{"system", "light", "dark"}
	contrasts   = []string{"system", "normal", "more"}
	densities   = []string{"auto", "regular", "compact", "touch"}
	notifies    = []string{"off", "needs_you", "all"}
	permissions = []provider.Permission{provider.Ask, provider.AcceptEdits, provider.PlanOnly, provider.Full}
)

// validate names the first field that is wrong and what is allowed.
func (s *Settings) validate() error {
	checks := []error{
		oneOf("language", s.Language, languages),
		oneOf("theme", s.Theme, themes),
		oneOf("contrast", s.Contrast, contrasts),
		oneOf("density", s.Density, densities),
		oneOf("default_permissions", s.DefaultPermissions, permissions),
		oneOf("notify", s.Notify, notifies),
		within("text_size", s.TextSize, 87.5, 150),
		within("idle_minutes", float64(s.IdleMinutes), 1, 1440),
	}
	if s.DefaultAgent != "" && !agentName.MatchString(s.DefaultAgent) {
		checks = append(checks, wrong("default_agent", "must be the name of an agent"))
	}
	if len(s.Agents) > maxAgents {
		checks = append(checks, wrong("agents", fmt.Sprintf("at most %d agents can be set", maxAgents)))
	}
	for name, a := range s.Agents {
		checks = append(checks, a.validate("agents."+name, name))
	}
	for _, err := range checks {
		if err != nil {
			return err
		}
	}
	return nil
}

func (a AgentSettings) validate(field, name string) error {
	switch {
	case !agentName.MatchString(name):
		return wrong(field, "must be the name of an agent")
	case a.Executable != "" && !filepath.IsAbs(a.Executable):
		return wrong(field+".executable", "must be an absolute path")
	case strings.ContainsRune(a.Executable, 0):
		return wrong(field+".executable", "must not contain a zero byte")
	case a.Permissions != "" && !slices.Contains(permissions, a.Permissions):
		return oneOf(field+".permissions", a.Permissions, permissions)
	}
	for i, entry := range a.Env {
		if !envEntry.MatchString(entry) || strings.ContainsRune(entry, 0) {
			return wrong(fmt.Sprintf("%s.env[%d]", field, i), "must be NAME=value")
		}
	}
	return nil
}

func oneOf[T ~string](field string, value T, allowed []T) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	names := make([]string, len(allowed))
	for i, a := range allowed {
		names[i] = string(a)
	}
	return wrong(field, "must be one of "+strings.Join(names, ", "))
}

func within(field string, value, least, most float64) error {
	if value >= least && value <= most { // false for NaN
		return nil
	}
	return wrong(field, fmt.Sprintf("must be from %g to %g", least, most))
}

// wrong refuses a field of a change.
func wrong(field, text string) error {
	return refusal.New(refusal.Invalid, field, text)
}
