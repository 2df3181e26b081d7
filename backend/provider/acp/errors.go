package acp

import (
	"encoding/json"
	"errors"
	"strings"

	"berth/backend/provider"
	"berth/backend/provider/wire"
)

// turnError puts an agent's error reply into plain words. The protocol has
// one code of its own (authentication required); agents also pass on HTTP
// statuses as codes (Gemini CLI) or in the text.
func turnError(title string, err error) *provider.Error {
	var rpc *wire.RPCError
	if !errors.As(err, &rpc) {
		return &provider.Error{Code: "failed", Text: title + " failed.", Detail: firstBytes(err.Error(), maxDetail), Err: err}
	}
	e := &provider.Error{Code: "failed", Text: title + " could not finish: it reports an error.", Detail: rpcDetail(rpc), Action: "send_again", Err: err}
	said := strings.ToLower(rpc.Message + " " + string(rpc.Data))
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(said, w) {
				return true
			}
		}
		return false
	}
	switch {
	case rpc.Code == codeAuthRequired, rpc.Code == 401, rpc.Code == 403:
		e.Code, e.Text, e.Action = "signed_out", title+" is not signed in, or its key is not accepted.", "sign_in"
	case has("quota", "billing", "credit balance"):
		e.Code, e.Text, e.Action = "quota", "The account's quota is used up.", ""
	case rpc.Code == 429, has("rate limit", "too many requests", "resource_exhausted"):
		e.Code, e.Text = "rate_limited", "The model's provider limits the rate of requests. Try again in a while."
	case rpc.Code == 503, rpc.Code == 529, has("overloaded"):
		e.Code, e.Text = "overloaded", "The model's provider is overloaded. Try again in a while."
	case has("context length", "context window", "too many tokens", "maximum context"):
		e.Code, e.Text, e.Action = "context_full", "The conversation no longer fits the model's context.", ""
	}
	return e
}

// rpcDetail is the agent's own line: its message, and the details that are
// put beside it when the message is only "Internal error".
func rpcDetail(rpc *wire.RPCError) string {
	var data struct {
		Details string `json:"details"`
		Message string `json:"message"`
	}
	var text string
	if json.Unmarshal(rpc.Data, &data) == nil {
		text = firstNonEmpty(data.Details, data.Message)
	} else {
		_ = json.Unmarshal(rpc.Data, &text)
	}
	if text == "" || strings.Contains(rpc.Message, text) {
		return firstBytes(rpc.Message, maxDetail)
	}
	return firstBytes(rpc.Message+": "+text, maxDetail)
}
