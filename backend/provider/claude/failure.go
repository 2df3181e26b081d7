package claude

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"berth/backend/event"
	"berth/backend/provider"
)

// maxDetail bounds the machine's own words in an error, in bytes.
const maxDetail = 1000

// failure is an error that the CLI reported in place of an answer.
type failure struct {
	kind  string // authentication_failed, billing_error, rate_limit, invalid_request, server_error, …
	limit bool   // a limit of the subscription, not of the service
}

// diagnostic begins texts that the CLI writes into the errors of a turn for
// its own developers; they say nothing to a user.
const diagnostic = "[ede_diagnostic]"

// aborted says whether a turn ended because we interrupted it.
func (r *resultLine) aborted() bool { return strings.HasPrefix(r.TerminalReason, "aborted_") }

// words are the CLI's own about a failed turn.
func (r *resultLine) words() string {
	var said []string
	for _, e := range r.Errors {
		if !strings.HasPrefix(e, diagnostic) {
			said = append(said, e)
		}
	}
	if len(said) == 0 && r.IsError {
		return r.Result
	}
	return strings.Join(said, "\n")
}

// outcome is how a turn ended. interrupted says whether we asked for the end;
// prompted that the message said something; limit is the last word about the
// subscription's limits.
func (p *projector) outcome(r *resultLine, interrupted, prompted bool) *provider.TurnEnded {
	words := r.words()
	switch {
	case r.aborted(), interrupted && r.IsError && words == "":
		return &provider.TurnEnded{State: "stopped", StopReason: "interrupted"}
	case r.StopReason == "refusal":
		return &provider.TurnEnded{State: "failed", StopReason: r.StopReason,
			Err: &provider.Error{Code: "refused", Text: "The model refused to answer this.", Detail: cut(firstLine(words), maxDetail)}}
	case r.IsError || r.Subtype != "success":
		err := classify(p.failure, r, p.limit)
		err.Detail = cut(cmp.Or(words, r.Subtype), maxDetail)
		return &provider.TurnEnded{State: "failed", StopReason: r.StopReason, Err: err}
	case prompted && !p.spoke && r.Turns > 0 && strings.TrimSpace(r.Result) == "" && !interrupted:
		return &provider.TurnEnded{State: "failed", StopReason: r.StopReason,
			Err: &provider.Error{Code: "no_answer", Text: "Claude ended its turn without an answer.", Action: "send_again"}}
	}
	return &provider.TurnEnded{State: "completed", StopReason: r.StopReason}
}

// classify says in plain words why a turn failed.
func classify(f failure, r *resultLine, limit rateLimit) *provider.Error {
	switch {
	case r.TerminalReason == "prompt_too_long":
		return &provider.Error{Code: "context_full", Text: "The conversation no longer fits into the model's context. Compact it with /compact, or start a new chat."}
	case f.kind == "authentication_failed" || f.kind == "oauth_org_not_allowed" || r.Status == 401 || r.Status == 403:
		return &provider.Error{Code: "signed_out", Text: "Claude Code is not signed in, or its sign-in is not accepted.", Action: "sign_in"}
	case f.kind == "billing_error" || r.Status == 402:
		return &provider.Error{Code: "quota", Text: "The account's credit is used up."}
	case f.kind == "rate_limit" && (f.limit || limit.Status == "rejected"):
		err := &provider.Error{Code: "quota", Text: "The subscription's limit is reached."}
		if limit.Status == "rejected" && limit.ResetsAt > 0 {
			err.RetryAt = time.Unix(limit.ResetsAt, 0).UTC()
			err.Text = "The subscription's " + limitName(limit.Kind) + " limit is reached."
		}
		return err
	case f.kind == "rate_limit" || r.Status == 429:
		return &provider.Error{Code: "rate_limited", Text: "The model's service refuses requests for now: too many in a short time.", Action: "send_again"}
	case f.kind == "overloaded" || r.Status == 529:
		return &provider.Error{Code: "overloaded", Text: "The model's service is overloaded.", Action: "send_again"}
	case f.kind == "server_error" || r.Status >= 500:
		return &provider.Error{Code: "service_error", Text: "The model's service failed.", Action: "send_again"}
	case f.kind == "model_not_found" || r.Status == 404:
		return &provider.Error{Code: "model_unavailable", Text: "This model is not available to the account."}
	case r.Subtype == "error_max_turns":
		return &provider.Error{Code: "failed", Text: "Claude stopped at its limit of steps.", Action: "send_again"}
	case r.Subtype == "error_max_budget_usd":
		return &provider.Error{Code: "quota", Text: "The budget that was set for this run is used up."}
	case f.kind == "invalid_request":
		return &provider.Error{Code: "failed", Text: "The model's service did not take the request."}
	case f.kind == "unknown" || r.TerminalReason == "api_error":
		return &provider.Error{Code: "service_error", Text: "The model's answer could not be read.", Action: "send_again"}
	}
	return &provider.Error{Code: "failed", Text: "Claude could not finish its turn."}
}

// limitName says which limit of a subscription is meant.
func limitName(kind string) string {
	switch kind {
	case "five_hour":
		return "5-hour"
	case "seven_day":
		return "weekly"
	case "seven_day_opus":
		return "weekly Opus"
	case "seven_day_sonnet":
		return "weekly Sonnet"
	case "overage":
		return "extra usage"
	}
	return strings.ReplaceAll(kind, "_", " ")
}

// limits takes a word about the subscription's limits, and warns once of each
// that is close.
func (p *projector) limits(l rateLimit) {
	p.limit = l
	warn := fmt.Sprint(l.Kind, " ", l.ResetsAt)
	if l.Status != "allowed_warning" || p.warned == warn {
		return
	}
	p.warned = warn
	text := "The subscription's " + limitName(l.Kind) + " limit is close."
	if w, ok := l.Windows[l.Kind]; ok && w.Utilization > 0 {
		text = fmt.Sprintf("%.0f %% of the subscription's %s limit is used.", 100*w.Utilization, limitName(l.Kind))
	}
	detail := ""
	if l.ResetsAt > 0 {
		detail = "Resets at " + time.Unix(l.ResetsAt, 0).UTC().Format(time.RFC3339)
	}
	p.notice("limit."+warn, "limit_close", "warning", text, detail)
}

// retrying shows, as one row, that the CLI asks the service again.
func (p *projector) retrying(l *systemLine) {
	code, text := "service_error", "The model's service did not answer."
	switch {
	case l.ErrorStatus == 429 || l.Error == "rate_limit":
		code, text = "rate_limited", "The model's service asks for a pause: too many requests."
	case l.ErrorStatus == 529 || l.Error == "overloaded":
		code, text = "overloaded", "The model's service is overloaded."
	case l.ErrorStatus == 401 || l.ErrorStatus == 403:
		code, text = "signed_out", "The model's service does not accept the sign-in."
	}
	text += fmt.Sprintf(" Trying again in %s (attempt %d of %d).", (time.Duration(l.RetryDelay) * time.Millisecond).Round(time.Second), l.Attempt, l.MaxRetries)
	if p.retry == nil {
		p.retries++
		p.retry = &provider.Item{Key: fmt.Sprint("retry.", p.retries), Kind: event.Notice, Status: event.InProgress}
	}
	p.retry.Body = event.Body{Text: text, Notice: &event.NoticeFact{Code: code, Level: "warning"}}
	p.emit(*p.retry)
}

// recovered ends the row of retrying.
func (p *projector) recovered() {
	if p.retry == nil {
		return
	}
	p.retry.Status = event.Completed
	p.emit(*p.retry)
	p.retry = nil
}
