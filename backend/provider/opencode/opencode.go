// Package opencode drives OpenCode through its server, `opencode serve`: one
// process for all chats, HTTP and server-sent events on loopback, protected by
// a password that is new with each start. Why the server and not the Agent
// Client Protocol stands in docs/decisions/005-opencode-transport.md. The
// facts were seen with opencode-ai 1.18.33, in its own OpenAPI document
// (GET /doc) and on its event stream.
//
// Delivery: a prompt that the server took (2xx) was sent; it is accepted once
// the event stream shows the user's message, which OpenCode stores first. A
// request that broke off is uncertain, and never repeated.
//
// Each session reads the event stream of its folder on a connection of its
// own, in order: a reader that does not read holds up only itself. What
// happens in sub-agents is told as items below the call that started them.
//
// Safety: a session's permission mode is kept by rules that OpenCode checks
// itself. Sub-agents do not inherit a session's rules, so the whole server is
// started with rules that ask, and what a mode allows is answered here. What
// the user's own settings deny stays denied in every mode.
package opencode

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"berth/backend/provider"
	"berth/backend/provider/watch"
)

// Name is OpenCode's id.
const Name = "opencode"

const title = "OpenCode"

// The bounds of this driver.
const (
	// startTimeout is for the server alone; on a busy machine without a
	// network its start was seen to take 17 s.
	startTimeout = 90 * time.Second
	// openTimeout is for a conversation on a server that runs, with all its
	// requests: OpenCode loads a folder's settings and plugins first.
	openTimeout = 120 * time.Second
	// callTimeout bounds a request that is answered at once; it took 30 s on
	// a machine with ten times the work it could do.
	callTimeout = 90 * time.Second
	// linger keeps the server for the next chat; it holds 300 to 600 MB.
	linger = time.Minute
	// stopGrace is left to the server between SIGTERM and SIGKILL.
	stopGrace = 3 * time.Second
	// drainGrace is how long events wait for a reader after the end.
	drainGrace = 2 * time.Second
	// cancelGrace is left to OpenCode to end a turn that a watchdog aborted.
	cancelGrace = 15 * time.Second
	// beatLimit is how long the event stream may be silent; the server sends
	// a heartbeat every ten seconds.
	beatLimit = 90 * time.Second
	// eventsBuffer is the capacity of the events channel.
	eventsBuffer = 64
	// maxEvent bounds one event, in bytes: a part is sent whole.
	maxEvent = 64 << 20
	// maxReply bounds a reply, in bytes; the list of all models is the
	// largest, about a megabyte.
	maxReply = 32 << 20
	// maxRaw and maxInput bound what is kept of a protocol line and of a
	// tool's input, in bytes; maxOutput the text of a tool's item.
	maxRaw    = 16 << 10
	maxInput  = 64 << 10
	maxOutput = 8 << 20
	// maxDetail bounds a machine's line that is shown, in bytes.
	maxDetail = 500
	// maxItems bounds the parts, messages and sub-agents remembered of one
	// turn.
	maxItems = 20_000
	// maxRequests bounds what waits for the user at once.
	maxRequests = 128
)

// silenceLimits are how long OpenCode may tell nothing of a turn.
var silenceLimits = watch.Limits{First: 10 * time.Minute, Idle: 20 * time.Minute, Tool: 6 * time.Hour}

// Driver drives OpenCode. It may be used from any goroutine.
type Driver struct {
	mu      sync.Mutex
	servers map[string]*server // by executable and environment
	closed  bool
}

// New makes the driver.
func New() *Driver { return &Driver{servers: map[string]*server{}} }

// Name is OpenCode's id.
func (d *Driver) Name() string { return Name }

// Open begins, resumes or forks a conversation, on the server that runs or a
// new one.
func (d *Driver) Open(ctx context.Context, host provider.Host, spec provider.Spec) (provider.Session, error) {
	if info, err := os.Stat(spec.Cwd); err != nil || !info.IsDir() {
		return nil, &provider.Error{Code: "cwd_missing", Text: "The folder of this chat cannot be opened.", Detail: spec.Cwd, Err: err}
	}
	srv, err := d.acquire(ctx, host)
	if err != nil {
		return nil, err
	}
	s, err := openSession(ctx, host, spec, srv)
	if err != nil {
		srv.release()
		return nil, err
	}
	return s, nil
}

// Close ends the servers.
func (d *Driver) Close(ctx context.Context) error {
	d.mu.Lock()
	d.closed = true
	var list []*server
	for _, srv := range d.servers {
		list = append(list, srv)
	}
	d.mu.Unlock()
	var errs []error
	for _, srv := range list {
		errs = append(errs, srv.stop(ctx))
	}
	return errors.Join(errs...)
}

// acquire gives the server for an executable and environment, started if it
// does not run, and counts the caller as its user.
func (d *Driver) acquire(ctx context.Context, host provider.Host) (*server, error) {
	path, err := executable(host)
	if err != nil {
		return nil, missing(err)
	}
	key := serverKey(path, host.Env)
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return nil, &provider.Error{Code: "start_failed", Text: "Berth is closing."}
	}
	srv := d.servers[key]
	if srv == nil || !srv.use() {
		srv = newServer(host, path, func(gone *server) { d.forget(key, gone) })
		srv.use()
		d.servers[key] = srv
		go srv.start()
	}
	d.mu.Unlock()
	select {
	case <-srv.ready:
	case <-ctx.Done():
		srv.release()
		return nil, &provider.Error{Code: "no_answer", Text: title + " did not answer while it was starting.", Err: ctx.Err()}
	}
	if srv.failure != nil {
		srv.release()
		return nil, srv.failure
	}
	return srv, nil
}

func (d *Driver) forget(key string, gone *server) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.servers[key] == gone {
		delete(d.servers, key)
	}
}

func missing(err error) *provider.Error {
	return &provider.Error{
		Code: "missing", Text: title + " is not installed, or not where programs are looked for.",
		Detail: err.Error(), Action: "install", Err: err,
	}
}
