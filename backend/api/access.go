package api

import (
	"context"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"
)

// Realm says what kind of caller a request comes from. Only a door decides
// it; nothing in a request can claim one.
type Realm string

// The realms (DESIGN, Security).
const (
	Owner  Realm = "owner"  // the user at this machine
	Device Realm = "device" // a paired device, limited by its scope
	Agent  Realm = "agent"  // a process that descends from a child of Berth
	Guest  Realm = "guest"  // the holder of a share link
)

// Scope is how much a device may do; each includes those before it.
type Scope int

// The scopes of a device.
const (
	Read Scope = iota + 1
	Operate
	Admin
)

// Principal is who calls.
type Principal struct {
	Realm Realm
	Scope Scope  // of a device
	Name  string // for the record: "owner", or the device's name
	// Browser says that the request comes from a page.
	Browser bool
}

type principalKey struct{}

// withPrincipal marks a request as coming from p. Doors call it and nobody
// else.
func withPrincipal(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

func principalOf(ctx context.Context) (Principal, bool) {
	p, ok := ctx.Value(principalKey{}).(Principal)
	return p, ok
}

// access is what an operation declares: who may call it, and how much it
// reads. Every operation is registered with one (see add).
type access struct {
	realms  []Realm
	scope   Scope // that a device needs
	body    int64 // bytes of request body, 0 for none
	browser bool  // whether a page may call it
}

// Limits of request bodies, in bytes.
const (
	noBody    = 0
	smallBody = 64 << 10 // names, answers, settings
	// textBody holds a message of 4 Mi characters, which JSON may write with
	// up to six bytes each.
	textBody = 25 << 20
	// chunkBody is one piece of an upload; the page sends 1 MiB at a time.
	chunkBody = 8 << 20
)

func open(scope Scope, body int64) access {
	return access{realms: []Realm{Owner, Device}, scope: scope, body: body, browser: true}
}

// The usual declarations.
var (
	toRead    = open(Read, noBody)
	toOperate = open(Operate, smallBody)
	toAdmin   = open(Admin, smallBody)
	// ownerOnly is for what reaches into the machine itself, or the native
	// window; a page has no use for it.
	ownerOnly = access{realms: []Realm{Owner}, scope: Admin, body: smallBody}
)

func (a access) declared() bool { return len(a.realms) > 0 && a.scope >= Read && a.scope <= Admin }

// refuse says why p may not call an operation, nil if it may.
func (a access) refuse(p Principal) *Problem {
	switch {
	case !slices.Contains(a.realms, p.Realm):
		if p.Realm == Agent {
			return problem(http.StatusForbidden, "agent_not_allowed", "A process started by an agent of Berth may not do this.")
		}
		return problem(http.StatusForbidden, "forbidden", "This may only be done on the computer itself.")
	case p.Realm == Device && p.Scope < a.scope:
		return problem(http.StatusForbidden, "scope_too_small", "This device was not given the right to do this.")
	case p.Browser && !a.browser:
		return problem(http.StatusForbidden, "not_for_browsers", "A page may not call this.")
	}
	return nil
}

// guard enforces a before anything of the request is read.
func (a access) guard(ctx huma.Context, next func(huma.Context)) {
	p, ok := principalOf(ctx.Context())
	if !ok {
		writeProblem(ctx, problem(http.StatusUnauthorized, "unauthorized", "A token is needed."))
		return
	}
	if refused := a.refuse(p); refused != nil {
		writeProblem(ctx, refused)
		return
	}
	next(ctx)
}
