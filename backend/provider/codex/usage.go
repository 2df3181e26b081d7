package codex

import (
	"fmt"
	"time"

	"berth/backend/provider"
)

// tokenUsage is that of thread/tokenUsage/updated. What fills the context is
// the last request, not the sum of all.
type tokenUsage struct {
	Total  tokens `json:"total"`
	Last   tokens `json:"last"`
	Window *int64 `json:"modelContextWindow"`
}

type tokens struct {
	Total  int64 `json:"totalTokens"`
	Input  int64 `json:"inputTokens"`
	Cached int64 `json:"cachedInputTokens"`
	Output int64 `json:"outputTokens"`
}

// used tells how much of the context and of tokens is used.
func (s *session) used(u *tokenUsage) {
	fresh := max(0, u.Total.Input-u.Total.Cached)
	usage := provider.Usage{
		ContextTokens: &u.Last.Total, ContextWindow: u.Window,
		InputTokens: &fresh, CachedTokens: &u.Total.Cached, OutputTokens: &u.Total.Output,
	}
	s.mu.Lock()
	if s.turn != nil {
		usage.Model = s.turn.model
	}
	s.mu.Unlock()
	s.emit(provider.Event{Usage: &usage})
}

// rateLimits are how much of the account's limits is used. Updates are
// sparse: what is absent stays as it was.
type rateLimits struct {
	Primary   *limitWindow `json:"primary"`
	Secondary *limitWindow `json:"secondary"`
	Reached   string       `json:"rateLimitReachedType"`
}

type limitWindow struct {
	Used    float64 `json:"usedPercent"`
	Minutes *int64  `json:"windowDurationMins"`
	Resets  *int64  `json:"resetsAt"` // Unix time, seconds
}

func (l *rateLimits) merge(update rateLimits) {
	if update.Primary != nil {
		l.Primary = update.Primary
	}
	if update.Secondary != nil {
		l.Secondary = update.Secondary
	}
	l.Reached = update.Reached
}

func (l rateLimits) windows() []*limitWindow {
	var list []*limitWindow
	for _, w := range []*limitWindow{l.Primary, l.Secondary} {
		if w != nil {
			list = append(list, w)
		}
	}
	return list
}

// resets is when the account may go on: when the last of the windows that
// are used up begins anew.
func (l rateLimits) resets() time.Time {
	var at time.Time
	for _, w := range l.windows() {
		if w.Used >= 100 && w.Resets != nil {
			if t := time.Unix(*w.Resets, 0).UTC(); t.After(at) {
				at = t
			}
		}
	}
	return at
}

// nearLimit is the share of a limit from which the user is told, in percent.
const nearLimit = 90

// rateLimits tells a conversation at work, once for each window, that a limit
// is near.
func (s *session) rateLimits(l rateLimits) {
	s.mu.Lock()
	working := s.turn != nil
	s.mu.Unlock()
	if !working {
		return
	}
	for _, w := range l.windows() {
		if w.Used < nearLimit || w.Resets == nil {
			continue
		}
		key := fmt.Sprintf("limit/%d/%d", *w.Resets, *orZero(w.Minutes))
		if s.warned[key] || len(s.warned) >= maxWarnings {
			continue
		}
		s.warned[key] = true
		s.notice(key, "limit_near", "warning", fmt.Sprintf("%.0f %% of the Codex limit for %s is used. It begins anew at %s.",
			w.Used, span(w.Minutes), time.Unix(*w.Resets, 0).Local().Format("15:04 on 2 January")), "")
	}
}

func orZero(n *int64) *int64 {
	if n == nil {
		return new(int64)
	}
	return n
}

// span is a window's length in words.
func span(minutes *int64) string {
	switch {
	case minutes == nil:
		return "this period"
	case *minutes%(24*60) == 0:
		return fmt.Sprintf("%d days", *minutes/(24*60))
	case *minutes%60 == 0:
		return fmt.Sprintf("%d hours", *minutes/60)
	}
	return fmt.Sprintf("%d minutes", *minutes)
}
