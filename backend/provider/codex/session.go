package codex

import (
	"context"
	"sync"
	"time"

	"berth/backend/provider"
	"berth/backend/provider/watch"
)

// session is one conversation. All its events are emitted by the goroutine of
// pump, in the order in which the process wrote what is behind them.
type session struct {
	driver *Driver
	server *server
	host   provider.Host
	spec   provider.Spec
	thread string // written with mu, before anything of it is handled

	events chan provider.Event
	queue  chan func()
	leave  sync.Once
	over   chan struct{} // closed when nothing more is taken in
	unread chan struct{} // closed when nobody reads events any more
	quit   sync.Once     // gives the reference to the process back
	done   chan struct{} // closed after the events channel

	dog *watch.Dog

	mu       sync.Mutex
	settings settings
	skills   []skill
	loaded   bool // the skills were listed
	pending  *pending
	turn     *turn
	foreign  string        // a native turn that nobody here sent
	idle     chan struct{} // closed and replaced when a native turn ends
	requests map[string]*request
	ending   *provider.Closed

	// Of the goroutine of pump alone.
	entries map[string]*entry // open items, by raw key
	attempt map[string]int    // of items that were begun more than once in their turn
	agents  map[string]*agent // sub-agents, by thread
	warned  map[string]bool   // limits that the user was told of
	shown   []provider.BackgroundTask
}

func newSession(d *Driver, srv *server, host provider.Host, spec provider.Spec) *session {
	s := &session{
		driver: d, server: srv, host: host, spec: spec,
		events: make(chan provider.Event, eventsBuffer), queue: make(chan func(), queueLength),
		over: make(chan struct{}), unread: make(chan struct{}), done: make(chan struct{}),
		idle: make(chan struct{}), requests: map[string]*request{},
		entries: map[string]*entry{}, attempt: map[string]int{}, agents: map[string]*agent{}, warned: map[string]bool{},
	}
	s.dog = watch.New(host.Clock, silenceLimits, s.silence)
	go s.pump()
	return s
}

// post has f run on the goroutine of pump, in order. It blocks while the
// queue is full.
func (s *session) post(f func()) {
	select {
	case <-s.over:
	case s.queue <- f:
	}
}

// pump runs what was posted, and last tells how the session ended.
func (s *session) pump() {
	defer close(s.done)
	defer close(s.events)
	for {
		select {
		case f := <-s.queue:
			f()
			continue
		case <-s.over:
		}
		break
	}
	for len(s.queue) > 0 {
		(<-s.queue)()
	}
	s.dog.Stop()
	s.mu.Lock()
	end := s.ending
	s.mu.Unlock()
	s.server.forget(s)
	s.quit.Do(func() { s.driver.release(s.server) })
	s.emit(provider.Event{Closed: end})
}

// emit hands an event to the reader of Events and waits for it.
func (s *session) emit(e provider.Event) {
	select {
	case s.events <- e:
	case <-s.unread:
	}
}

// end ends the session: what was posted is still handled, then Closed is
// told. The first end counts.
func (s *session) end(c *provider.Closed) {
	s.leave.Do(func() {
		s.mu.Lock()
		s.ending = c
		s.mu.Unlock()
		close(s.over)
	})
}

// Events is closed after the Closed event.
func (s *session) Events() <-chan provider.Event { return s.events }

// Processes is empty: the process is shared.
func (s *session) Processes() []string { return nil }

// Close ends the turn that runs and what the conversation left running, and
// leaves the process. When the process does not answer, it is ended, for all
// conversations on it: a turn that cannot be stopped otherwise is worse.
func (s *session) Close(ctx context.Context) error {
	err := s.wind(ctx)
	s.drop(ctx)
	return err
}

// wind ends the conversation's work in the process.
func (s *session) wind(ctx context.Context) error {
	s.mu.Lock()
	thread := s.thread
	s.mu.Unlock()
	if s.server.isOver() || thread == "" {
		return nil
	}
	err := s.quiet(ctx)
	if err == nil {
		err = s.unsubscribe(ctx)
	}
	if err == nil || s.server.isOver() {
		return nil
	}
	s.server.retire(&provider.Error{Code: "agent_ended", Text: "Codex did not answer and was ended.", Detail: clip(err.Error(), maxText), Action: "send_again"})
	select {
	case <-s.server.gone:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// quiet interrupts the turn that runs and waits for its end, and interrupts
// the sub-agents that go on without one.
func (s *session) quiet(ctx context.Context) error {
	if err := s.Interrupt(ctx); err != nil {
		return err
	}
	asked := make(chan struct{})
	s.post(func() {
		s.interruptAgents(ctx)
		close(asked)
	})
	select {
	case <-asked:
	case <-s.over:
	case <-ctx.Done():
		return ctx.Err()
	}
	return s.waitIdle(ctx, stopLimit)
}

// waitIdle waits until no native turn runs.
func (s *session) waitIdle(ctx context.Context, limit time.Duration) error {
	late := make(chan struct{})
	stop := s.host.Clock.AfterFunc(limit, func() { close(late) })
	defer stop()
	for {
		s.mu.Lock()
		busy, idle := s.turn != nil || s.pending != nil || s.foreign != "", s.idle
		s.mu.Unlock()
		if !busy {
			return nil
		}
		select {
		case <-idle:
		case <-s.over:
			return nil
		case <-late:
			return errStillRuns
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// unsubscribe ends what the conversation left running and gives its threads
// back to the process.
func (s *session) unsubscribe(ctx context.Context) error {
	for _, thread := range s.server.threads(s) {
		params := map[string]any{"threadId": thread}
		if err := s.server.within(ctx, stopLimit, "thread/backgroundTerminals/clean", params, nil); err != nil && !refused(err) {
			return err
		}
		if err := s.server.within(ctx, stopLimit, "thread/unsubscribe", params, nil); err != nil && !refused(err) {
			return err
		}
	}
	return nil
}

// drop leaves the process and ends the events.
func (s *session) drop(ctx context.Context) {
	s.end(&provider.Closed{})
	drained := make(chan struct{})
	stop := s.host.Clock.AfterFunc(drainGrace, func() { close(drained) })
	defer stop()
	select {
	case <-s.done:
		return
	case <-drained:
	case <-ctx.Done():
	}
	s.abandonEvents()
}

// abandonEvents gives up on the reader of events.
func (s *session) abandonEvents() {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.unread:
	default:
		close(s.unread)
	}
}

// abandon ends a session that never opened.
func (s *session) abandon() {
	s.abandonEvents()
	ctx, cancel := context.WithTimeout(context.Background(), endLimit)
	defer cancel()
	_ = s.Close(ctx)
}
