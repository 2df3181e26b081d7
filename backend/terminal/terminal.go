// Package terminal runs the user's commands on terminals: a shell, or the
// command that installs an agent.
//
// Output is kept in memory, the newest two megabytes of each terminal, at
// positions that never change. Clients pull it from a position on, so that one
// can come, go, and come again, and several can look at one terminal; nothing
// is queued for any of them. One that falls behind what is kept goes on with
// the newest output and sees the gap by its position. Nothing survives the
// backend: its processes end with it.
//
// A terminal whose program ended can be read until it is closed; of these the
// newest are kept.
package terminal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"berth/backend/process"
	"berth/backend/refusal"
	"berth/backend/store"
)

// Bounds of terminals.
const (
	// maxRunning bounds the terminals whose programs run.
	maxRunning = 32
	// maxEnded bounds those that are only kept to be read.
	maxEnded = 16
	// pieceBytes is what one reading gives at most.
	pieceBytes = 64 << 10
	// closeGrace is what programs have from the hang-up until they are killed.
	closeGrace = 2 * time.Second
	// Sizes that programs can work with.
	minColumns, maxColumns, usualColumns = 2, 500, 80
	minRows, maxRows, usualRows          = 1, 200, 24
)

// Session is a terminal as it stands.
type Session struct {
	ID      string
	Process string // its id in the registry
	Title   string
	Command []string
	Cwd     string
	Columns int
	Rows    int
	// Exit is how the program ended, nil while it runs.
	Exit      *process.Exit
	StartedAt time.Time
}

// New is what a terminal is opened with.
type New struct {
	// Command is the program and its arguments; without it, the user's shell.
	Command []string
	// Cwd is absolute; without it, the home directory.
	Cwd   string
	Title string
	// Columns and Rows, 80 by 24 where they are 0.
	Columns, Rows int
}

// Output is a piece of what a terminal wrote.
type Output struct {
	// After is the position of the first byte: later than the one asked for
	// when older bytes are not kept any more.
	After int64
	// Next is the position for the next reading.
	Next int64
	Data []byte
	// Ended: the program ended and nothing will follow.
	Ended bool
}

// Terminals are the open terminals. Its methods may be called from any
// goroutine.
type Terminals struct {
	processes *process.Supervisor
	log       *slog.Logger

	mu      sync.Mutex
	closed  bool
	opening int
	byID    map[string]*session
	work    sync.WaitGroup // one for each session whose program runs
}

// NewTerminals makes an empty set. Close ends it, before the supervisor is
// closed.
func NewTerminals(processes *process.Supervisor, log *slog.Logger) *Terminals {
	return &Terminals{processes: processes, log: log, byID: map[string]*session{}}
}

var (
	errNone   = refusal.New(refusal.NotFound, "", "There is no such terminal.")
	errEnded  = refusal.New(refusal.Conflict, "", "The program of this terminal has ended.")
	errMany   = refusal.New(refusal.Conflict, "", fmt.Sprintf("%d terminals run already; close one first.", maxRunning))
	errClosed = refusal.New(refusal.Conflict, "", "Berth is ending.")
	errDeaf   = refusal.New(refusal.Conflict, "", "The program of this terminal does not read what is typed.")
)

// Open starts a command on a terminal of its own.
func (t *Terminals) Open(ctx context.Context, n New) (Session, error) {
	spec, err := t.spec(&n)
	if err != nil {
		return Session{}, err
	}
	if err := t.admit(); err != nil {
		return Session{}, err
	}
	size := process.Size{Cols: uint16(n.Columns), Rows: uint16(n.Rows)}
	proc, err := t.processes.StartTerminal(ctx, spec, size)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.opening--
	if err != nil {
		return Session{}, fmt.Errorf("open a terminal: %w", err)
	}
	s := newSession(proc, Session{ID: store.NewID("term"), Process: proc.ID(), Title: n.Title, Command: n.Command,
		Cwd: spec.Dir, Columns: n.Columns, Rows: n.Rows, StartedAt: store.Now()})
	t.byID[s.id] = s
	t.dropOldest()
	t.work.Go(s.follow)
	return s.snapshot(), nil
}

// spec is what n starts; defaults are filled in.
func (t *Terminals) spec(n *New) (process.Spec, error) {
	n.Columns, n.Rows = orUsual(n.Columns, usualColumns), orUsual(n.Rows, usualRows)
	if err := checkSize(n.Columns, n.Rows); err != nil {
		return process.Spec{}, err
	}
	spec := process.Spec{Dir: n.Cwd, Label: "terminal", Env: []string{
		"TERM=xterm-256color", "COLORTERM=truecolor", "TERM_PROGRAM=Berth"}}
	if spec.Dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return spec, fmt.Errorf("find the home directory: %w", err)
		}
		spec.Dir = home
	}
	if info, err := os.Stat(spec.Dir); err != nil || !info.IsDir() || !filepath.IsAbs(spec.Dir) {
		return spec, refusal.New(refusal.Invalid, "cwd", "There is no such folder: "+spec.Dir)
	}
	if len(n.Command) == 0 {
		n.Command = process.LoginShell()
	}
	if len(n.Command) == 0 {
		return spec, refusal.New(refusal.Invalid, "command", "The user's shell is not known; name a command.")
	}
	path, err := t.processes.LookPath(n.Command[0])
	if err != nil {
		return spec, refusal.New(refusal.Invalid, "command", err.Error())
	}
	spec.Path, spec.Args = path, n.Command[1:]
	if n.Title == "" {
		n.Title = filepath.Base(path)
	}
	return spec, nil
}

func orUsual(n, usual int) int {
	if n == 0 {
		return usual
	}
	return n
}

func checkSize(columns, rows int) error {
	switch {
	case columns < minColumns || columns > maxColumns:
		return refusal.New(refusal.Invalid, "columns", fmt.Sprintf("A terminal has %d to %d columns.", minColumns, maxColumns))
	case rows < minRows || rows > maxRows:
		return refusal.New(refusal.Invalid, "rows", fmt.Sprintf("A terminal has %d to %d rows.", minRows, maxRows))
	}
	return nil
}

// admit takes a place for a terminal, which Open gives back or fills.
func (t *Terminals) admit() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	running := t.opening
	for _, s := range t.byID {
		if s.snapshot().Exit == nil {
			running++
		}
	}
	switch {
	case t.closed:
		return errClosed
	case running >= maxRunning:
		return errMany
	}
	t.opening++
	return nil
}

// dropOldest forgets the terminals that ended beyond maxEnded.
func (t *Terminals) dropOldest() {
	var ended []string
	for id, s := range t.byID {
		if s.snapshot().Exit != nil {
			ended = append(ended, id)
		}
	}
	slices.Sort(ended) // ids sort by time of making
	for len(ended) > maxEnded {
		delete(t.byID, ended[0])
		ended = ended[1:]
	}
}

// List gives the terminals, oldest first.
func (t *Terminals) List() []Session {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := make([]Session, 0, len(t.byID))
	for _, s := range t.byID {
		list = append(list, s.snapshot())
	}
	slices.SortFunc(list, func(a, b Session) int { return strings.Compare(a.ID, b.ID) })
	return list
}

func (t *Terminals) find(id string) (*session, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.byID[id]; s != nil {
		return s, nil
	}
	return nil, errNone
}

// Output gives what was written from position after on, waiting until ctx
// ends if there is nothing yet.
func (t *Terminals) Output(ctx context.Context, id string, after int64) (Output, error) {
	s, err := t.find(id)
	if err != nil {
		return Output{}, err
	}
	return s.output(ctx, after), nil
}

// Input types into a terminal.
func (t *Terminals) Input(_ context.Context, id string, data []byte) error {
	s, err := t.find(id)
	if err != nil {
		return err
	}
	if s.snapshot().Exit != nil {
		return errEnded
	}
	_, err = s.proc.Stdin().Write(data)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errDeaf
	case err != nil:
		return errEnded
	}
	return nil
}

// Resize tells a terminal its size.
func (t *Terminals) Resize(_ context.Context, id string, columns, rows int) error {
	if err := checkSize(columns, rows); err != nil {
		return err
	}
	s, err := t.find(id)
	if err != nil {
		return err
	}
	return s.resize(columns, rows)
}

// Close ends the program of a terminal with all that came of it, and forgets
// the terminal. What cannot be proven gone is an error, and the terminal
// stays.
func (t *Terminals) Close(ctx context.Context, id string) error {
	s, err := t.find(id)
	if err != nil {
		return err
	}
	if err := s.proc.Stop(ctx, closeGrace); err != nil {
		return fmt.Errorf("close the terminal: %w", err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.byID, id)
	return nil
}

// CloseAll ends all terminals at the same time and opens none any more.
func (t *Terminals) CloseAll(ctx context.Context) error {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	var mu sync.Mutex
	var errs []error
	var all sync.WaitGroup
	for _, s := range t.List() {
		all.Go(func() {
			if err := t.Close(ctx, s.ID); err != nil && !errors.Is(err, errNone) {
				mu.Lock()
				defer mu.Unlock()
				errs = append(errs, err)
			}
		})
	}
	all.Wait()
	if len(errs) == 0 {
		t.work.Wait()
	}
	return errors.Join(errs...)
}
