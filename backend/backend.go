// Package backend is all of Berth but its doors' outsides: Open puts the
// parts together in the order in which they depend on each other, Close takes
// them down the other way round. Read this first.
package backend

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"berth/backend/alert"
	"berth/backend/api"
	"berth/backend/artifact"
	"berth/backend/chat"
	"berth/backend/event"
	"berth/backend/instance"
	"berth/backend/process"
	"berth/backend/provider"
	"berth/backend/settings"
	"berth/backend/store"
	"berth/backend/terminal"
	"berth/backend/workspace"
)

// Bounds of the whole.
const (
	// serverGrace is what requests at work may take when the backend closes.
	serverGrace = 3 * time.Second
	// checkEvery is how often the whole database is looked at for damage.
	checkEvery = 24 * time.Hour
)

// Options of a backend.
type Options struct {
	// State is the state directory, absolute.
	State   string
	Version string
	// Kind is window, serve or ask; others that find this backend are told.
	Kind string
	// Pages is the built frontend.
	Pages fs.FS
	// Self is Berth's own executable, which the demo agent is started from.
	Self string
	Log  *slog.Logger
}

// HeldError: another process is the backend of this state directory.
type HeldError struct{ By instance.Record }

func (e *HeldError) Error() string {
	return fmt.Sprintf("Berth already runs for this state directory: %s, process %d, since %s", e.By.Kind, e.By.Pid, e.By.StartedAt.Local().Format(time.DateTime))
}

// Backend is a running backend.
type Backend struct {
	// Handler is the API; its doors are Window, LocalServer, ListenerServer.
	Handler *api.Handler

	options Options
	log     *slog.Logger
	started time.Time
	lock    *instance.Lock
	record  instance.Record

	db        *store.DB
	processes *process.Supervisor
	terminals *terminal.Terminals
	agents    *provider.Catalog
	drivers   []closer
	chats     *chat.Service

	admission   atomic.Pointer[api.Admission]
	connections atomic.Int64
	ctx         context.Context // ends when the backend closes
	cancel      context.CancelFunc
	work        sync.WaitGroup
	mu          sync.Mutex
	servers     []*http.Server
	close       sync.Once
}

// closer is a driver that holds something of its own, such as a process that
// its sessions share.
type closer interface {
	Close(ctx context.Context) error
}

// Open starts a backend. When another one holds the state directory the
// error is a *HeldError; a database that cannot be trusted stops it with an
// error that says what to do (store.ErrDamaged).
func Open(ctx context.Context, o Options) (_ *Backend, err error) {
	b := &Backend{options: o, log: o.Log, started: store.Now()}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	b.admission.Store(&api.Admission{State: "open"})
	defer func() {
		if err != nil {
			err = errors.Join(err, b.Close(context.WithoutCancel(ctx)))
		}
	}()
	unclean, err := b.takeState()
	if err != nil {
		return nil, err
	}
	if b.db, err = store.Open(ctx, filepath.Join(o.State, "berth.db")); err != nil {
		return nil, b.explain(err)
	}
	b.db.OnDamage(b.closeAdmission)
	b.processes = process.NewSupervisor(b.db, b.log)
	b.terminals = terminal.NewTerminals(b.processes, b.log)
	if err := b.reap(ctx); err != nil {
		return nil, err
	}
	features, err := b.features(ctx)
	if err != nil {
		return nil, err
	}
	b.Handler = api.New(features)
	if err := b.serveSocket(); err != nil {
		return nil, err
	}
	b.work.Go(func() { b.agents.List(b.ctx, true) })
	b.work.Go(func() { b.watchDatabase(unclean) })
	return b, nil
}

// takeState makes this process the backend of the state directory. unclean
// says that the one before did not end as it should.
func (b *Backend) takeState() (unclean bool, err error) {
	_, before := instance.Read(b.options.State)
	if b.lock, err = instance.Acquire(b.options.State); err != nil {
		if errors.Is(err, instance.ErrHeld) {
			by, rerr := instance.Read(b.options.State)
			if rerr != nil {
				return false, errors.Join(err, rerr)
			}
			return false, &HeldError{By: by}
		}
		return false, err
	}
	return before == nil, nil
}

func (b *Backend) explain(err error) error {
	if !errors.Is(err, store.ErrDamaged) {
		return err
	}
	dir := b.options.State
	return fmt.Errorf("%w\nNothing was changed. To go back to the last automatic backup, move berth.db, berth.db-wal and berth.db-shm in %s aside and copy the newest file of %s to berth.db", err, dir, filepath.Join(dir, "backups"))
}

// reap ends what an earlier backend left running, before any chat may start
// anything.
func (b *Backend) reap(ctx context.Context) error {
	reaped, err := b.processes.Reap(ctx)
	if err != nil {
		return fmt.Errorf("end what an earlier Berth left running: %w", err)
	}
	for _, r := range reaped {
		b.log.Info("process of an earlier Berth", "process", fmt.Sprintf("%+v", r))
	}
	return nil
}

// features opens the parts above the database, each after those it needs.
func (b *Backend) features(ctx context.Context) (api.Features, error) {
	hub, err := event.NewHub(ctx, b.db)
	if err != nil {
		return api.Features{}, err
	}
	log := event.NewLog(b.db, hub)
	files, err := artifact.Open(ctx, b.db, filepath.Join(b.options.State, "files"))
	if err != nil {
		return api.Features{}, err
	}
	prefs, err := settings.Open(ctx, b.db, log, b.log)
	if err != nil {
		return api.Features{}, err
	}
	if err := b.addAgents(log, prefs); err != nil {
		return api.Features{}, err
	}
	protocol := protocolLog{dir: filepath.Join(b.options.State, "logs", "protocol"), wanted: func() bool { return prefs.Get().KeepRaw }}
	bounds := chat.DefaultBounds
	bounds.IdleEvict = time.Duration(prefs.Get().IdleMinutes) * time.Minute
	if b.chats, err = chat.Open(ctx, chat.Options{DB: b.db, Log: log, Hub: hub, Agents: b.agents, Files: files, Logger: b.log, Bounds: bounds, Raw: protocol.keep}); err != nil {
		return api.Features{}, err
	}
	return api.Features{
		Backend: b, Chats: b.chats, Hub: hub, Agents: b.agents, Files: files, Settings: prefs,
		Phrases: settings.NewPhrases(b.db, log), Finder: workspace.NewFinder(b.processes),
		Processes: b.processes, Terminals: b.terminals,
		Demo: demoStart{chats: b.chats, processes: b.processes, dir: filepath.Join(b.options.State, "demo")}, Pages: b.options.Pages, Log: b.log,
	}, nil
}

func (b *Backend) serveSocket() error {
	listener, path, err := b.lock.Listen()
	if err != nil {
		return err
	}
	b.serve(b.Handler.LocalServer(b.processes.Descends), listener)
	b.record = instance.Record{Pid: os.Getpid(), StartedAt: b.started, Version: b.options.Version, Kind: b.options.Kind, Socket: path}
	return b.lock.Announce(b.record)
}

func (b *Backend) serve(server *http.Server, l net.Listener) {
	server.ConnState = b.count
	b.mu.Lock()
	b.servers = append(b.servers, server)
	b.mu.Unlock()
	b.work.Go(func() {
		if err := server.Serve(l); err != nil && !errors.Is(err, http.ErrServerClosed) {
			b.log.Error("a door closed", "address", l.Addr().String(), "err", err)
		}
	})
}

// count keeps the number of connections. A hijacked one (a WebSocket) leaves
// it: the handler answers for those.
func (b *Backend) count(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		b.connections.Add(1)
	case http.StateClosed, http.StateHijacked:
		b.connections.Add(-1)
	}
}

// Needed says whether a turn lives or anybody is connected.
func (b *Backend) Needed(ctx context.Context) (bool, error) {
	if b.connections.Load() > 0 {
		return true, nil
	}
	chats, err := b.chats.List(ctx, false)
	return slices.ContainsFunc(chats, alert.AtWork), err
}

// Listen opens the loopback listener for browsers and tools, and gives its
// address and the owner token.
func (b *Backend) Listen(address string, rotate bool) (url, token string, err error) {
	if token, err = b.lock.Token(rotate); err != nil {
		return "", "", err
	}
	l, err := api.Listen(address)
	if err != nil {
		return "", "", err
	}
	b.serve(b.Handler.ListenerServer(l.Addr(), token), l)
	b.record.URL = "http://" + l.Addr().String()
	return b.record.URL, token, b.lock.Announce(b.record)
}

// Health tells how the whole is doing.
func (b *Backend) Health() api.Health {
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	return api.Health{Version: b.options.Version, Epoch: b.db.Epoch(), Admission: *b.admission.Load(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		Home: home, State: b.options.State, Window: b.options.Kind == "window", Root: os.Geteuid() == 0, Pid: os.Getpid(), StartedAt: b.started}
}

// watchDatabase looks at the whole database once a day, and at once when the
// backend before did not end as it should. Damage closes admission.
func (b *Backend) watchDatabase(now bool) {
	wait := checkEvery
	if now {
		wait = time.Minute // start-up goes first
	}
	for {
		select {
		case <-b.ctx.Done():
			return
		case <-time.After(wait):
		}
		wait = checkEvery
		err := b.db.QuickCheck(b.ctx)
		if errors.Is(err, store.ErrDamaged) {
			b.closeAdmission(err)
		}
	}
}

// closeAdmission lets nothing new begin on a damaged database.
func (b *Backend) closeAdmission(err error) {
	b.log.Error("the database is damaged", "err", err)
	b.admission.Store(&api.Admission{State: "closed", Reason: "damaged", Detail: b.explain(err).Error()})
}

// Close ends the backend within ctx: no new requests, agents ended and their
// turns settled, processes ended, the database closed, the state directory
// given up. It may be called more than once.
func (b *Backend) Close(ctx context.Context) error {
	var err error
	b.close.Do(func() { err = b.takeDown(ctx) })
	return err
}

func (b *Backend) takeDown(ctx context.Context) error {
	var errs []error
	if b.Handler != nil {
		b.Handler.Close()
	}
	b.mu.Lock()
	servers := b.servers
	b.mu.Unlock()
	for _, s := range servers {
		grace, cancel := context.WithTimeout(ctx, serverGrace)
		if err := s.Shutdown(grace); err != nil {
			errs = append(errs, s.Close())
		}
		cancel()
	}
	if b.chats != nil {
		errs = append(errs, b.chats.Close(ctx))
	}
	for _, d := range b.drivers {
		errs = append(errs, d.Close(ctx))
	}
	b.cancel()
	if b.processes != nil {
		errs = append(errs, b.terminals.CloseAll(ctx), b.processes.Close(ctx))
	}
	b.work.Wait()
	if b.db != nil {
		errs = append(errs, b.db.Close())
	}
	if b.lock != nil {
		errs = append(errs, b.lock.Release())
	}
	return errors.Join(errs...)
}
