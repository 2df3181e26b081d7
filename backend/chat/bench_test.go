package chat

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"

	"berth/backend/event"
	"berth/backend/store"
)

// fill makes a database with that many chats, and items in the first of
// them, as a year of use leaves it.
func fill(b *testing.B, chats, items int) (path string) {
	b.Helper()
	path = filepath.Join(b.TempDir(), "berth.db")
	db, err := store.Open(b.Context(), path)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	err = db.Write(b.Context(), func(tx *store.Tx) error {
		for i := range chats {
			if _, err := tx.Exec(`insert into chats(id, agent, cwd, title, created_at, updated_at, turn_id, position) values(?, 'script', '/', ?, 0, 0, ?, ?)`,
				fmt.Sprintf("chat_%04d", i), fmt.Sprintf("Chat %d", i), fmt.Sprintf("turn_%04d", i), i); err != nil {
				return err
			}
			if _, err := tx.Exec(`insert into turns(id, chat_id, state, client_id, request_hash, text, created_at, started_at, ended_at) values(?, ?, 'completed', '', '', 'do it', 0, 0, 0)`,
				fmt.Sprintf("turn_%04d", i), fmt.Sprintf("chat_%04d", i)); err != nil {
				return err
			}
		}
		_, err := tx.Exec(`with recursive n(i) as (select 1 union all select i + 1 from n where i < ?)
			insert into items(id, chat_id, turn_id, kind, status, seq, last_event, revision, at, summary, body)
			select 'item_' || i, 'chat_0000', 'turn_0000', 'answer', 'completed', i, i, 1, 0, 'summary', '{"text":"' || hex(zeroblob(150)) || '"}' from n`, items)
		if err != nil {
			return err
		}
		_, err = tx.Exec(`with recursive n(i) as (select 1 union all select i + 1 from n where i < ?)
			insert into events(chat_id, seq, type, at, body) select 'chat_0000', i, 'item', 0, '{}' from n`, items)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return path
}

func openFilled(b *testing.B, path string) (*Service, *store.DB) {
	b.Helper()
	db, err := store.Open(b.Context(), path)
	if err != nil {
		b.Fatal(err)
	}
	hub, err := event.NewHub(b.Context(), db)
	if err != nil {
		b.Fatal(err)
	}
	s, err := Open(b.Context(), Options{DB: db, Log: event.NewLog(db, hub), Hub: hub, Agents: newScript(), Files: noFiles{}, Logger: slog.New(slog.DiscardHandler), Bounds: DefaultBounds})
	if err != nil {
		b.Fatal(err)
	}
	return s, db
}

func closeFilled(b *testing.B, s *Service, db *store.DB) {
	b.Helper()
	if err := s.Close(b.Context()); err != nil {
		b.Error(err)
	}
	if err := db.Close(); err != nil {
		b.Error(err)
	}
}

func BenchmarkFirstPage(b *testing.B) {
	for _, items := range []int{100, 100_000} {
		b.Run(fmt.Sprint(items), func(b *testing.B) {
			s, db := openFilled(b, fill(b, 1, items))
			defer closeFilled(b, s, db)
			for b.Loop() {
				if _, err := s.Items(b.Context(), "chat_0000", 0, 0, 100); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkList(b *testing.B) {
	s, db := openFilled(b, fill(b, 1000, 1))
	defer closeFilled(b, s, db)
	for b.Loop() {
		if _, err := s.List(b.Context(), false); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	path := fill(b, 1000, 1_000_000)
	for b.Loop() {
		s, db := openFilled(b, path)
		closeFilled(b, s, db)
	}
}
