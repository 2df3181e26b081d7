package chat

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"berth/backend/event"
	"berth/backend/provider"
	"berth/backend/store"
)

// Agents is the catalogue of drivers (*provider.Catalog).
type Agents interface {
	Driver(name string) (provider.Driver, provider.Host, bool)
	Known(name string) (provider.Description, bool)
}

// Files keeps large bytes (artifact.Files).
type Files interface {
	// Put keeps what r gives, whole or not at all.
	Put(ctx context.Context, chat, origin, name, mediaType string, r io.Reader) (event.File, error)
	// Locate gives a whole file and its path on disk.
	Locate(ctx context.Context, id string) (event.File, string, error)
	// Remove forgets all files of a chat.
	RemoveChat(ctx context.Context, chat string) error
}

// Bounds holds the limits that tests shorten.
type Bounds struct {
	Open       time.Duration // starting an agent and its handshake
	Interrupt  time.Duration // from a polite interrupt to ending the process
	Close      time.Duration // ending the process, politely and then by force
	IdleEvict  time.Duration // an idle agent's process is ended after this
	MaxLoaded  int           // idle processes kept at most
	FlushEvery time.Duration // streaming text is stored this often
	MaxText    int           // of an answer or a thought, in bytes; clients get it whole
}

// DefaultBounds are those of the program.
var DefaultBounds = Bounds{
	Open: 60 * time.Second, Interrupt: 5 * time.Second, Close: 12 * time.Second,
	IdleEvict: 10 * time.Minute, MaxLoaded: 8, FlushEvery: 250 * time.Millisecond,
	MaxText: 8 << 20, // more than any model writes
}

// Options of a Service.
type Options struct {
	DB     *store.DB
	Log    *event.Log
	Hub    *event.Hub
	Agents Agents
	Files  Files
	Logger *slog.Logger
	Bounds Bounds
	// Raw gets the agents' protocol lines, for those who look into a fault;
	// nil drops them. It is called from several goroutines.
	Raw func(chat string, line []byte)
}

// Service is the chats of one backend.
type Service struct {
	db     *store.DB
	log    *event.Log
	hub    *event.Hub
	agents Agents
	files  Files
	logger *slog.Logger
	bounds Bounds
	raw    func(chat string, line []byte)

	ctx    context.Context // ends when the service closes
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu     sync.Mutex
	actors map[string]*actor
	states map[string]agentState
	closed bool
}

// agentState is what an actor tells lists about its agent.
type agentState struct {
	loaded     bool
	dead       string
	idleAt     time.Time // since when idle, zero while it works
	background []provider.BackgroundTask
}

var _ Chats = (*Service)(nil)

// Open makes the service, settles what an earlier backend left (turns closed
// truthfully, queues restored) and goes on with what was accepted. Orphaned
// processes must be gone before.
func Open(ctx context.Context, o Options) (*Service, error) {
	s := &Service{db: o.DB, log: o.Log, hub: o.Hub, agents: o.Agents, files: o.Files, logger: o.Logger, bounds: o.Bounds, raw: o.Raw,
		actors: map[string]*actor{}, states: map[string]agentState{}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.hub.SetSummaries(s.summaryEvent)
	resume, err := s.recover(ctx)
	if err != nil {
		s.cancel()
		return nil, err
	}
	for _, chat := range resume {
		if err := s.do(ctx, chat, func(a *actor) error { a.startNext(); return nil }); err != nil {
			s.logger.Error("resume the queue", "chat", chat, "err", err)
		}
	}
	s.work.Go(s.purgeDeleted)
	s.work.Go(s.evictIdle)
	return s, nil
}

// Close ends all agents within bounds. Turns that run are closed as
// interrupted; the queue stays.
func (s *Service) Close(ctx context.Context) error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	actors := make([]*actor, 0, len(s.actors))
	for _, a := range s.actors {
		actors = append(actors, a)
	}
	s.mu.Unlock()
	var wg sync.WaitGroup
	errs := make([]error, len(actors))
	for i, a := range actors {
		wg.Go(func() { errs[i] = a.shutdown(ctx) })
	}
	wg.Wait()
	s.cancel()
	s.work.Wait()
	return errors.Join(errs...)
}

// do runs f on the actor of a chat and waits for it.
func (s *Service) do(ctx context.Context, chat string, f func(*actor) error) error {
	a, err := s.actor(ctx, chat)
	if err != nil {
		return err
	}
	return a.call(ctx, f)
}

func (s *Service) actor(ctx context.Context, chat string) (*actor, error) {
	s.mu.Lock()
	a := s.actors[chat]
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return nil, &Error{Code: "closed", Text: "Berth is closing."}
	}
	if a != nil {
		return a, nil
	}
	a, err := s.load(ctx, chat)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, &Error{Code: "closed", Text: "Berth is closing."}
	}
	if other := s.actors[chat]; other != nil {
		return other, nil // somebody else was first
	}
	s.actors[chat] = a
	s.work.Go(a.run)
	return a, nil
}

func (s *Service) agentState(chat string) agentState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.states[chat]
}

func (s *Service) setState(chat string, st agentState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !st.loaded && st.dead == "" {
		delete(s.states, chat)
		return
	}
	s.states[chat] = st
}

// evictIdle ends the processes of chats that have been idle for long, and
// the longest idle ones when there are too many.
func (s *Service) evictIdle() {
	tick := time.NewTicker(max(s.bounds.IdleEvict/20, 10*time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-tick.C:
		}
		for _, chat := range s.idleTooLong(time.Now()) {
			// A chat that is gone or closing needs no eviction.
			_ = s.do(s.ctx, chat, func(a *actor) error { a.evict(); return nil })
		}
	}
}

func (s *Service) idleTooLong(now time.Time) (chats []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	idle := 0
	var oldest string
	for chat, st := range s.states {
		if !st.loaded || st.idleAt.IsZero() || len(st.background) > 0 {
			continue
		}
		idle++
		if now.Sub(st.idleAt) > s.bounds.IdleEvict {
			chats = append(chats, chat)
		}
		if oldest == "" || st.idleAt.Before(s.states[oldest].idleAt) {
			oldest = chat
		}
	}
	if idle > s.bounds.MaxLoaded && len(chats) == 0 {
		chats = append(chats, oldest)
	}
	return chats
}

// summaryEvent is the present summary of a chat for the stream.
func (s *Service) summaryEvent(ctx context.Context, chat string) (event.Event, bool) {
	chats, err := s.summaries(ctx, "c.id = ?", chat)
	if err != nil || len(chats) == 0 {
		return event.Event{}, false
	}
	body, err := json.Marshal(chats[0])
	if err != nil {
		return event.Event{}, false
	}
	return event.Event{Chat: chat, Type: event.TypeChat, At: store.Now(), Body: body}, true
}

func (s *Service) pushSummary(chat string) {
	if e, ok := s.summaryEvent(s.ctx, chat); ok {
		s.hub.PushSummary(e)
	}
}
