package api

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
)

// eachOperation walks everything that is reachable under /api.
func eachOperation(s *Handler, f func(path string, op *huma.Operation, r route)) {
	for path, item := range s.operations.OpenAPI().Paths {
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete, item.Head, item.Options, item.Trace} {
			if op != nil {
				f(path, op, s.declared[op.OperationID])
			}
		}
	}
}

func TestEveryOperationDeclaresItsCallers(t *testing.T) {
	s := New(Features{})
	defer s.Close()
	seen := map[string]bool{}
	eachOperation(s, func(path string, op *huma.Operation, r route) {
		if !r.access.declared() || prefix+r.path != path || r.method != op.Method {
			t.Errorf("%s %s is registered as %+v", op.Method, path, r)
		}
		if r.summary == "" || r.tag == "" {
			t.Errorf("%s %s is not described", op.Method, path)
		}
		if hasBody := op.RequestBody != nil; hasBody != (r.access.body > 0) {
			t.Errorf("%s %s takes a body: %v, of at most %d bytes", op.Method, path, hasBody, r.access.body)
		}
		seen[r.id] = true
	})
	for id := range s.declared {
		if !seen[id] {
			t.Errorf("%s is declared, but nobody can find it", id)
		}
	}
	if len(seen) < 50 {
		t.Errorf("only %d operations were found", len(seen))
	}
}

// TestWhoMayCallWhat repeats the whole table of rights: a new operation, or
// one that changes hands, has to be written here.
func TestWhoMayCallWhat(t *testing.T) {
	rights := map[string]string{
		"read": `get-agent get-chat get-draft get-file get-health get-item get-openapi list-agents list-attention list-chats
			list-commands list-items list-models list-phrases list-processes list-queue list-requests find-files
			create-ticket open-stream poll-stream`,
		"operate": `answer-request append-upload check-agent complete-folder create-chat create-folder create-phrase create-upload
			delete-chat delete-phrase get-upload mark-chat-read release-queue remove-queued send-turn set-draft start-demo stop-chat
			update-chat update-phrase`,
		"admin": `attach-terminal close-terminal get-settings list-terminals open-terminal read-terminal resize-terminal
			update-settings write-terminal`,
		"owner": `focus-window`,
	}
	agents, notForPages := []string{"get-health"}, []string{"focus-window"}
	want := map[string]string{}
	for right, ids := range rights {
		for id := range strings.FieldsSeq(ids) {
			want[id] = right
		}
	}
	s := New(Features{})
	defer s.Close()
	for id, r := range s.declared {
		device := func(scope Scope) bool { return r.access.refuse(Principal{Realm: Device, Scope: scope}) == nil }
		got := "owner"
		switch {
		case device(Read) && device(Operate) && device(Admin):
			got = "read"
		case device(Operate) && device(Admin):
			got = "operate"
		case device(Admin):
			got = "admin"
		}
		if got != want[id] {
			t.Errorf("%s may be called with %s, the table says %q", id, got, want[id])
		}
		if (r.access.refuse(Principal{Realm: Agent}) == nil) != slices.Contains(agents, id) {
			t.Errorf("%s: agents", id)
		}
		if (r.access.refuse(Principal{Realm: Owner, Browser: true}) == nil) == slices.Contains(notForPages, id) {
			t.Errorf("%s: pages", id)
		}
		if r.access.refuse(Principal{Realm: Guest, Scope: Admin}) == nil || r.access.refuse(Principal{}) == nil {
			t.Errorf("%s may be called by a guest, or by nobody", id)
		}
		if r.access.refuse(owner) != nil {
			t.Errorf("%s may not be called by the owner", id)
		}
	}
	if len(want) != len(s.declared) {
		t.Errorf("the table has %d operations, the API %d", len(want), len(s.declared))
	}
}

// TestRightsAreEnforced calls every operation as those who may not: none gets
// as far as its input.
func TestRightsAreEnforced(t *testing.T) {
	s := New(Features{}) // nothing behind: who comes through panics
	defer s.Close()
	as := func(p *Principal, method, path string) answered {
		req := httptest.NewRequest(method, strings.NewReplacer("{id}", "x", "{name}", "x", "{row}", "x").Replace(path), strings.NewReader("{"))
		if p != nil {
			req = req.WithContext(withPrincipal(req.Context(), *p))
		}
		rec := httptest.NewRecorder()
		s.serve(rec, req)
		return answered{t, rec.Code, rec.Header(), rec.Body.Bytes()}
	}
	eachOperation(s, func(path string, op *huma.Operation, r route) {
		method := op.Method
		as(nil, method, path).problem(http.StatusUnauthorized, "unauthorized")
		as(&Principal{Realm: Guest}, method, path).problem(http.StatusForbidden, "forbidden")
		if !slices.Contains(r.access.realms, Agent) {
			as(&Principal{Realm: Agent}, method, path).problem(http.StatusForbidden, "agent_not_allowed")
		}
		if slices.Contains(r.access.realms, Device) {
			as(&Principal{Realm: Device, Scope: r.access.scope - 1}, method, path).problem(http.StatusForbidden, "scope_too_small")
		}
		if !r.access.browser {
			as(&Principal{Realm: Owner, Browser: true}, method, path).problem(http.StatusForbidden, "not_for_browsers")
		}
	})
}

func TestAnUndeclaredOperationStopsTheProgram(t *testing.T) {
	s := New(Features{})
	defer s.Close()
	for name, r := range map[string]route{
		"no access": {method: "GET", path: "/x", id: "x"},
		"no scope":  {method: "GET", path: "/x", id: "x", access: access{realms: []Realm{Owner}}},
		"no realm":  {method: "GET", path: "/x", id: "x", access: access{scope: Read}},
		"twice":     {method: "GET", path: "/x", id: "get-health", access: toRead},
	} {
		func() {
			defer func() {
				if cause := recover(); cause == nil || !strings.Contains(fmt.Sprint(cause), "operation") {
					t.Errorf("%s: %v", name, cause)
				}
			}()
			add[struct{}, none](s, r, nil)
		}()
	}
}
