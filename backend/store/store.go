// Package store is Berth's one SQLite database: opening and checking it, its
// migrations, one writer and a pool of readers.
//
// Durability: Write returns after the transaction is on disk
// (synchronous=FULL). Writers that wait at the same time share one commit;
// each still succeeds or fails alone, by a savepoint of its own. Functions
// given to Tx.AfterCommit run in commit order, before Write returns, and
// never for a write that was undone.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Limits of the writer and the readers.
const (
	maxBatch   = 128 // writes that share one commit
	maxReaders = 8
	queueDepth = 1024 // writes that may wait; further callers block
)

// Errors a caller can tell apart.
var (
	// ErrClosed: the database was closed.
	ErrClosed = errors.New("the database is closed")
	// ErrFull: the disk is full; nothing of the write was kept.
	ErrFull = errors.New("the disk is full")
	// ErrDamaged: the file is not a sound Berth database.
	ErrDamaged = errors.New("the database is damaged")
)

// DB is an open database. Its methods may be called from any goroutine.
type DB struct {
	path    string
	epoch   string
	writer  *sql.DB
	readers *sql.DB

	onDamage func(error) // told of damage that a write finds

	queue  chan *write
	closed chan struct{}
	once   sync.Once
	done   sync.WaitGroup
}

type write struct {
	ctx   context.Context
	fn    func(*Tx) error
	after []func()
	undo  []func()
	err   error
	done  chan struct{}
}

// Tx is one write in progress. It is valid only inside the function given to
// Write, on that goroutine.
type Tx struct {
	tx  *sql.Tx
	ctx context.Context
	w   *write
}

// Exec runs a statement.
func (t *Tx) Exec(query string, args ...any) (sql.Result, error) {
	return t.tx.ExecContext(t.ctx, query, args...)
}

// Query runs a query.
func (t *Tx) Query(query string, args ...any) (*sql.Rows, error) {
	return t.tx.QueryContext(t.ctx, query, args...)
}

// QueryRow runs a query that gives one row.
func (t *Tx) QueryRow(query string, args ...any) *sql.Row {
	return t.tx.QueryRowContext(t.ctx, query, args...)
}

// AfterCommit has f run once this write is on disk.
func (t *Tx) AfterCommit(f func()) { t.w.after = append(t.w.after, f) }

// AfterUndo has f run if this write is undone, the last one given first, so
// that what the program holds in memory can follow.
func (t *Tx) AfterUndo(f func()) { t.w.undo = append(t.w.undo, f) }

// Open opens the database at path, making it if there is none. A file that
// cannot be trusted is refused with ErrDamaged and left as it is; before a
// migration a backup is written beside it.
func Open(ctx context.Context, path string) (*DB, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the state directory: %w", err)
	}
	fresh, err := inspectHeader(path)
	if err == nil && fresh {
		err = create(ctx, path)
	}
	if err != nil {
		return nil, err
	}
	writer, err := openPool(path, false)
	if err != nil {
		return nil, err
	}
	writer.SetMaxOpenConns(1)
	if err := prepare(ctx, writer, path, false); err != nil {
		return nil, errors.Join(err, writer.Close())
	}
	readers, err := openPool(path, true)
	if err != nil {
		return nil, errors.Join(err, writer.Close())
	}
	readers.SetMaxOpenConns(maxReaders)
	readers.SetMaxIdleConns(maxReaders)
	db := &DB{path: path, writer: writer, readers: readers,
		queue: make(chan *write, queueDepth), closed: make(chan struct{})}
	if err := readers.QueryRowContext(ctx, "select value from meta where key = 'epoch'").Scan(&db.epoch); err != nil {
		return nil, errors.Join(damaged(fmt.Errorf("read the epoch: %w", err)), writer.Close(), readers.Close())
	}
	db.done.Add(1)
	go db.run()
	return db, nil
}

// Epoch names this history of the database; it changes when a backup is
// restored, and a cursor of another epoch means nothing here.
func (db *DB) Epoch() string { return db.epoch }

// Path of the database file.
func (db *DB) Path() string { return db.path }

// OnDamage has f told of damage that a write finds, on the writer's goroutine.
// It is set before the first write.
func (db *DB) OnDamage(f func(error)) { db.onDamage = f }

// Read gives the reader pool, which refuses writes.
func (db *DB) Read() *sql.DB { return db.readers }

// Write runs fn in a transaction and returns once it is on disk, or undone.
// fn must not block on anything but the database: all writers wait for it.
// A write that has begun is carried through although ctx ends.
func (db *DB) Write(ctx context.Context, fn func(*Tx) error) error {
	w := &write{ctx: context.WithoutCancel(ctx), fn: fn, done: make(chan struct{})}
	select {
	case <-db.closed:
		return ErrClosed
	default:
	}
	select {
	case db.queue <- w:
	case <-db.closed:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	<-w.done
	return w.err
}

// Close waits for the writes that were accepted, then closes the file.
func (db *DB) Close() error {
	var err error
	db.once.Do(func() {
		close(db.closed)
		db.done.Wait()
		_, cerr := db.writer.Exec("pragma wal_checkpoint(truncate)")
		err = errors.Join(cerr, db.readers.Close(), db.writer.Close())
	})
	return err
}

func (db *DB) run() {
	defer db.done.Done()
	for {
		select {
		case w := <-db.queue:
			db.commit(db.gather(w))
		case <-db.closed:
			for {
				select {
				case w := <-db.queue:
					db.commit(db.gather(w))
				default:
					return
				}
			}
		}
	}
}

func (db *DB) gather(first *write) []*write {
	batch := []*write{first}
	for len(batch) < maxBatch {
		select {
		case w := <-db.queue:
			batch = append(batch, w)
		default:
			return batch
		}
	}
	return batch
}

// commit runs a batch in one transaction. Writes that fail are undone alone;
// a failing commit undoes and fails them all.
func (db *DB) commit(batch []*write) {
	tx, err := db.writer.BeginTx(context.Background(), nil)
	if err == nil {
		for _, w := range batch {
			w.err = runInSavepoint(tx, w)
			if isFull(w.err) {
				err = w.err
				break
			}
		}
		if err == nil {
			err = tx.Commit()
		} else {
			_ = tx.Rollback()
		}
	}
	for _, w := range batch {
		if err != nil && w.err == nil {
			w.err = err
		}
		w.err = explain(w.err)
		if errors.Is(w.err, ErrDamaged) && db.onDamage != nil {
			db.onDamage(w.err)
		}
		if w.err == nil {
			for _, f := range w.after {
				f()
			}
		} else {
			for _, f := range slices.Backward(w.undo) {
				f()
			}
		}
		close(w.done)
	}
}

func runInSavepoint(tx *sql.Tx, w *write) (err error) {
	if _, err := tx.Exec("savepoint w"); err != nil {
		return err
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("write failed: %v", p)
		}
		if err != nil {
			w.after = nil
			_, rerr := tx.Exec("rollback to w")
			err = errors.Join(err, rerr)
		}
		if _, rerr := tx.Exec("release w"); rerr != nil && err == nil {
			err = rerr
		}
	}()
	return w.fn(&Tx{tx: tx, ctx: w.ctx, w: w})
}

func isFull(err error) bool {
	var se *sqlite.Error
	return errors.As(err, &se) && se.Code()&0xff == sqlite3.SQLITE_FULL
}

// explain turns SQLite's codes into errors a caller can tell apart.
func explain(err error) error {
	var se *sqlite.Error
	if !errors.As(err, &se) {
		return err
	}
	switch se.Code() & 0xff {
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("%w: %w", ErrFull, err)
	case sqlite3.SQLITE_IOERR:
		return fmt.Errorf("the disk did not take the write: %w", err)
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}

func openPool(path string, readOnly bool) (*sql.DB, error) {
	q := url.Values{}
	q["_pragma"] = []string{"busy_timeout(5000)", "foreign_keys(1)"}
	if readOnly {
		q["_pragma"] = append(q["_pragma"], "query_only(1)")
	} else {
		q["_pragma"] = append(q["_pragma"], "journal_mode(WAL)", "synchronous(FULL)")
		q.Set("_txlock", "immediate")
	}
	// The path is escaped: SQLite would read "#" and "?" in it as syntax.
	escaped := (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()
	if !strings.HasPrefix(escaped, "/") {
		escaped = "/" + escaped // a Windows drive letter
	}
	return sql.Open("sqlite", "file:"+escaped+"?"+q.Encode())
}
