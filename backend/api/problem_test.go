package api

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"berth/backend/chat"
	"berth/backend/event"
	"berth/backend/provider"
	"berth/backend/refusal"
	"berth/backend/store"
)

func TestEveryFailureIsAProblem(t *testing.T) {
	w := newWorld(t)
	id := w.newChat().ID
	for _, c := range []struct {
		name, method, path string
		body               any
		status             int
		code               string
		at                 []string
	}{
		{"no operation", "GET", "/api/v1/nothing", nil, 404, "not_found", nil},
		{"no version", "GET", "/api", nil, 404, "not_found", nil},
		{"not clean", "GET", "/api/v1//chats", nil, 404, "not_found", nil},
		{"climbing", "GET", "/api/v1/files/../chats", nil, 404, "not_found", nil},
		{"slash at the end", "GET", "/api/v1/chats/", nil, 404, "not_found", nil},
		{"wrong method", "PUT", "/api/v1/chats", nil, 405, "method_not_allowed", nil},
		{"preflight", "OPTIONS", "/api/v1/chats", nil, 405, "method_not_allowed", nil},
		{"page cannot be written", "POST", "/settings", nil, 405, "method_not_allowed", nil},
		{"broken JSON", "POST", "/api/v1/chats", `{"agent":`, 400, "bad_json", []string{"body"}},
		{"half a character", "POST", "/api/v1/phrases", `{"text":"\\\ud83d"}`, 400, "bad_json", []string{"body"}},
		{"not UTF-8", "POST", "/api/v1/phrases", "{\"text\":\"\xff\"}", 400, "bad_json", []string{"body"}},
		{"not JSON", "POST", "/api/v1/chats", []byte("x"), 415, "unsupported_media_type", nil},
		{"no body", "POST", "/api/v1/chats", nil, 400, "bad_request", nil},
		{"field missing", "POST", "/api/v1/chats", `{"agent":"echo"}`, 422, "invalid", []string{"body.cwd"}},
		{"field unknown", "POST", "/api/v1/phrases", `{"text":"a","color":1}`, 422, "invalid", []string{"body.color"}},
		{"field of another type", "PATCH", "/api/v1/chats/" + id, `{"pinned":"yes"}`, 422, "invalid", []string{"body.pinned"}},
		{"value not allowed", "PATCH", "/api/v1/chats/" + id, `{"permissions":"yolo"}`, 422, "invalid", []string{"body.permissions"}},
		{"value not allowed, deep", "PATCH", "/api/v1/settings", `{"agents":{"claude":{"executable":"x"}}}`, 422, "invalid", []string{"body.agents.claude.executable"}},
		{"query not a number", "GET", "/api/v1/chats/" + id + "/items?limit=many", nil, 422, "invalid", []string{"query.limit"}},
		{"query too large", "GET", "/api/v1/chats/" + id + "/items?limit=201", nil, 422, "invalid", []string{"query.limit"}},
		{"query missing", "GET", "/api/v1/stream", nil, 422, "invalid", []string{"query.client"}},
		{"id too long", "GET", "/api/v1/chats/" + strings.Repeat("x", 65), nil, 422, "invalid", []string{"path.id"}},
		{"no such chat", "GET", "/api/v1/chats/chat_none", nil, 404, "not_found", nil},
		{"body too large", "POST", "/api/v1/requests/req_x/answer", `{"option":"` + strings.Repeat("x", smallBody) + `"}`, 413, "too_large", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.t = t
			w.call(c.method, c.path, c.body).problem(c.status, c.code, c.at...)
		})
	}
	w.t = t
	if allow := w.call("PUT", "/api/v1/chats", nil).header.Get("Allow"); allow != "GET, HEAD, POST" {
		t.Errorf("a wrong method is told to use %q", allow)
	}
	if p := w.call("POST", "/api/v1/phrases", `{"text":{"secret":"abc"}}`); strings.Contains(string(p.body), "abc") {
		t.Errorf("what was sent is repeated: %s", p.body)
	}
}

func TestABodyAtItsLimitIsRead(t *testing.T) {
	w := newWorld(t)
	text := strings.Repeat("x", smallBody-len(`{"option":""}`))
	// It is read and refused for what it says, not for its size.
	w.call("POST", "/api/v1/requests/req_x/answer", `{"option":"`+text+`"}`).problem(404, "not_found")
}

func TestErrorsOfFeatures(t *testing.T) {
	winner := &event.RequestAnswer{Option: "yes", Outcome: "answered"}
	for _, c := range []struct {
		err    error
		status int
		code   string
		at     string
	}{
		{&chat.Error{Code: "not_found"}, 404, "not_found", ""},
		{&chat.Error{Code: "cwd_missing", Field: "cwd"}, 422, "cwd_missing", "body.cwd"},
		{&chat.Error{Code: "unknown_agent", Field: "agent"}, 422, "unknown_agent", "body.agent"},
		{&chat.Error{Code: "invalid", Field: "attachments[1]"}, 422, "invalid", "body.attachments[1]"},
		{&chat.Error{Code: "already_answered", Winner: winner}, 409, "already_answered", ""},
		{&chat.Error{Code: "client_id_reused"}, 409, "client_id_reused", ""},
		{&chat.Error{Code: "fenced"}, 409, "fenced", ""},
		{&chat.Error{Code: "a_new_one"}, 409, "a_new_one", ""},
		{&chat.Error{Code: "disk_full"}, 507, "disk_full", ""},
		{&chat.Error{Code: "closed"}, 503, "closed", ""},
		{fmt.Errorf("write: %w", store.ErrFull), 507, "disk_full", ""},
		{fmt.Errorf("write: %w", store.ErrClosed), 503, "closed", ""},
		{fmt.Errorf("write: %w", store.ErrDamaged), 503, "damaged", ""},
		{refusal.New(refusal.TooLarge, "size", "x"), 413, "too_large", "body.size"},
		{refusal.New(refusal.Conflict, "query.offset", "x"), 409, "conflict", "query.offset"},
		{&provider.Error{Code: "signed_out", Text: "x", Action: "sign_in"}, 409, "signed_out", ""},
		{event.ErrCursor, 422, "invalid", "query.after"},
		{errors.New("secret path"), 500, "internal", ""},
	} {
		p, known := problemOf(c.err)
		at := ""
		if len(p.Errors) > 0 {
			at = p.Errors[0].Location
		}
		if p.Status != c.status || p.Code != c.code || at != c.at || known != (c.code != "internal") || strings.Contains(p.Detail, "secret") {
			t.Errorf("%v: %+v", c.err, p)
		}
		if (p.Winner != nil) != (c.code == "already_answered") {
			t.Errorf("%v: winner %v", c.err, p.Winner)
		}
	}
}

// broken fails as no feature should.
type broken struct{ chat.Chats }

func (broken) Get(context.Context, string) (chat.Chat, error) { panic("a mistake of ours") }
func (broken) Attention(context.Context) ([]chat.Attention, error) {
	return nil, errors.New("the cable is out")
}

func TestAPanicEndsOnlyItsRequest(t *testing.T) {
	w := newWorld(t)
	w.features.Chats = broken{w.chats}
	s := New(w.features)
	defer s.Close()
	p := w.ask(s.Window(), httptest.NewRequest("GET", "/api/v1/chats/chat_x", nil)).problem(500, "internal")
	if strings.Contains(p.Detail, "mistake") {
		t.Errorf("the cause is told to the caller: %+v", p)
	}
	w.ask(s.Window(), httptest.NewRequest("GET", "/api/v1/attention", nil)).problem(500, "internal")
	w.ask(s.Window(), httptest.NewRequest("GET", "/api/v1/chats", nil)).want(200)
	for _, cause := range []string{"a mistake of ours", "TestAPanicEndsOnlyItsRequest", "the cable is out"} {
		if !strings.Contains(w.logged.String(), cause) {
			t.Errorf("the log does not say %q", cause)
		}
	}
}
