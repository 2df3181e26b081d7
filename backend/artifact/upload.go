package artifact

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"strings"

	"berth/backend/event"
	"berth/backend/refusal"
	"berth/backend/store"
)

// Upload is a file on its way to Berth.
type Upload struct {
	event.File
	Received int64 `json:"received" doc:"Bytes so far; the next piece begins here."`
	Complete bool  `json:"complete"`
}

// NewUpload announces a file.
type NewUpload struct {
	Name string `json:"name" minLength:"1" maxLength:"255" doc:"File name; folders before it are dropped."`
	Size int64  `json:"size" minimum:"0" maximum:"268435456" doc:"Bytes."`
	Type string `json:"type,omitempty" maxLength:"255" doc:"Media type; without it, told by the name."`
}

// Create announces a file that comes in pieces; see Append.
func (f *Files) Create(ctx context.Context, n NewUpload) (Upload, error) {
	if n.Size < 0 || n.Size > MaxSize {
		return Upload{}, refusal.New(refusal.TooLarge, "size", fmt.Sprintf("A file may have at most %d MiB.", MaxSize>>20))
	}
	var waiting int
	err := f.db.Read().QueryRowContext(ctx, "select count(*) from files where received < size and origin = ?", fromUpload).Scan(&waiting)
	if err != nil {
		return Upload{}, fmt.Errorf("count the uploads: %w", err)
	}
	if waiting >= maxUnfinished {
		return Upload{}, refusal.New(refusal.Conflict, "", "Too many uploads wait for their rest.")
	}
	file := event.File{ID: store.NewID("file"), Name: cleanName(n.Name), Size: n.Size}
	file.Type = mediaType(n.Type, file.Name, nil)
	if file.Size == 0 {
		if _, err := f.write(file.ID, 0, 0, strings.NewReader("")); err != nil {
			return Upload{}, err
		}
	}
	if err := f.insert(ctx, file, 0, fromUpload, ""); err != nil {
		return Upload{}, err
	}
	return f.Upload(ctx, file.ID)
}

// Upload tells how far a file has come.
func (f *Files) Upload(ctx context.Context, id string) (Upload, error) {
	var u Upload
	err := f.db.Read().QueryRowContext(ctx, "select id, name, type, size, received, width, height from files where id = ?", id).
		Scan(&u.ID, &u.Name, &u.Type, &u.Size, &u.Received, &u.Width, &u.Height)
	if errors.Is(err, sql.ErrNoRows) {
		return u, errNoFile
	}
	if err != nil {
		return u, fmt.Errorf("look up a file: %w", err)
	}
	u.Complete = u.Received == u.Size
	return u, nil
}

// Append adds the next piece of a file. It begins at offset, which must be
// what was received so far. What arrived before r failed is kept and counted.
func (f *Files) Append(ctx context.Context, id string, offset int64, r io.Reader) (Upload, error) {
	if !f.begin(id) {
		return Upload{}, refusal.New(refusal.Conflict, "", "Another piece of this file is being received.")
	}
	defer f.end(id)
	u, err := f.Upload(ctx, id)
	if err != nil {
		return u, err
	}
	if offset != u.Received {
		return u, refusal.New(refusal.Conflict, "query.offset", fmt.Sprintf("The next piece begins at %d.", u.Received))
	}
	n, err := f.write(id, offset, u.Size-offset, r)
	var refused *refusal.Error
	if errors.As(err, &refused) {
		return u, refused // nothing of this piece is counted
	}
	u.Received += n
	u.Complete = u.Received == u.Size
	if u.Complete {
		u.Width, u.Height = f.dimensions(u.File)
	}
	// The caller may be gone; what is on disk counts all the same.
	written := f.db.Write(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		_, err := tx.Exec("update files set received = ?, width = ?, height = ? where id = ?", u.Received, u.Width, u.Height, id)
		return err
	})
	if err == nil {
		err = written
	}
	if err != nil {
		return u, fmt.Errorf("receive a piece of a file: %w", err)
	}
	return u, nil
}

func (f *Files) begin(id string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.busy[id] {
		return false
	}
	f.busy[id] = true
	return true
}

func (f *Files) end(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.busy, id)
}
