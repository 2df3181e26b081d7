package opencode

import (
	"errors"
	"strings"

	"berth/backend/provider"
)

// problem is an error as OpenCode's messages carry it.
type problem struct {
	Name string      `json:"name"`
	Data problemData `json:"data"`
}

type problemData struct {
	Message  string `json:"message"`
	Status   int    `json:"statusCode"`
	Provider string `json:"providerID"`
}

// plain puts it into plain words.
func (p problem) plain() *provider.Error {
	e := &provider.Error{
		Code: "failed", Text: title + " could not finish: it reports an error.", Action: "send_again",
		Detail: firstBytes(firstLine(firstNonEmpty(p.Data.Message, p.Name)), maxDetail),
	}
	said := strings.ToLower(p.Data.Message)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(said, w) {
				return true
			}
		}
		return false
	}
	switch {
	case p.Name == "ProviderAuthError", p.Data.Status == 401, p.Data.Status == 403:
		e.Code, e.Text, e.Action = "signed_out", "The model's provider does not accept the sign-in or key.", "sign_in"
	case p.Name == "ContextOverflowError", has("context length", "context window", "maximum context"):
		e.Code, e.Text, e.Action = "context_full", "The conversation no longer fits the model's context.", ""
	case p.Name == "ContentFilterError":
		e.Code, e.Text, e.Action = "refused", "The model's provider withheld the answer.", ""
	case has("quota", "billing", "credit balance", "insufficient"):
		e.Code, e.Text, e.Action = "quota", "The account's quota is used up.", ""
	case p.Data.Status == 429, has("rate limit", "too many requests"):
		e.Code, e.Text = "rate_limited", "The model's provider limits the rate of requests. Try again in a while."
	case p.Data.Status == 503, p.Data.Status == 529, has("overloaded"):
		e.Code, e.Text = "overloaded", "The model's provider is overloaded. Try again in a while."
	case has("model not found"):
		e.Code, e.Text, e.Action = "unknown_model", title+" does not find the chosen model.", ""
	}
	return e
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// sendError puts a refused message into plain words.
func sendError(err error) error {
	var refused *refusal
	if !errors.As(err, &refused) {
		return err
	}
	e := problem{Name: "APIError", Data: problemData{Message: refused.Message}}.plain()
	e.Text, e.Err = title+" did not take the message.", err
	return e
}

// startError puts a request that failed outside a turn into plain words.
func startError(err error) error {
	var own *provider.Error
	if errors.As(err, &own) {
		return err
	}
	return &provider.Error{Code: "start_failed", Text: title + " could not open the conversation.", Detail: firstBytes(err.Error(), maxDetail), Err: err}
}
