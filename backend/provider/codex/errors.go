package codex

import (
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"time"

	"berth/backend/provider"
	"berth/backend/provider/wire"
)

// turnFailure is an error of a turn. Info is a word, or an object of one word
// with an HTTP status.
type turnFailure struct {
	Message string          `json:"message"`
	Info    json.RawMessage `json:"codexErrorInfo"`
	Details string          `json:"additionalDetails"`
}

// info gives the word and the HTTP status, 0 when there is none.
func (f turnFailure) info() (word string, status int) {
	if json.Unmarshal(f.Info, &word) == nil {
		return word, 0
	}
	var object map[string]struct {
		Status int `json:"httpStatusCode"`
	}
	_ = json.Unmarshal(f.Info, &object) // of a kind that came later: the message tells
	for word, value := range object {
		return word, value.Status
	}
	return "", 0
}

// explanation is a kind of failure in plain words.
type explanation struct{ code, text, action string }

var (
	whyLimited    = explanation{"rate_limited", "The model's provider limits the rate of requests.", "send_again"}
	whyOverloaded = explanation{"overloaded", "The model's provider is overloaded.", "send_again"}
	whySignedOut  = explanation{"signed_out", "Codex is not signed in, or its key is not accepted.", "sign_in"}
	whyQuota      = explanation{"quota", "The account's limit is used up.", ""}
	whyConnection = explanation{"connection", "The connection to the model's provider broke off.", "send_again"}
	whyProvider   = explanation{"failed", "The model's provider reports an internal error.", "send_again"}
	whyRefused    = explanation{"refused", "The model's provider refused the request.", ""}
	whyUnknown    = explanation{"failed", "Codex could not finish: it reports an error.", "send_again"}
)

// explanations by the word of codexErrorInfo.
var explanations = map[string]explanation{
	"contextWindowExceeded":       {"context_full", "The conversation no longer fits the model's context.", ""},
	"sessionBudgetExceeded":       {"quota", "The budget of this session is used up.", ""},
	"usageLimitExceeded":          whyQuota,
	"rateLimitExceeded":           whyLimited,
	"serverOverloaded":            whyOverloaded,
	"flexUnavailable":             whyOverloaded,
	"policyCapacityUnavailable":   whyOverloaded,
	"internalServerError":         whyProvider,
	"unauthorized":                whySignedOut,
	"badRequest":                  whyRefused,
	"modelNotFound":               {"model_unknown", "This model is not known, or not open to this account.", ""},
	"cyberPolicy":                 whyRefused,
	"bioPolicy":                   whyRefused,
	"misalignmentPolicyViolation": whyRefused,
	"inferenceHookDenied":         whyRefused,
	"tooManyDenials":              {"refused", "Codex gave up after too many refusals.", ""},
	"sandboxError":                {"sandbox", "Codex's sandbox could not be set up.", ""},
}

// byStatus are the explanations of HTTP statuses.
func byStatus(status int) (explanation, bool) {
	switch {
	case status == 401, status == 403:
		return whySignedOut, true
	case status == 402:
		return whyQuota, true
	case status == 429:
		return whyLimited, true
	case status == 503, status == 529:
		return whyOverloaded, true
	case status >= 500:
		return whyProvider, true
	case status >= 400:
		return whyRefused, true
	}
	return explanation{}, false
}

// explain puts a failure into plain words.
func (s *session) explain(f *turnFailure) *provider.Error {
	word, status := f.info()
	why, ok := byStatus(status)
	if !ok {
		why, ok = explanations[word]
	}
	said := innerMessage(firstOf(f.Message, f.Details))
	if !ok {
		why = whyUnknown
		if strings.HasPrefix(word, "responseStream") || strings.HasPrefix(word, "httpConnection") || strings.Contains(f.Message, "stream disconnected") {
			why = whyConnection
		}
	}
	e := &provider.Error{Code: why.code, Text: why.text, Action: why.action, Detail: clip(said, maxText)}
	s.server.mu.Lock()
	limits := s.server.limits
	s.server.mu.Unlock()
	switch why.code {
	case "quota":
		e.RetryAt = limits.resets()
	case "rate_limited":
		e.RetryAt = retryAfter(s.host.Clock.Now(), f.Message+" "+f.Details)
	}
	return e
}

// innerMessage takes the message out of an error that a provider sent as
// JSON.
func innerMessage(text string) string {
	var in struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal([]byte(text), &in) == nil && in.Error.Message != "" {
		return in.Error.Message
	}
	return text
}

// tryAgain is how OpenAI says when a limit ends.
var tryAgain = regexp.MustCompile(`(?i)try again in (\d+(?:\.\d+)?)\s*(ms|s|m|h)`)

func retryAfter(now time.Time, text string) time.Time {
	m := tryAgain.FindStringSubmatch(text)
	if m == nil {
		return time.Time{}
	}
	n, err := strconv.ParseFloat(m[1], 64)
	unit := map[string]time.Duration{"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour}[strings.ToLower(m[2])]
	if err != nil || n > 1000 {
		return time.Time{}
	}
	return now.Add(time.Duration(n * float64(unit))).UTC()
}

// codeOverloaded is app-server's own: it takes no more requests just now.
const codeOverloaded = -32001

// requestError puts the failure of a request to app-server into plain words.
func requestError(text string, err error) *provider.Error {
	var own *provider.Error
	if errors.As(err, &own) {
		return own
	}
	e := &provider.Error{Code: "failed", Text: text, Detail: clip(err.Error(), maxText), Err: err}
	var rpc *wire.RPCError
	switch {
	case errors.Is(err, wire.ErrEnded):
		e.Code, e.Action = "agent_ended", "send_again"
	case !errors.As(err, &rpc):
	case rpc.Code == codeOverloaded:
		e.Code, e.Text, e.Action = "overloaded", "Codex has too much to do just now.", "send_again"
	case strings.Contains(rpc.Message, "active writer"):
		e.Code, e.Text = "in_use", "This conversation is open in another Codex. Close it there first."
	case strings.Contains(rpc.Message, "no rollout found"), strings.Contains(rpc.Message, "thread not found"), strings.Contains(rpc.Message, "invalid session id"):
		e.Code, e.Text = "not_resumable", "Codex does not have this conversation any more."
	}
	return e
}

// refused says whether app-server answered with an error: the request was
// taken and turned down.
func refused(err error) bool {
	var rpc *wire.RPCError
	return errors.As(err, &rpc)
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
