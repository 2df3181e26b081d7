package artifact

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"berth/backend/refusal"
	"berth/backend/store"
)

func openFiles(t *testing.T) *Files {
	t.Helper()
	db, err := store.Open(context.Background(), filepath.Join(t.TempDir(), "berth.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return reopen(t, db, filepath.Join(t.TempDir(), "files"))
}

func reopen(t *testing.T, db *store.DB, dir string) *Files {
	t.Helper()
	f, err := Open(context.Background(), db, dir)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func content(t *testing.T, f *Files, id string) string {
	t.Helper()
	r, _, err := f.Open(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func code(err error) string {
	var r *refusal.Error
	if errors.As(err, &r) {
		return r.Code
	}
	return ""
}

func TestUploadInPieces(t *testing.T) {
	f, ctx := openFiles(t), context.Background()
	u, err := f.Create(ctx, NewUpload{Name: "notes.md", Size: 11})
	if err != nil || u.Complete || u.Type != "text/markdown" {
		t.Fatalf("%+v, %v", u, err)
	}
	if u, err = f.Append(ctx, u.ID, 0, strings.NewReader("hello")); err != nil || u.Received != 5 || u.Complete {
		t.Fatalf("%+v, %v", u, err)
	}
	if _, _, err := f.Open(ctx, u.ID); code(err) != refusal.NotFound {
		t.Errorf("half a file can be opened: %v", err)
	}
	// A piece whose sender goes away counts as far as it came.
	cut := io.MultiReader(strings.NewReader(" wo"), iotest.ErrReader(io.ErrUnexpectedEOF))
	if _, err := f.Append(ctx, u.ID, 5, cut); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatalf("a cut off piece: %v", err)
	}
	// Everything goes on after a restart.
	f = reopen(t, f.db, f.dir)
	if u, err = f.Upload(ctx, u.ID); err != nil || u.Received != 8 {
		t.Fatalf("%+v, %v", u, err)
	}
	for offset, want := range map[int64]string{5: refusal.Conflict, 9: refusal.Conflict} {
		if _, err := f.Append(ctx, u.ID, offset, strings.NewReader("x")); code(err) != want {
			t.Errorf("a piece at %d: %v", offset, err)
		}
	}
	if _, err := f.Append(ctx, u.ID, 8, strings.NewReader("rld and more")); code(err) != refusal.TooLarge {
		t.Errorf("more bytes than announced: %v", err)
	}
	if u, err = f.Append(ctx, u.ID, 8, strings.NewReader("rld")); err != nil || !u.Complete {
		t.Fatalf("%+v, %v", u, err)
	}
	if got := content(t, f, u.ID); got != "hello world" {
		t.Errorf("the file is %q", got)
	}
	if _, err := f.Append(ctx, u.ID, 11, strings.NewReader("!")); code(err) != refusal.TooLarge {
		t.Errorf("a whole file grew: %v", err)
	}
}

func TestEmptyUpload(t *testing.T) {
	f := openFiles(t)
	u, err := f.Create(context.Background(), NewUpload{Name: "empty"})
	if err != nil || !u.Complete {
		t.Fatalf("%+v, %v", u, err)
	}
	if got := content(t, f, u.ID); got != "" {
		t.Errorf("it holds %q", got)
	}
}

func TestTwoPiecesAtOnce(t *testing.T) {
	f, ctx := openFiles(t), context.Background()
	u, err := f.Create(ctx, NewUpload{Name: "a", Size: 2})
	if err != nil {
		t.Fatal(err)
	}
	r, w := io.Pipe()
	first := make(chan error)
	go func() { _, err := f.Append(ctx, u.ID, 0, r); first <- err }()
	if _, err := w.Write([]byte("x")); err != nil { // the first is now reading
		t.Fatal(err)
	}
	if _, err := f.Append(ctx, u.ID, 0, strings.NewReader("y")); code(err) != refusal.Conflict {
		t.Errorf("the second: %v", err)
	}
	w.Close()
	if err := <-first; err != nil {
		t.Errorf("the first: %v", err)
	}
	if u, err = f.Append(ctx, u.ID, 1, strings.NewReader("z")); err != nil || !u.Complete || content(t, f, u.ID) != "xz" {
		t.Errorf("%+v, %v", u, err)
	}
}

func TestBoundsOfUploads(t *testing.T) {
	f, ctx := openFiles(t), context.Background()
	if _, err := f.Create(ctx, NewUpload{Name: "big", Size: MaxSize + 1}); code(err) != refusal.TooLarge {
		t.Errorf("too large: %v", err)
	}
	for range maxUnfinished {
		if _, err := f.Create(ctx, NewUpload{Name: "a", Size: 1}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.Create(ctx, NewUpload{Name: "a", Size: 1}); code(err) != refusal.Conflict {
		t.Errorf("one too many: %v", err)
	}
	// Those that nobody goes on with are forgotten, with their bytes.
	old := time.Now().Add(-unfinishedLife - time.Minute).UnixMilli()
	err := f.db.Write(ctx, func(tx *store.Tx) error { _, err := tx.Exec("update files set created_at = ?", old); return err })
	if err != nil {
		t.Fatal(err)
	}
	f = reopen(t, f.db, f.dir)
	if _, err := f.Create(ctx, NewUpload{Name: "a", Size: 1}); err != nil {
		t.Errorf("after a day: %v", err)
	}
}

func TestPut(t *testing.T) {
	f, ctx := openFiles(t), context.Background()
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 30, 20))); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, declared, wantName, wantType string
		bytes                              []byte
		width, height                      int
	}{
		{"shot.png", "", "shot.png", "image/png", picture.Bytes(), 30, 20},
		{"", "", "file", "image/png", picture.Bytes(), 30, 20},
		{"../../etc/passwd", "text/plain; charset=utf-8", "passwd", "text/plain", []byte("x"), 0, 0},
		{`C:\Users\me\a.pdf`, "nonsense", "a.pdf", "application/pdf", []byte("x"), 0, 0},
		{"e\u202Egpj.zz9\x00", "", "egpj.zz9", "text/plain", []byte("plain"), 0, 0},
		{"broken.png", "", "broken.png", "image/png", []byte("no picture"), 0, 0},
		{"..", "", "file", "application/octet-stream", nil, 0, 0},
	} {
		file, err := f.Put(ctx, "", "output", c.name, c.declared, bytes.NewReader(c.bytes))
		if err != nil {
			t.Errorf("%q: %v", c.name, err)
			continue
		}
		if file.Name != c.wantName || file.Type != c.wantType || file.Width != c.width || file.Height != c.height || file.Size != int64(len(c.bytes)) {
			t.Errorf("%q became %+v", c.name, file)
		}
		if got := content(t, f, file.ID); got != string(c.bytes) {
			t.Errorf("%q holds %d bytes", c.name, len(got))
		}
	}
	if _, err := f.Put(ctx, "", "output", "a", "", iotest.ErrReader(io.ErrUnexpectedEOF)); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a source that fails: %v", err)
	}
	var left []string
	_ = filepath.WalkDir(f.dir, func(p string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			left = append(left, p)
		}
		return err
	})
	if len(left) != 7 {
		t.Errorf("%d files are on disk, of 7 that were kept", len(left))
	}
}

func TestLongNames(t *testing.T) {
	long := strings.Repeat("é", 200) + ".tar"
	got := cleanName(long)
	if len(got) > maxName || !strings.HasSuffix(got, "é.tar") {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}

func TestRemoveChat(t *testing.T) {
	f, ctx := openFiles(t), context.Background()
	upload := func() string {
		u, err := f.Create(ctx, NewUpload{Name: "a", Size: 1})
		if err == nil {
			u, err = f.Append(ctx, u.ID, 0, strings.NewReader("a"))
		}
		if err != nil {
			t.Fatal(err)
		}
		return u.ID
	}
	mine, shared, others, unsent := upload(), upload(), upload(), upload()
	err := f.db.Write(ctx, func(tx *store.Tx) error {
		for i, row := range []struct{ chat, files string }{
			{"chat_1", `[{"file":"` + mine + `"},{"file":"` + shared + `"}]`}, {"chat_1", "[]"},
			{"chat_2", `[{"file":"` + others + `"},{"file":"` + shared + `"}]`},
		} {
			if i != 1 {
				if _, err := tx.Exec("insert into chats(id, agent, cwd, title, created_at, updated_at) values(?, 'a', '/', '', 0, 0)", row.chat); err != nil {
					return err
				}
			}
			_, err := tx.Exec("insert into turns(id, chat_id, state, client_id, request_hash, text, attachments, created_at) values(?, ?, 'completed', ?, '', '', ?, 0)",
				store.NewID("turn"), row.chat, store.NewID("c"), row.files)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	output, err := f.Put(ctx, "chat_1", "output", "out.txt", "", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.RemoveChat(ctx, "chat_1"); err != nil {
		t.Fatal(err)
	}
	for id, kept := range map[string]bool{mine: false, output.ID: false, shared: true, others: true, unsent: true} {
		_, path, err := f.Locate(ctx, id)
		_, statErr := os.Stat(path)
		if kept != (err == nil) || kept != (statErr == nil) {
			t.Errorf("%s: kept %v, %v, %v", id, kept, err, statErr)
		}
	}
}
