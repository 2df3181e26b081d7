package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func openAt(t *testing.T, path string) *DB {
	t.Helper()
	db, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func addPhrase(db *DB, id string) error {
	return db.Write(context.Background(), func(tx *Tx) error {
		_, err := tx.Exec("insert into phrases(id, text, position) values(?, '', 0)", id)
		return err
	})
}

func phrases(t *testing.T, db *DB) (ids []string) {
	t.Helper()
	rows, err := db.Read().Query("select id from phrases order by id")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}

func TestWritesAreDurableAndTheEpochStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b#?%.db") // SQLite must not read syntax into a path
	db := openAt(t, path)
	epoch := db.Epoch()
	if err := addPhrase(db, "one"); err != nil {
		t.Fatal(err)
	}
	var mode, sync string
	if err := db.writer.QueryRow("select (select * from pragma_journal_mode), (select * from pragma_synchronous)").Scan(&mode, &sync); err != nil || mode != "wal" || sync != "2" {
		t.Errorf("journal %s, synchronous %s, %v", mode, sync, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = openAt(t, path)
	if got := phrases(t, db); !slices.Equal(got, []string{"one"}) || db.Epoch() != epoch || epoch == "" {
		t.Errorf("%v, epoch %q, was %q", got, db.Epoch(), epoch)
	}
}

func TestWritesThatShareACommitFailAlone(t *testing.T) {
	db := openAt(t, filepath.Join(t.TempDir(), "berth.db"))
	refused := errors.New("refused")
	var wg sync.WaitGroup
	var mu sync.Mutex
	var committed, undone []int
	const n = 200
	for i := range n {
		wg.Go(func() {
			err := db.Write(t.Context(), func(tx *Tx) error {
				tx.AfterCommit(func() { mu.Lock(); defer mu.Unlock(); committed = append(committed, i) })
				tx.AfterUndo(func() { mu.Lock(); defer mu.Unlock(); undone = append(undone, i) })
				if _, err := tx.Exec("insert into phrases(id, text, position) values(?, '', 0)", fmt.Sprintf("%03d", i)); err != nil {
					return err
				}
				switch i % 3 {
				case 1:
					return refused
				case 2:
					panic("a bug in one writer")
				}
				return nil
			})
			if want := i%3 == 0; (err == nil) != want {
				t.Errorf("write %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	want := n/3 + 1
	if got := phrases(t, db); len(got) != want || len(committed) != want || len(undone) != n-want {
		t.Errorf("%d rows, %d committed, %d undone", len(got), len(committed), len(undone))
	}
}

func TestAWriteThatHasBegunIsCarriedThrough(t *testing.T) {
	db := openAt(t, filepath.Join(t.TempDir(), "berth.db"))
	ctx, cancel := context.WithCancel(t.Context())
	err := db.Write(ctx, func(tx *Tx) error {
		cancel()
		_, err := tx.Exec("insert into phrases(id, text, position) values('one', '', 0)")
		return err
	})
	if err != nil || len(phrases(t, db)) != 1 {
		t.Errorf("%v, %v", phrases(t, db), err)
	}
}

func TestReadersCannotWrite(t *testing.T) {
	db := openAt(t, filepath.Join(t.TempDir(), "berth.db"))
	if _, err := db.Read().Exec("delete from meta"); err == nil {
		t.Error("a reader wrote")
	}
}

// A file that cannot be trusted stops the start and is left as it is (rule 14).
func TestDamageIsRefusedAndLeft(t *testing.T) {
	sound := filepath.Join(t.TempDir(), "sound.db")
	db := openAt(t, sound)
	for i := range 500 {
		if err := addPhrase(db, strings.Repeat("x", 200)+fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(sound)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		damage func() []byte
	}{
		{"not a database", func() []byte { return []byte("this was never a database, but it is long enough to look") }},
		{"emptied", func() []byte { return []byte{} }},
		{"short", func() []byte { return whole[:10] }},
		{"cut off", func() []byte { return whole[:len(whole)/20] }},
		{"schema overwritten", func() []byte {
			b := slices.Clone(whole)
			for i := 100; i < 4096; i++ {
				b[i] = 0x5a
			}
			return b
		}},
		{"zeroes", func() []byte { return make([]byte, 8192) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "berth.db")
			damaged := tt.damage()
			if err := os.WriteFile(path, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			db, err := Open(t.Context(), path)
			if err == nil {
				_ = db.Close()
			}
			if !errors.Is(err, ErrDamaged) {
				t.Errorf("error %v", err)
			}
			after, err := os.ReadFile(path)
			if err != nil || !slices.Equal(after, damaged) {
				t.Errorf("the file was changed (%v)", err)
			}
		})
	}
	t.Run("log without its database", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "berth.db")
		if err := os.WriteFile(path+"-wal", []byte("pages"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), path); !errors.Is(err, ErrDamaged) {
			t.Errorf("error %v", err)
		}
	})
}

// A start that is cut off leaves nothing under the database's name, and the
// next one goes on; others of the machine cannot read it.
func TestANewDatabaseAppearsWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "berth.db")
	if err := os.WriteFile(path+".new", []byte("cut off"), 0o600); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ended, path); err == nil {
		t.Error("made although it was cut off")
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("under its name: %v", err)
	}
	db := openAt(t, path)
	if err := addPhrase(db, "one"); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(path + "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range left {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(file, ".new") || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s %v", filepath.Base(file), info.Mode())
		}
	}
}

func TestDamageThatAWriteFindsIsTold(t *testing.T) {
	db := openAt(t, filepath.Join(t.TempDir(), "berth.db"))
	var told error
	db.OnDamage(func(err error) { told = err })
	if err := addPhrase(db, "one"); err != nil || told != nil {
		t.Errorf("a sound write: %v, told %v", err, told)
	}
	err := db.Write(t.Context(), func(*Tx) error { return damaged(errors.New("a page")) })
	if !errors.Is(err, ErrDamaged) || !errors.Is(told, ErrDamaged) {
		t.Errorf("%v, told %v", err, told)
	}
}

func TestNewerSchemaIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "berth.db")
	db := openAt(t, path)
	err := db.Write(t.Context(), func(tx *Tx) error {
		_, err := tx.Exec("insert into goose_db_version(version_id, is_applied) values(99999, 1)")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), path); err == nil || !strings.Contains(err.Error(), "newer") {
		t.Errorf("error %v", err)
	}
}

func TestBackupIsWholeAndRotates(t *testing.T) {
	path := filepath.Join(t.TempDir(), "berth.db")
	db := openAt(t, path)
	if err := addPhrase(db, "one"); err != nil {
		t.Fatal(err)
	}
	var last string
	for range keptBackups + 2 {
		var err error
		if last, err = backup(t.Context(), db.writer, path); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadDir(filepath.Join(filepath.Dir(path), "backups"))
	if err != nil || len(kept) != keptBackups {
		t.Errorf("%d backups, %v", len(kept), err)
	}
	copied := openAt(t, last)
	if got := phrases(t, copied); !slices.Equal(got, []string{"one"}) {
		t.Errorf("the backup holds %v", got)
	}
}

func TestFullDiskUndoesTheWriteAndPasses(t *testing.T) {
	db := openAt(t, filepath.Join(t.TempDir(), "berth.db"))
	var pages int
	if err := db.writer.QueryRow("pragma page_count").Scan(&pages); err != nil {
		t.Fatal(err)
	}
	limit := func(n int) {
		var got int
		if err := db.writer.QueryRow(fmt.Sprintf("pragma max_page_count = %d", n)).Scan(&got); err != nil {
			t.Fatal(err)
		}
	}
	limit(pages + 2)
	err := addPhrase(db, strings.Repeat("x", 1<<20))
	if !errors.Is(err, ErrFull) {
		t.Fatalf("error %v", err)
	}
	if got := phrases(t, db); len(got) != 0 {
		t.Errorf("%d rows were kept", len(got))
	}
	limit(1 << 30)
	if err := addPhrase(db, "one"); err != nil {
		t.Errorf("after there was room again: %v", err)
	}
}

func TestClosedDatabaseSaysSo(t *testing.T) {
	db := openAt(t, filepath.Join(t.TempDir(), "berth.db"))
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := addPhrase(db, "one"); !errors.Is(err, ErrClosed) {
		t.Errorf("error %v", err)
	}
}

func TestIDsSortByTimeAndAreChecked(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		id := NewID("chat")
		if seen[id] || !ValidID("chat", id) || ValidID("turn", id) {
			t.Fatalf("id %q", id)
		}
		seen[id] = true
	}
	for _, bad := range []string{"", "chat", "chat_", "chat_ABC", "chat_" + strings.Repeat("l", 26), "../chat_" + strings.Repeat("0", 26)} {
		if ValidID("chat", bad) {
			t.Errorf("%q is taken for an id", bad)
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	db, err := Open(b.Context(), filepath.Join(b.TempDir(), "berth.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := addPhrase(db, NewID("p")); err != nil {
				b.Error(err)
			}
		}
	})
}
