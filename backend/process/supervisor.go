package process

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"berth/backend/store"
)

// Bounds of a supervisor.
const (
	// maxChildren bounds what runs at once: each child takes four descriptors
	// and a waiting thread, and the usual limit is 1,024 descriptors.
	maxChildren = 200
	// closeGrace is what each step of ending a child may take when Berth ends;
	// a person waits for that.
	closeGrace = 2 * time.Second
)

// Errors a caller can tell apart.
var (
	// ErrClosed: Berth is ending and starts nothing more.
	ErrClosed = errors.New("no process is started any more: Berth is ending")
	// ErrTooMany: maxChildren run already.
	ErrTooMany = fmt.Errorf("%d processes run already", maxChildren)
)

// Supervisor starts, records and ends children. Its methods may be called
// from any goroutine.
type Supervisor struct {
	db      *store.DB
	log     *slog.Logger
	starter *starter
	finder  *finder

	mu       sync.Mutex
	closed   bool
	children map[string]*child // from the gate until nothing of them is left
	pending  int               // starts under way that are not children yet
	starting sync.WaitGroup    // of pending
	attended sync.WaitGroup    // of children

	closing  sync.Once
	closeErr error
}

// NewSupervisor makes a supervisor that records its children in db. Close
// ends it.
func NewSupervisor(db *store.DB, log *slog.Logger) *Supervisor {
	s := &Supervisor{db: db, log: log, starter: newStarter(), children: map[string]*child{}}
	home, err := os.UserHomeDir()
	if err != nil {
		log.Warn("programs in the home directory are not found", "error", err)
	}
	s.finder = newFinder(home, os.Getenv, s.loginPath)
	return s
}

// Start starts a child (see the package comment for the gate). It returns
// once the program runs; the child does not end with ctx.
func (s *Supervisor) Start(ctx context.Context, spec Spec) (Process, error) {
	path, err := s.finder.path(ctx, spec.Path)
	if err != nil {
		return nil, err
	}
	c, err := s.start(ctx, spec, path, spawnOnPipes)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// spawner starts a process up to its gate, with mark in its environment.
type spawner func(spec Spec, env []string, mark string) (*spawned, error)

// start starts a child with path as its PATH.
func (s *Supervisor) start(ctx context.Context, spec Spec, path string, spawn spawner) (*child, error) {
	if err := checkSpec(spec); err != nil {
		return nil, err
	}
	if err := s.admit(); err != nil {
		return nil, err
	}
	c, err := s.spawn(spec, path, spawn)
	if err != nil {
		return nil, err
	}
	if err := s.record(ctx, c); err != nil {
		return nil, errors.Join(fmt.Errorf("record the process: %w", err), c.discard(err))
	}
	if err := c.release(); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", spec.Path, err), c.discard(err))
	}
	return c, nil
}

func checkSpec(spec Spec) error {
	if !filepath.IsAbs(spec.Path) {
		return fmt.Errorf("start %q: the path of an executable must be absolute", spec.Path)
	}
	if spec.Dir == "" {
		return nil
	}
	if info, err := os.Stat(spec.Dir); err != nil {
		return fmt.Errorf("start %s: its folder: %w", spec.Path, err)
	} else if !info.IsDir() {
		return fmt.Errorf("start %s: %s is not a folder", spec.Path, spec.Dir)
	}
	return nil
}

// admit takes a place for a child, which spawn gives back or fills.
func (s *Supervisor) admit() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return ErrClosed
	case len(s.children)+s.pending >= maxChildren:
		return ErrTooMany
	}
	s.pending++
	s.starting.Add(1)
	return nil
}

// spawn starts a process up to its gate.
func (s *Supervisor) spawn(spec Spec, path string, spawn spawner) (*child, error) {
	id := store.NewID("proc")
	env := childEnv(os.Environ(), path, spec, id)
	var sp *spawned
	var err error
	s.starter.do(func() { sp, err = spawn(spec, env, processName+"="+id) })
	defer s.starting.Done()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending--
	if err != nil {
		return nil, err
	}
	c := newChild(id, spec, sp)
	s.children[id] = c
	s.attended.Go(func() { s.attend(c) })
	return c, nil
}

// attend sees a child to its end.
func (s *Supervisor) attend(c *child) {
	c.attend()
	if err := s.recordEnd(c); err != nil {
		s.log.Warn("the end of a process was not recorded", "process", c.id, "label", c.spec.Label, "error", err)
	}
	if err := c.endLeft(); err != nil {
		s.log.Warn("a process left others behind", "process", c.id, "label", c.spec.Label, "error", err)
	}
	c.close()
	s.mu.Lock()
	delete(s.children, c.id)
	s.mu.Unlock()
}

// LookPath finds an executable by name on the completed PATH; the error says
// where it looked.
func (s *Supervisor) LookPath(name string) (string, error) {
	return s.finder.lookPath(context.Background(), name)
}

// Live is a running child as lists show it.
type Live struct {
	ID         string
	Pid        int
	Label      string
	Chat       string
	Execution  string
	Executable string
	StartedAt  time.Time
	Memory     int64 // resident bytes of the process itself, 0 when unknown
}

// all gives the children, oldest first.
func (s *Supervisor) all() []*child {
	s.mu.Lock()
	defer s.mu.Unlock()
	// Ids sort by time of making.
	return slices.SortedFunc(maps.Values(s.children), func(a, b *child) int { return strings.Compare(a.id, b.id) })
}

// List gives the running children, oldest first.
func (s *Supervisor) List() []Live {
	var live []Live
	for _, c := range s.all() {
		select {
		case <-c.done:
			continue
		default:
		}
		live = append(live, Live{
			ID: c.id, Pid: c.Pid(), Label: c.spec.Label, Chat: c.spec.Chat, Execution: c.spec.Execution,
			Executable: c.spec.Path, StartedAt: c.startedAt, Memory: memory(c.Pid()),
		})
	}
	return live
}

// Close ends all children at the same time, politely and then not, and what
// children that ended before left running. It starts none any more, takes a
// few seconds at most, and returns what could not be proven gone.
func (s *Supervisor) Close(ctx context.Context) error {
	s.closing.Do(func() { s.closeErr = s.close(ctx) })
	return s.closeErr
}

func (s *Supervisor) close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.starting.Wait()
	children := s.all()
	errs := make([]error, len(children))
	var stops sync.WaitGroup
	for i, c := range children {
		stops.Go(func() {
			if err := c.Stop(ctx, closeGrace); err != nil {
				errs[i] = fmt.Errorf("%s: %w", c.spec.Label, err)
			}
		})
	}
	stops.Wait()
	err := errors.Join(errs...)
	if err == nil {
		s.attended.Wait()
	}
	left, endErr := s.endRemains(ctx, nil)
	err = errors.Join(err, endErr)
	for _, r := range left {
		err = errors.Join(err, errors.New(r.Outcome))
	}
	// The end of the starting thread is the end of what is left, on Linux.
	s.starter.close()
	return err
}
