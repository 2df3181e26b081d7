// Package artifact keeps the files that belong to chats: what the user
// attaches, whole outputs of tools, images and results of agents.
//
// A file's row and its bytes are made separately: bytes that no row counts
// are not part of the file, so a write that was cut off goes on where the
// row says. A file is whole once it has its announced size; it never changes
// afterwards. Each piece is on disk (fsync) before it is counted.
package artifact

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"berth/backend/event"
	"berth/backend/refusal"
	"berth/backend/store"
)

// Bounds of files.
const (
	// MaxSize of one file, in bytes: larger ones are better named by path.
	MaxSize = 256 << 20
	// maxUnfinished uploads may wait for their rest at the same time.
	maxUnfinished = 128
	// unfinishedLife is how long an upload that nobody goes on with is kept.
	unfinishedLife = 24 * time.Hour
)

// Where files come from. Agents' outputs, images and artifacts name theirs.
const fromUpload = "upload"

// Files is the store of files. Its methods may be called from any goroutine.
type Files struct {
	db  *store.DB
	dir string

	mu   sync.Mutex
	busy map[string]bool // uploads to which a piece is being written
}

// Open gives the files below dir, making it if need be, and forgets uploads
// that were given up.
func Open(ctx context.Context, db *store.DB, dir string) (*Files, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of files: %w", err)
	}
	f := &Files{db: db, dir: dir, busy: map[string]bool{}}
	if err := f.forget(ctx, "received < size and origin = ? and created_at < ?", fromUpload, time.Now().Add(-unfinishedLife).UnixMilli()); err != nil {
		return nil, err
	}
	return f, nil
}

// Put keeps the bytes that r gives as a whole file of a chat, or nothing.
// origin is a word for what made it (output, image, artifact); kind is its
// media type, empty to have it told by the name and the bytes.
func (f *Files) Put(ctx context.Context, chat, origin, name, kind string, r io.Reader) (event.File, error) {
	file := event.File{ID: store.NewID("file"), Name: cleanName(name)}
	size, err := f.write(file.ID, 0, MaxSize, r)
	if err == nil {
		file.Size = size
		file.Type = mediaType(kind, file.Name, f.beginning(file.ID))
		file.Width, file.Height = f.dimensions(file)
		err = f.insert(ctx, file, size, origin, chat)
	}
	if err != nil {
		return event.File{}, errors.Join(err, f.removeBytes(file.ID))
	}
	return file, nil
}

// Locate gives a whole file and the path of its bytes, for agents that read
// them.
func (f *Files) Locate(ctx context.Context, id string) (event.File, string, error) {
	u, err := f.Upload(ctx, id)
	if err == nil && !u.Complete {
		err = errNoFile
	}
	return u.File, f.path(id), err
}

// Open opens a whole file for reading.
func (f *Files) Open(ctx context.Context, id string) (*os.File, event.File, error) {
	file, path, err := f.Locate(ctx, id)
	if err != nil {
		return nil, file, err
	}
	r, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, file, refusal.New(refusal.NotFound, "", "The bytes of this file are gone from the disk.")
	}
	if err != nil {
		return nil, file, fmt.Errorf("open a file: %w", err)
	}
	return r, file, nil
}

// path is where the bytes of a file are.
func (f *Files) path(id string) string {
	sum := sha256.Sum256([]byte(id))
	return filepath.Join(f.dir, hex.EncodeToString(sum[:1]), id)
}

// RemoveChat forgets the files of a chat that is being deleted: those made
// for it, and what its messages alone brought along. The chat's turns must
// still be there.
func (f *Files) RemoveChat(ctx context.Context, chat string) error {
	rows, err := f.db.Read().QueryContext(ctx, `select distinct a.value ->> 'file' from turns t, json_each(t.attachments) a where t.chat_id = ?`, chat)
	if err != nil {
		return fmt.Errorf("look up a chat's attachments: %w", err)
	}
	attached, err := collect(rows)
	if err != nil {
		return fmt.Errorf("look up a chat's attachments: %w", err)
	}
	for _, id := range attached {
		err := f.forget(ctx, `id = ? and origin = ? and not exists
			(select 1 from turns where chat_id <> ? and attachments <> '[]' and instr(attachments, files.id))`, id, fromUpload, chat)
		if err != nil {
			return err
		}
	}
	return f.forget(ctx, "chat_id = ?", chat)
}

func collect(rows *sql.Rows) (ids []string, err error) {
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// forget removes rows by a fixed condition, then their bytes: bytes that
// could not be removed are no longer named by anything.
func (f *Files) forget(ctx context.Context, where string, args ...any) error {
	var ids []string
	err := f.db.Write(ctx, func(tx *store.Tx) error {
		rows, err := tx.Query("delete from files where "+where+" returning id", args...)
		if err != nil {
			return err
		}
		ids, err = collect(rows)
		return err
	})
	if err != nil {
		return fmt.Errorf("forget files: %w", err)
	}
	for _, id := range ids {
		err = errors.Join(err, f.removeBytes(id))
	}
	return err
}

func (f *Files) removeBytes(id string) error {
	if err := os.Remove(f.path(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove a file: %w", err)
	}
	return nil
}

// write puts at most limit bytes of r behind the first offset bytes of a
// file and gives how many there were. They are on disk when it returns, also
// those before an error of r.
func (f *Files) write(id string, offset, limit int64, r io.Reader) (int64, error) {
	path := f.path(id)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return 0, fmt.Errorf("make the folder of files: %w", err)
	}
	w, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return 0, fmt.Errorf("write a file: %w", err)
	}
	n, err := io.Copy(io.NewOffsetWriter(w, offset), io.LimitReader(r, limit))
	if err == nil {
		err = atEnd(r)
	}
	return n, errors.Join(err, w.Truncate(offset+n), w.Sync(), w.Close())
}

// atEnd says that r has nothing left.
func atEnd(r io.Reader) error {
	var one [1]byte
	if n, err := io.ReadFull(r, one[:]); n > 0 {
		return refusal.New(refusal.TooLarge, "", "There are more bytes than the file may have.")
	} else if !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

var errNoFile = refusal.New(refusal.NotFound, "", "There is no such file.")

func (f *Files) insert(ctx context.Context, file event.File, received int64, origin, chat string) error {
	err := f.db.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec("insert into files(id, name, type, size, received, width, height, origin, chat_id, created_at) values(?,?,?,?,?,?,?,?,nullif(?,''),?)",
			file.ID, file.Name, file.Type, file.Size, received, file.Width, file.Height, origin, chat, store.Now().UnixMilli())
		return err
	})
	if err != nil {
		return fmt.Errorf("record a file: %w", err)
	}
	return nil
}
