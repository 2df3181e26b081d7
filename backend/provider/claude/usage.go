package claude

import (
	"encoding/json"

	"berth/backend/provider"
)

// measure keeps how much of the context the conversation's last request took.
func (p *projector) measure(parent, model string, u *usage) {
	if parent != "" || u == nil {
		return
	}
	if model != "" { // message_start: all of the input, and none of the output
		total := u.Input + u.CacheWrite + u.CacheRead
		p.usage.ContextTokens, p.usage.Model = &total, model
		return
	}
	if p.usage.ContextTokens == nil || u.Output == 0 {
		return
	}
	total := *p.usage.ContextTokens + u.Output
	p.usage.ContextTokens = &total
	p.tellUsage()
}

func (p *projector) tellUsage() {
	u := p.usage
	p.out = append(p.out, provider.Event{Usage: &u})
}

// spent takes the figures of a turn's end.
func (p *projector) spent(r *resultLine) {
	input, cached, out := r.Usage.Input+r.Usage.CacheWrite, r.Usage.CacheRead, r.Usage.Output
	p.usage.InputTokens, p.usage.CachedTokens, p.usage.OutputTokens = &input, &cached, &out
	if r.CostUSD != nil {
		cost := *r.CostUSD
		p.usage.CostUSD = &cost
	}
	if window := contextWindow(r.Models, p.usage.Model, p.model); window > 0 {
		p.usage.ContextWindow = &window
	}
	p.tellUsage()
}

// contextWindow is that of the first of the models named, or of the only one
// that worked for the turn; else it is not known.
func contextWindow(used map[string]modelUse, models ...string) int64 {
	for _, name := range models {
		if m, ok := used[name]; ok {
			return m.ContextWindow
		}
	}
	if len(used) == 1 {
		for _, m := range used {
			return m.ContextWindow
		}
	}
	return 0
}

// sampled takes the reply to get_context_usage.
func (p *projector) sampled(raw json.RawMessage) {
	var r struct {
		Total *int64 `json:"totalTokens"`
		Max   int64  `json:"maxTokens"`
	}
	if json.Unmarshal(raw, &r) != nil || r.Total == nil {
		return
	}
	p.usage.ContextTokens = r.Total
	if r.Max > 0 {
		p.usage.ContextWindow = &r.Max
	}
	p.tellUsage()
}
