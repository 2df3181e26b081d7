package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/danielgtaylor/huma/v2/validation"

	"berth/backend/chat"
	"berth/backend/event"
	"berth/backend/provider"
	"berth/backend/refusal"
	"berth/backend/store"
)

// Problem is how every failure is told (RFC 9457).
type Problem struct {
	Title  string       `json:"title" doc:"The HTTP status in words."`
	Status int          `json:"status"`
	Code   string       `json:"code" doc:"Stable; texts are for people and may change."`
	Detail string       `json:"detail" doc:"For the user, in one or two sentences."`
	Errors []FieldError `json:"errors,omitempty" doc:"What was wrong with the input, field by field."`
	// Winner is set with already_answered.
	Winner *event.RequestAnswer `json:"winner,omitempty" doc:"The answer that was given before."`
	// Action is a way on that a view can offer.
	Action string `json:"action,omitempty" doc:"A way on the view can offer: sign_in, install, open_settings."`
}

// FieldError names one field that was wrong and what is allowed. The value
// is not repeated: it may be long, or a secret.
type FieldError struct {
	Location string `json:"location" doc:"Such as body.cwd, query.limit or path.id."`
	Message  string `json:"message"`
}

func (p *Problem) Error() string { return p.Detail }

// GetStatus is the HTTP status, for Huma.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType is that of RFC 9457, for Huma.
func (p *Problem) ContentType(string) string { return "application/problem+json" }

func problem(status int, code, detail string) *Problem {
	return &Problem{Title: http.StatusText(status), Status: status, Code: code, Detail: detail}
}

// statusCodes are the codes of failures that have none of their own.
var statusCodes = map[int]string{
	http.StatusBadRequest:            "bad_request",
	http.StatusUnauthorized:          "unauthorized",
	http.StatusForbidden:             "forbidden",
	http.StatusNotFound:              "not_found",
	http.StatusMethodNotAllowed:      "method_not_allowed",
	http.StatusNotAcceptable:         "not_acceptable",
	http.StatusRequestTimeout:        "timeout",
	http.StatusConflict:              "conflict",
	http.StatusRequestEntityTooLarge: "too_large",
	http.StatusUnsupportedMediaType:  "unsupported_media_type",
	http.StatusUnprocessableEntity:   "invalid",
}

// Huma keeps its error constructor and the nullability of arrays in package
// variables; every list of ours is present, if empty.
func init() {
	huma.DefaultArrayNullable = false
	huma.NewError = func(status int, msg string, errs ...error) huma.StatusError {
		p := problem(status, statusCodes[status], msg)
		if p.Code == "" {
			p.Code = "failed"
		}
		for _, err := range errs {
			var d huma.ErrorDetailer
			switch {
			case err == nil:
			case errors.As(err, &d):
				p.Errors = append(p.Errors, fieldError(d.ErrorDetail()))
			default:
				p.Errors = append(p.Errors, FieldError{Message: err.Error()})
			}
		}
		switch {
		case status == http.StatusBadRequest && len(p.Errors) == 1 && p.Errors[0].Location == "body":
			p.Code, p.Detail = "bad_json", "The body is not valid JSON: "+p.Errors[0].Message+"."
		case status == http.StatusUnsupportedMediaType:
			p.Detail = "The body must be application/json."
		case status == http.StatusUnprocessableEntity && len(p.Errors) > 0:
			p.Detail = fmt.Sprintf("%s: %s.", p.Errors[0].Location, p.Errors[0].Message)
		}
		return p
	}
}

// fieldError names the field also where it is missing, which Huma tells of
// the object around it.
func fieldError(d *huma.ErrorDetail) FieldError {
	e := FieldError{Location: d.Location, Message: d.Message}
	var name string
	if n, _ := fmt.Sscanf(d.Message, validation.MsgExpectedRequiredProperty, &name); n == 1 {
		e = FieldError{Location: d.Location + "." + name, Message: "is required"}
	}
	return e
}

// chatStatuses maps the refusals of chats (chat.Error) to HTTP.
var chatStatuses = map[string]int{
	"not_found":        http.StatusNotFound,
	"invalid":          http.StatusUnprocessableEntity,
	"cwd_missing":      http.StatusUnprocessableEntity,
	"unknown_agent":    http.StatusUnprocessableEntity,
	"conflict":         http.StatusConflict,
	"already_answered": http.StatusConflict,
	"client_id_reused": http.StatusConflict,
	"fenced":           http.StatusConflict,
	"disk_full":        http.StatusInsufficientStorage,
	"closed":           http.StatusServiceUnavailable,
}

var refusalStatuses = map[string]int{
	refusal.NotFound: http.StatusNotFound,
	refusal.Invalid:  http.StatusUnprocessableEntity,
	refusal.Conflict: http.StatusConflict,
	refusal.TooLarge: http.StatusRequestEntityTooLarge,
	refusal.Denied:   http.StatusForbidden,
}

// problemOf turns what a feature returned into a problem. known is false for
// a failure that nobody foresaw: its text is for the log, not for the caller.
func problemOf(err error) (p *Problem, known bool) {
	var (
		own     *Problem
		chatErr *chat.Error
		refused *refusal.Error
		agent   *provider.Error
	)
	switch {
	case errors.As(err, &own):
		return own, true
	case errors.As(err, &chatErr):
		p = coded(chatStatuses, chatErr.Code, chatErr.Field, chatErr.Text)
		p.Winner = chatErr.Winner
		return p, true
	case errors.As(err, &refused):
		return coded(refusalStatuses, refused.Code, refused.Field, refused.Text), true
	case errors.As(err, &agent):
		p = problem(http.StatusConflict, agent.Code, agent.Text)
		p.Action = agent.Action
		return p, true
	case errors.Is(err, event.ErrCursor):
		return coded(refusalStatuses, refusal.Invalid, "query.after", err.Error()), true
	case errors.Is(err, event.ErrTooManyChats):
		return coded(refusalStatuses, refusal.Invalid, "query.chats", err.Error()), true
	case errors.Is(err, store.ErrFull):
		return problem(http.StatusInsufficientStorage, "disk_full", "The disk is full; nothing was kept of this."), true
	case errors.Is(err, store.ErrClosed):
		return problem(http.StatusServiceUnavailable, "closed", "Berth is shutting down."), true
	case errors.Is(err, store.ErrDamaged):
		return problem(http.StatusServiceUnavailable, "damaged", "The database is damaged; nothing more is accepted."), true
	case errors.Is(err, fs.ErrPermission):
		return problem(http.StatusForbidden, refusal.Denied, "The operating system does not allow it."), true
	}
	return problem(http.StatusInternalServerError, "internal", "Something failed inside Berth; the log says what."), false
}

func coded(statuses map[string]int, code, field, text string) *Problem {
	status, ok := statuses[code]
	if !ok {
		status = http.StatusConflict
	}
	p := problem(status, code, text)
	if field != "" {
		if part, _, inside := strings.Cut(field, "."); !inside || part != "body" && part != "query" {
			field = "body." + field
		}
		p.Errors = []FieldError{{Location: field, Message: text}}
	}
	return p
}

func writeProblem(ctx huma.Context, p *Problem) {
	_, w := humago.Unwrap(ctx)
	p.write(w)
}

func (p *Problem) write(w http.ResponseWriter) {
	body, err := json.Marshal(p)
	if err != nil {
		panic(err) // only strings and numbers are in it
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	_, _ = w.Write(body) // the caller may have gone
}
