package cursor

import (
	"regexp"

	"berth/backend/provider"
)

var (
	signedOutWords = regexp.MustCompile(`(?i)not (logged|signed) in|not authenticated|unauthenticated|authentication (required|failed)|please (log|sign) in|login required|invalid api key|CURSOR_API_KEY`)
	quotaWords     = regexp.MustCompile(`(?i)usage limit|quota|out of (credits|requests)|upgrade your plan|free plan|billing|payment required`)
	rateWords      = regexp.MustCompile(`(?i)rate.?limit|too many requests|\b429\b`)
	modelWords     = regexp.MustCompile(`(?i)(model|models).{0,60}(not (available|found|supported)|unavailable|unknown|invalid|cannot use)|(cannot use|unknown|invalid).{0,40}model`)
	networkWords   = regexp.MustCompile(`(?i)network|ENOTFOUND|ECONNREFUSED|ETIMEDOUT|getaddrinfo|connection (refused|failed|reset)|socket hang up`)
	resumeWords    = regexp.MustCompile(`(?i)(chat|conversation|session).{0,80}(not found|does not exist|unknown)|no such (chat|conversation|session)`)
)

func signedOut(text string) bool { return signedOutWords.MatchString(text) }

// classify says in plain words what a failure means, from what the CLI said
// of it.
func classify(words string, approval bool) *provider.Error {
	e := &provider.Error{Code: "failed", Text: "Cursor's agent failed.", Detail: cut(words, maxDetail)}
	switch {
	case signedOut(words):
		e.Code, e.Text, e.Action = "signed_out", "Cursor is not signed in. Sign in, or set CURSOR_API_KEY.", "sign_in"
	case resumeWords.MatchString(words):
		e.Code, e.Text = "not_resumable", "Cursor does not know this conversation any more."
	case rateWords.MatchString(words):
		e.Code, e.Text, e.Action = "rate_limited", "Cursor refuses requests for now: too many in a short time.", "send_again"
	case modelWords.MatchString(words):
		e.Code, e.Text = "model_unavailable", "This model is not available to the account."
	case quotaWords.MatchString(words):
		e.Code, e.Text = "quota", "The Cursor account's limit is reached, or its plan does not include this."
	case networkWords.MatchString(words):
		e.Code, e.Text, e.Action = "service_error", "Cursor's service cannot be reached.", "send_again"
	case approval:
		e.Code, e.Text = "unsupported", "Cursor's agent asks for an approval, which it cannot be given here."
	}
	return e
}
