package event

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"berth/backend/store"
)

func open(t *testing.T) (*store.DB, *Hub, *Log) {
	t.Helper()
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "berth.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	hub, err := NewHub(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	return db, hub, NewLog(db, hub)
}

func makeChat(t *testing.T, db *store.DB, id string) {
	t.Helper()
	err := db.Write(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec("insert into chats(id, agent, cwd, title, created_at, updated_at) values(?, 'demo', '/', '', 0, 0)", id)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, db *store.DB, l *Log, en *Entry) {
	t.Helper()
	if err := db.Write(t.Context(), func(tx *store.Tx) error { return l.Put(tx, en) }); err != nil {
		t.Fatal(err)
	}
}

func flush(t *testing.T, db *store.DB, l *Log, en *Entry) {
	t.Helper()
	if err := db.Write(t.Context(), func(tx *store.Tx) error { return l.Flush(tx, en) }); err != nil {
		t.Fatal(err)
	}
}

func next(t *testing.T, s *Subscription) Batch {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	b, err := s.Next(ctx, MaxBatch)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// text is the client's side of the contract: what a reader sees of an item
// after these batches.
func read(item string, batches ...Batch) (text string, revision int64) {
	for _, b := range batches {
		for _, it := range b.Items {
			if it.ID == item && it.Revision >= revision {
				text, revision = it.Body.Text, it.Revision
			}
		}
		for _, d := range b.Deltas {
			if d.Item == item && d.Offset == utf16Len(text) {
				text += d.Text
			}
		}
	}
	return text, revision
}

func TestStreamedTextReachesReadersAndDisk(t *testing.T) {
	db, hub, log := open(t)
	makeChat(t, db, "chat_a")
	s, err := hub.Subscribe(t.Context(), "c", "", []string{"chat_a"})
	if err != nil {
		t.Fatal(err)
	}
	en := NewEntry(Item{Chat: "chat_a", Kind: Answer, Status: InProgress}, true)
	put(t, db, log, en)
	var got []Batch
	for _, piece := range []string{"Hello ", "wörld 🌍", " 你好"} {
		log.Live(en, piece)
		got = append(got, next(t, s))
		flush(t, db, log, en)
	}
	const want = "Hello wörld 🌍 你好"
	if text, _ := read(en.ID, got...); text != want {
		t.Errorf("live: %q, want %q", text, want)
	}
	if stored, err := StoredText(t.Context(), db.Read(), en.ID); err != nil || stored != want {
		t.Errorf("stored pieces: %q, %v", stored, err)
	}
	en.Status = Completed
	put(t, db, log, en)
	it, err := log.Item(t.Context(), en.ID)
	if err != nil || it.Body.Text != want || it.Status != Completed || it.Seq != 1 {
		t.Errorf("stored: %+v, %v", it, err)
	}
	if text, _ := read(en.ID, append(got, next(t, s))...); text != want {
		t.Errorf("after the end: %q", text)
	}
}

func TestFinalTextReplacesStreamedText(t *testing.T) {
	for _, final := range []string{"abc", "abcdef", "ab", "xyz", ""} {
		db, _, log := open(t)
		makeChat(t, db, "chat_a")
		en := NewEntry(Item{Chat: "chat_a", Kind: Answer, Status: InProgress}, true)
		put(t, db, log, en)
		log.Live(en, "abc")
		flush(t, db, log, en)
		log.ReplaceText(en, final)
		en.Status = Completed
		put(t, db, log, en)
		it, err := log.Item(t.Context(), en.ID)
		if err != nil || it.Body.Text != final {
			t.Errorf("final %q: stored %q, %v", final, it.Body.Text, err)
		}
	}
}

func TestUndoneWriteLeavesTheEntryAsItWas(t *testing.T) {
	db, _, log := open(t)
	makeChat(t, db, "chat_a")
	en := NewEntry(Item{Chat: "chat_a", Kind: Answer, Status: InProgress}, true)
	put(t, db, log, en)
	log.Live(en, "abc")
	err := db.Write(t.Context(), func(tx *store.Tx) error {
		if err := log.Flush(tx, en); err != nil {
			return err
		}
		return context.Canceled
	})
	if err == nil || en.Unflushed() != 3 {
		t.Fatalf("unflushed %d, %v", en.Unflushed(), err)
	}
	flush(t, db, log, en)
	if text, err := StoredText(t.Context(), db.Read(), en.ID); err != nil || text != "abc" {
		t.Errorf("%q, %v", text, err)
	}
}

// A client that resumes from any cursor it ever got sees every event once and
// ends with the present state of every item, whatever batches were lost.
func TestResumeHasNoGapAndNoDuplicate(t *testing.T) {
	db, hub, log := open(t)
	makeChat(t, db, "chat_a")
	var cursors []string
	for i := range 20 {
		cursors = append(cursors, hub.Cursor())
		err := db.Write(t.Context(), func(tx *store.Tx) error {
			if err := log.Append(tx, Event{Chat: "chat_a", Type: TypeTurn}); err != nil {
				return err
			}
			return log.Put(tx, NewEntry(Item{Chat: "chat_a", Kind: Notice, Status: Completed, Summary: strings.Repeat("x", i)}, false))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, cursor := range cursors {
		after, events, items := cursor, map[int64]int{}, map[string]int{}
		for round := 0; ; round++ {
			// Every request is a client of its own: the reply before it was lost.
			s, err := hub.Subscribe(t.Context(), "c", after, []string{"chat_a"})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			b, err := s.Next(ctx, 2000)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range b.Events {
				events[e.ID]++
			}
			for _, it := range b.Items {
				items[it.ID]++
			}
			if len(b.Events)+len(b.Items) == 0 {
				break
			}
			if round > 200 {
				t.Fatal("no progress")
			}
			after = b.Next
		}
		if len(events) != 20-i || len(items) != 20-i {
			t.Errorf("from %s: %d events, %d items, want %d", cursor, len(events), len(items), 20-i)
		}
		for id, n := range events {
			if n != 1 {
				t.Errorf("from %s: event %d came %d times", cursor, id, n)
			}
		}
	}
}

func TestForeignEpochMeansFetchAgain(t *testing.T) {
	_, hub, _ := open(t)
	s, err := hub.Subscribe(t.Context(), "c", "other.5", nil)
	if err != nil {
		t.Fatal(err)
	}
	if b := next(t, s); b.Reset != "epoch" || b.Next != hub.Cursor() {
		t.Errorf("%+v", b)
	}
	if _, err := hub.Subscribe(t.Context(), "c", "nonsense", nil); err != ErrCursor {
		t.Errorf("error %v", err)
	}
}

func TestSlowClientIsToldToFetchAgain(t *testing.T) {
	db, hub, log := open(t)
	makeChat(t, db, "chat_a")
	s, err := hub.Subscribe(t.Context(), "c", "", []string{"chat_a"})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 * maxMailbox / (64 << 10) {
		put(t, db, log, NewEntry(Item{Chat: "chat_a", Kind: Answer, Status: Completed, Body: Body{Text: strings.Repeat("x", 64<<10)}}, false))
	}
	var reset string
	for range 100 {
		b := next(t, s)
		if reset = b.Reset; reset != "" {
			break
		}
	}
	if reset != "too_slow" {
		t.Errorf("reset %q", reset)
	}
}

func TestNewerSubscriptionSupersedes(t *testing.T) {
	_, hub, _ := open(t)
	first, err := hub.Subscribe(t.Context(), "c", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		_, err := first.Next(t.Context(), MaxBatch)
		ended <- err
	}()
	if _, err := hub.Subscribe(t.Context(), "c", "", nil); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err != ErrSuperseded {
			t.Errorf("error %v", err)
		}
	case <-time.After(5 * time.Second):
		t.Error("the older subscription still waits")
	}
}

func TestFollowingIsConfirmedAtOnce(t *testing.T) {
	db, hub, _ := open(t)
	makeChat(t, db, "c1")
	makeChat(t, db, "c2")
	sub, err := hub.Subscribe(t.Context(), "page", "", []string{"c1"})
	if err != nil {
		t.Fatal(err)
	}
	if b := next(t, sub); len(b.Follows) != 1 || b.Follows[0] != "c1" {
		t.Fatalf("first batch follows %v, want c1", b.Follows)
	}
	if err := sub.Follow([]string{"c1", "c2"}); err != nil {
		t.Fatal(err)
	}
	first := next(t, sub)
	if len(first.Follows) != 2 {
		t.Fatalf("after a further chat the batch follows %v, want both", first.Follows)
	}

	// The confirmation is said once, and again when a batch was lost.
	sub, err = hub.Subscribe(t.Context(), "page", first.Next, []string{"c1", "c2"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if b, err := sub.Next(ctx, MaxBatch); err != nil || b.Follows != nil {
		t.Fatalf("said twice: %v, %v", b.Follows, err)
	}
	sub, err = hub.Subscribe(t.Context(), "page", "", []string{"c1", "c2"})
	if err != nil {
		t.Fatal(err)
	}
	if b := next(t, sub); len(b.Follows) != 2 {
		t.Fatalf("a client that starts anew follows %v, want both", b.Follows)
	}
}

func TestClientWithoutCursorGetsOneAtOnce(t *testing.T) {
	_, hub, _ := open(t)
	sub, err := hub.Subscribe(t.Context(), "page", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if b := next(t, sub); b.Next != hub.Cursor() {
		t.Fatalf("cursor %q, want %q", b.Next, hub.Cursor())
	}
}

// A client that makes room for others must find out: a socket that went on
// waiting would never hear anything again.
func TestAClientThatMakesRoomIsTold(t *testing.T) {
	_, hub, _ := open(t)
	subscribe := func(client string) *Subscription {
		t.Helper()
		s, err := hub.Subscribe(t.Context(), client, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		next(t, s)
		return s
	}
	first := subscribe("first")
	ended := make(chan error)
	go func() {
		_, err := first.Next(t.Context(), MaxBatch)
		ended <- err
	}()
	for hub.waiting() == 0 {
		runtime.Gosched()
	}
	idle := subscribe("idle")
	for i := range maxClients - 1 {
		subscribe(fmt.Sprint("page", i))
	}
	// The idle one went first; the one that waits goes when all wait.
	if _, err := idle.Next(t.Context(), MaxBatch); err != ErrSuperseded {
		t.Errorf("the idle client that made room: %v", err)
	}
	if hub.waiting() != 1 {
		t.Fatal("a client that waits made room although others were idle")
	}
	hub.mu.Lock()
	for _, m := range hub.clients {
		m.waiting = true
	}
	hub.mu.Unlock()
	subscribe("one more")
	select {
	case err := <-ended:
		if err != ErrSuperseded {
			t.Errorf("the client that made room: %v", err)
		}
	case <-time.After(5 * time.Second):
		t.Error("the client that made room still waits")
	}
	if len(hub.clients) > maxClients {
		t.Errorf("%d clients", len(hub.clients))
	}
}

func (h *Hub) waiting() (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, m := range h.clients {
		if m.waiting {
			n++
		}
	}
	return n
}

// What a client that does not read costs those who write stays small: pieces
// run together only so far, and nothing is kept once it must fetch again.
func TestUnreadTextIsKeptInBoundedPieces(t *testing.T) {
	db, hub, log := open(t)
	makeChat(t, db, "chat_a")
	s, err := hub.Subscribe(t.Context(), "c", "", []string{"chat_a"})
	if err != nil {
		t.Fatal(err)
	}
	en := NewEntry(Item{Chat: "chat_a", Kind: Answer, Status: InProgress}, true)
	put(t, db, log, en)
	for range 1000 {
		log.Live(en, strings.Repeat("x", 100))
	}
	var got []Batch
	for text := ""; len(text) < 100_000; text, _ = read(en.ID, got...) {
		b := next(t, s)
		for _, d := range b.Deltas {
			if len(d.Text) > maxRun {
				t.Errorf("a piece of %d bytes", len(d.Text))
			}
		}
		got = append(got, b)
	}
	for range 3 * maxMailbox / 1000 {
		log.Live(en, strings.Repeat("y", 1000))
	}
	if n := len(s.box.entries); n > 0 {
		t.Errorf("%d entries wait for a client that will fetch again", n)
	}
	if b := next(t, s); b.Reset != "too_slow" || b.Next != hub.Cursor() {
		t.Errorf("reset %q, next %s", b.Reset, b.Next)
	}
	log.Live(en, "after")
	if b := next(t, s); len(b.Deltas) != 1 || b.Deltas[0].Text != "after" {
		t.Errorf("after the reset: %+v", b)
	}
}

func TestAPageIsBoundedInBytes(t *testing.T) {
	db, _, log := open(t)
	makeChat(t, db, "chat_a")
	for range 4 {
		put(t, db, log, NewEntry(Item{Chat: "chat_a", Kind: Answer, Status: Completed}, false))
	}
	const size = 4096
	grow := func(bytes int) {
		t.Helper()
		err := db.Write(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Exec(`update items set body = '{"text":"' || hex(zeroblob(?)) || '"}'`, bytes/2)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	grow(size * 2 / 5)
	for _, from := range []struct{ before, after int64 }{{0, 0}, {5, 0}, {0, 1}} {
		items, _, _, err := log.page(t.Context(), "chat_a", from.before, from.after, 10, size)
		if err != nil || len(items) != 2 {
			t.Errorf("%+v: %d items, %v", from, len(items), err)
		}
	}
	newest, before, after, err := log.page(t.Context(), "chat_a", 0, 0, 10, size)
	if err != nil || newest[1].Seq != 4 || !before || after {
		t.Errorf("newest page: before %v, after %v, %v", before, after, err)
	}
	grow(size + 1)
	if items, _, _, err := log.page(t.Context(), "chat_a", 0, 0, 10, size); err != nil || len(items) != 1 {
		t.Errorf("a larger item: %d items, %v", len(items), err)
	}
}

func TestCatchingUpIsBoundedInBytes(t *testing.T) {
	db, hub, log := open(t)
	makeChat(t, db, "chat_a")
	from := hub.Cursor()
	for range 2 * maxMailbox / (256 << 10) {
		put(t, db, log, NewEntry(Item{Chat: "chat_a", Kind: Answer, Status: Completed, Body: Body{Text: strings.Repeat("x", 256<<10)}}, false))
	}
	s, err := hub.Subscribe(t.Context(), "c", from, []string{"chat_a"})
	if err != nil {
		t.Fatal(err)
	}
	if b := next(t, s); b.Reset != "too_slow" || len(b.Items) != 0 || b.Next != hub.Cursor() {
		t.Errorf("reset %q with %d items, next %s", b.Reset, len(b.Items), b.Next)
	}
}
