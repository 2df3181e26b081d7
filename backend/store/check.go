package store

import (
	"bytes"
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"time"

	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // registers the driver
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// keptBackups is how many automatic backups rotate beside the database.
const keptBackups = 3

func damaged(err error) error { return fmt.Errorf("%w: %w", ErrDamaged, err) }

// inspectHeader tells a database from no file and from a damaged one, before
// SQLite may touch it. fresh means that there is nothing yet.
func inspectHeader(path string) (fresh bool, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		// A log without its database is damage, not a fresh start.
		if info, err := os.Stat(path + "-wal"); err == nil && info.Size() > 0 {
			return false, damaged(fmt.Errorf("%s is missing while its log is there", filepath.Base(path)))
		}
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("open the database: %w", err)
	}
	defer f.Close()
	var head [16]byte
	n, err := io.ReadFull(f, head[:])
	if n == 0 && errors.Is(err, io.EOF) {
		// A database appears under its name only when it is whole.
		return false, damaged(fmt.Errorf("%s is empty", filepath.Base(path)))
	}
	if err != nil || !bytes.Equal(head[:], []byte("SQLite format 3\x00")) {
		return false, damaged(fmt.Errorf("%s does not begin like an SQLite file", filepath.Base(path)))
	}
	return false, nil
}

// create makes a new database, which appears under its name only when it is
// whole, so that a file that was emptied is never taken for one. Other users
// of the machine cannot read it, whatever the folder allows.
func create(ctx context.Context, path string) error {
	partial := path + ".new"
	for _, end := range []string{"", "-wal", "-shm"} { // of a start that was cut off
		if err := removeIfThere(partial + end); err != nil {
			return fmt.Errorf("make the database: %w", err)
		}
	}
	f, err := os.OpenFile(partial, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("make the database: %w", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("make the database: %w", err)
	}
	db, err := openPool(partial, false)
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	if err := errors.Join(prepare(ctx, db, partial, true), db.Close()); err != nil {
		return err
	}
	if err := os.Rename(partial, path); err != nil {
		return fmt.Errorf("make the database: %w", err)
	}
	return nil
}

// prepare checks what was opened and brings it to the newest schema.
func prepare(ctx context.Context, db *sql.DB, path string, fresh bool) error {
	if !fresh {
		if err := recentRowsReadable(ctx, db); err != nil {
			return damaged(err)
		}
	}
	migrations, err := fs.Sub(migrationFiles, "migrations")
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, migrations)
	if err != nil {
		return fmt.Errorf("read the migrations: %w", err)
	}
	current, target, err := provider.GetVersions(ctx)
	if err != nil {
		return damaged(fmt.Errorf("read the schema version: %w", err))
	}
	if current > target {
		return fmt.Errorf("the database is of a newer Berth (schema %d, this one knows %d)", current, target)
	}
	if current == target {
		return nil
	}
	if !fresh {
		if err := check(ctx, db, "integrity_check"); err != nil {
			return damaged(err)
		}
		if _, err := backup(ctx, db, path); err != nil {
			return fmt.Errorf("back up before the migration: %w", err)
		}
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrate the database: %w", err)
	}
	if fresh {
		_, err := db.ExecContext(ctx, "insert into meta(key, value) values('epoch', ?) on conflict do nothing", NewID("e"))
		return err
	}
	return nil
}

// recentRowsReadable reads the schema and the newest rows, the pages that a
// crash would have torn.
func recentRowsReadable(ctx context.Context, db *sql.DB) error {
	var tables int
	if err := db.QueryRowContext(ctx, "select count(*) from sqlite_schema where name in ('meta','events','items','chats')").Scan(&tables); err != nil {
		return fmt.Errorf("read the schema: %w", err)
	}
	if tables == 0 {
		return nil // made, but not yet migrated
	}
	if tables != 4 {
		return errors.New("tables are missing")
	}
	for _, q := range []string{
		"select count(*) from (select body from events order by id desc limit 50)",
		"select count(*) from (select body from items order by rowid desc limit 50)",
		"select count(*) from (select id from chats order by rowid desc limit 50)",
	} {
		var n int
		if err := db.QueryRowContext(ctx, q).Scan(&n); err != nil {
			return fmt.Errorf("read recent rows: %w", err)
		}
	}
	return nil
}

// QuickCheck looks for damage in the whole file; it may take long and can be
// cancelled.
func (db *DB) QuickCheck(ctx context.Context) error {
	if err := check(ctx, db.readers, "quick_check"); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return damaged(err)
	}
	return nil
}

func check(ctx context.Context, db *sql.DB, pragma string) error {
	var result string
	if err := db.QueryRowContext(ctx, "pragma "+pragma+"(1)").Scan(&result); err != nil {
		return err
	}
	if result != "ok" {
		return errors.New(result)
	}
	return nil
}

// backup writes a copy to backups/ beside the database and drops the oldest
// beyond keptBackups. The copy appears under its name only when it is whole.
func backup(ctx context.Context, db *sql.DB, path string) (string, error) {
	dir := filepath.Join(filepath.Dir(path), "backups")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	name := filepath.Join(dir, "berth-"+time.Now().UTC().Format("20060102T150405.000")+".db")
	partial := name + ".partial"
	if _, err := db.ExecContext(ctx, "vacuum into ?", partial); err != nil {
		return "", errors.Join(err, removeIfThere(partial))
	}
	if err := os.Rename(partial, name); err != nil {
		return "", err
	}
	old, err := filepath.Glob(filepath.Join(dir, "berth-*.db"))
	if err != nil {
		return "", err
	}
	sort.Strings(old)
	for len(old) > keptBackups {
		if err := os.Remove(old[0]); err != nil {
			return "", err
		}
		old = old[1:]
	}
	return name, nil
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
