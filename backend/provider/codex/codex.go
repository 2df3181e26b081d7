// Package codex drives Codex through `codex app-server`: JSON-RPC lines on
// standard streams, without the jsonrpc field. The protocol is the one that
// `codex app-server generate-json-schema --experimental` states; what it
// leaves open was tried with Codex 0.171.0, and the fixtures are its own lines.
//
// One process serves all conversations (threads) of one installation and
// environment. It is started when a conversation needs it and ended a while
// after the last one left. When it dies, every conversation on it is told and
// the next one starts another; requests carry the number of the process they
// belong to, so that a late answer never reaches a successor.
//
// Delivery: a message counts as delivered with the reply to turn/start, which
// carries the turn's id. An error reply is proof that nothing was taken. No
// reply in time is not: the thread's turns are then read once for our message
// id, and what is not found there stays uncertain. Nothing is sent twice.
//
// Order: one goroutine reads the process; each conversation has a queue of
// queueLength messages and a goroutine that projects them. A reader that
// stops reading fills its own queue and then stops the process's pipe, for
// all conversations on it; nothing is dropped.
//
// Safety: approval policy and sandbox are stated with each turn, reviews are
// always routed to the user, and a thread that came back with other settings
// than those asked for is refused. A request of Codex that belongs to no
// conversation here is declined.
package codex

import (
	"context"
	"os"
	"strings"
	"sync"
	"time"

	"berth/backend/provider"
	"berth/backend/provider/watch"
)

// Name is the agent's id.
const Name = "codex"

// The bounds of a process and its conversations.
const (
	// startLimit is for the start and the handshake; half a second is usual.
	startLimit = 30 * time.Second
	// idleAfter ends a process without conversations: it holds about 130 MB.
	idleAfter = time.Minute
	// signalGrace is left between closing the input, SIGTERM and SIGKILL.
	signalGrace = 2 * time.Second
	// callLimit bounds a request that answers at once when all is well.
	callLimit = 30 * time.Second
	// lookLimit bounds the one look for a message whose reply did not come.
	lookLimit = 5 * time.Second
	// stopLimit bounds the steps of ending a turn: the interrupt, and what
	// the turn left running.
	stopLimit = 3 * time.Second
	// endLimit is left to a turn to end after it was interrupted.
	endLimit = 10 * time.Second
	// drainGrace is how long events wait for a reader after the end.
	drainGrace = 2 * time.Second
	// eventsBuffer is the capacity of the events channel.
	eventsBuffer = 64
	// queueLength is how many messages wait for one conversation before the
	// process's pipe is stopped.
	queueLength = 4096
	// maxGarbage is how many lines that are not of the protocol are borne in
	// a row.
	maxGarbage = 200
	// maxRequests bounds what waits for the user in one conversation.
	maxRequests = 128
	// maxEntries bounds the items that are open in one conversation.
	maxEntries = 10_000
	// maxText bounds a line of prose taken over from Codex, in bytes.
	maxText = 1000
	// maxInput bounds a tool's kept input, in bytes.
	maxInput = 64 << 10
	// maxOutput bounds the text a tool's item carries, in bytes; what Berth
	// keeps whole in a file is up to the chat.
	maxOutput = 8 << 20
	// maxRaw bounds a line kept for the debug view, in bytes.
	maxRaw = 16 << 10
	// maxImage bounds a picture that comes as bytes.
	maxImage = 20 << 20
)

// silenceLimits are how long Codex may say nothing about a turn it accepted.
// It reports a model's stream that has stalled by itself, after five minutes.
var silenceLimits = watch.Limits{First: 180 * time.Second, Idle: time.Hour, Tool: 6 * time.Hour}

// Driver drives Codex. It may be used from any goroutine.
type Driver struct {
	mu      sync.Mutex
	servers map[string]*server // by executable and environment
	made    int                // processes so far; the last one's generation
	closed  bool
}

// New makes the driver. Close ends the processes it started.
func New() *Driver { return &Driver{servers: map[string]*server{}} }

// Name is codex.
func (d *Driver) Name() string { return Name }

// Open starts or resumes a conversation on the shared process.
func (d *Driver) Open(ctx context.Context, host provider.Host, spec provider.Spec) (provider.Session, error) {
	if spec.Fork {
		return nil, provider.ErrUnsupported
	}
	if err := checkCwd(spec.Cwd); err != nil {
		return nil, err
	}
	srv, err := d.acquire(ctx, host)
	if err != nil {
		return nil, err
	}
	s := newSession(d, srv, host, spec)
	if err := s.open(ctx); err != nil {
		s.abandon()
		return nil, err
	}
	return s, nil
}

// checkCwd refuses a folder that is not there; Codex would take it and fail
// with each command.
func checkCwd(cwd string) error {
	info, err := os.Stat(cwd)
	if err == nil && info.IsDir() {
		return nil
	}
	return &provider.Error{Code: "cwd_missing", Text: "The folder of this chat is not there.", Detail: cwd, Action: "choose_folder", Err: err}
}

// Close ends all processes, at the same time and within bounds. No
// conversation can be opened afterwards.
func (d *Driver) Close(ctx context.Context) error {
	d.mu.Lock()
	d.closed = true
	servers := make([]*server, 0, len(d.servers))
	for _, s := range d.servers {
		servers = append(servers, s)
	}
	d.mu.Unlock()
	for _, s := range servers {
		s.retire(nil)
	}
	for _, s := range servers {
		select {
		case <-s.gone:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// executable finds Codex: the user's setting, else the command.
func executable(host provider.Host) (string, error) {
	path := host.Executable
	var err error
	if path != "" {
		_, err = os.Stat(path)
	} else {
		path, err = host.Processes.LookPath("codex")
	}
	if err != nil {
		return "", &provider.Error{
			Code: "missing", Text: "Codex is not installed, or not where programs are looked for.",
			Detail: err.Error(), Action: "install", Err: err,
		}
	}
	return path, nil
}

// acquire gives the process for this host, started if need be, with one more
// reference to it. The caller releases it.
func (d *Driver) acquire(ctx context.Context, host provider.Host) (*server, error) {
	path, err := executable(host)
	if err != nil {
		return nil, err
	}
	key := path + "\x00" + strings.Join(host.Env, "\x00")
	for {
		s, live, err := d.reference(key, path, host)
		if err != nil {
			return nil, err
		}
		if !live { // what is left of it must be gone: it may hold the conversation's file
			select {
			case <-s.gone:
				continue
			case <-ctx.Done():
				return nil, startError(ctx.Err(), "")
			}
		}
		select {
		case <-s.ready:
			err = s.startErr
		case <-ctx.Done():
			err = startError(ctx.Err(), "")
		}
		if err != nil {
			d.release(s)
			return nil, err
		}
		return s, nil
	}
}

// reference finds or makes the process of that key and counts one more user
// of it; live is false for one that has ended and is being cleared away.
func (d *Driver) reference(key, path string, host provider.Host) (s *server, live bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, false, &provider.Error{Code: "closed", Text: "Berth is ending."}
	}
	s = d.servers[key]
	if s == nil {
		d.made++
		s = newServer(host, path, d.made)
		d.servers[key] = s
		go func() {
			s.run()
			d.mu.Lock()
			delete(d.servers, key)
			d.mu.Unlock()
			close(s.gone)
		}()
	}
	if s.isOver() {
		return s, false, nil
	}
	s.refs++
	if s.idle != nil {
		s.idle()
		s.idle = nil
	}
	return s, true, nil
}

// release gives a reference back; the last one lets the process end soon.
func (d *Driver) release(s *server) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s.refs--
	if s.refs > 0 || s.isOver() {
		return
	}
	s.idle = s.host.Clock.AfterFunc(idleAfter, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if s.refs == 0 {
			s.retire(nil)
		}
	})
}
