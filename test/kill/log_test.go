package kill

import (
	"database/sql"
	"encoding/json"
	"net/url"
	"slices"

	_ "modernc.org/sqlite" // registers the driver

	"berth/backend/chat"
	"berth/backend/event"
)

// logged is an event as it stands in the database.
type logged struct {
	id, seq int64
	chat    string
	turn    string
	kind    event.Type
	body    string
}

// checkLog reads the database of the stopped program and holds the rules
// against it. before is what the follower had when the program died.
func (w *world) checkLog(before []event.Event) {
	w.t.Helper()
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: w.database()}).EscapedPath()+"?mode=ro")
	if err != nil {
		w.t.Fatal(err)
	}
	defer db.Close()
	var whole string
	if err := db.QueryRow("pragma integrity_check").Scan(&whole); err != nil || whole != "ok" {
		w.t.Fatalf("the database is damaged: %s, %v", whole, err)
	}
	events := w.events(db)
	w.acceptedIsKept(db)
	w.oneTerminalEvent(db, events)
	w.numbersNotReused(events, before)
	w.streamComplete(events)
	w.nothingOpen(db)
}

func (w *world) events(db *sql.DB) []logged {
	w.t.Helper()
	rows, err := db.Query("select id, coalesce(chat_id, ''), coalesce(seq, 0), coalesce(turn_id, ''), type, body from events order by id")
	if err != nil {
		w.t.Fatal(err)
	}
	defer rows.Close()
	var all []logged
	for rows.Next() {
		var e logged
		if err := rows.Scan(&e.id, &e.chat, &e.seq, &e.turn, &e.kind, &e.body); err != nil {
			w.t.Fatal(err)
		}
		all = append(all, e)
	}
	if err := rows.Err(); err != nil {
		w.t.Fatal(err)
	}
	return all
}

// acceptedIsKept is rule 2: each message that was accepted is there once,
// with its text.
func (w *world) acceptedIsKept(db *sql.DB) {
	w.t.Helper()
	for _, m := range w.messages {
		var count int
		var id, text string
		err := db.QueryRow("select count(*), coalesce(max(id), ''), coalesce(max(text), '') from turns where client_id = ?", m.clientID).Scan(&count, &id, &text)
		if err != nil {
			w.t.Fatal(err)
		}
		removed := w.wasRemoved(m)
		if m.turn != "" && !removed && (count != 1 || id != m.turn || text != m.text) {
			w.t.Errorf("the accepted message %q is there %d times, as turn %s (accepted as %s) with the text %q", m.text, count, id, m.turn, text)
		}
		if count > 1 {
			w.t.Errorf("the message %q is there %d times", m.text, count)
		}
	}
}

// wasRemoved says whether the test itself took the message out of the queue.
func (w *world) wasRemoved(m *message) bool { return slices.Contains(w.removed, m.turn) }

// oneTerminalEvent is rule 5.
func (w *world) oneTerminalEvent(db *sql.DB, events []logged) {
	w.t.Helper()
	ends := map[string]int{}
	open := "" // the turn that has the slot
	for _, e := range events {
		if e.kind != event.TypeTurn {
			continue
		}
		var turn chat.Turn
		if err := json.Unmarshal([]byte(e.body), &turn); err != nil {
			w.t.Fatalf("the turn event %d: %v", e.id, err)
		}
		switch {
		case turn.State.Terminal():
			ends[turn.ID]++
			open = ""
		case turn.State == chat.TurnStarting:
			if open != "" && open != turn.ID {
				w.t.Errorf("turn %s starts before turn %s has ended", turn.ID, open)
			}
			open = turn.ID
		case turn.State == chat.TurnUncertain, turn.State == chat.TurnQueued && turn.ID == open:
			open = ""
		}
	}
	rows, err := db.Query("select id, state, text from turns")
	if err != nil {
		w.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, text string
		var state chat.TurnState
		if err := rows.Scan(&id, &state, &text); err != nil {
			w.t.Fatal(err)
		}
		want := 0
		if state.Terminal() {
			want = 1
		}
		if ends[id] != want {
			w.t.Errorf("turn %s is %s and has %d terminal events", id, state, ends[id])
		}
		if !state.Terminal() {
			w.t.Errorf("turn %s is left %s", id, state)
		}
		if state == chat.TurnCompleted || state == chat.TurnInterrupted && w.atAgent {
			w.reachedAgent(text)
		}
	}
	if err := rows.Err(); err != nil {
		w.t.Fatal(err)
	}
}

// reachedAgent: a turn that says so was really seen by the agent.
func (w *world) reachedAgent(text string) {
	w.t.Helper()
	if n, err := w.agent.received(text); err != nil || n != 1 {
		w.t.Errorf("a turn was carried out, and the agent received its text %q %d times, %v", text, n, err)
	}
}

// numbersNotReused is the first half of rule 8: what a client saw before the
// death still stands under its number, and numbers only grow.
func (w *world) numbersNotReused(events []logged, before []event.Event) {
	w.t.Helper()
	byID := map[int64]logged{}
	last := map[string]int64{}
	for _, e := range events {
		byID[e.id] = e
		if e.chat == "" {
			continue
		}
		if e.seq <= last[e.chat] {
			w.t.Errorf("event %d has seq %d after %d", e.id, e.seq, last[e.chat])
		}
		last[e.chat] = e.seq
	}
	for _, e := range before {
		kept, there := byID[e.ID]
		if !there || kept.kind != e.Type || kept.seq != e.Seq || kept.turn != e.Turn {
			w.t.Errorf("event %d was seen as %s seq %d before the death, and now is %+v", e.ID, e.Type, e.Seq, kept)
		}
	}
}

// streamComplete is the other half: a client that came back saw each event
// once and in order, and has the items as they are.
func (w *world) streamComplete(events []logged) {
	w.t.Helper()
	f := w.follower
	if f.reset != "" {
		w.t.Errorf("the stream was reset: %s", f.reset)
	}
	var want, got []int64
	for _, e := range events {
		if e.id > f.began && e.kind != event.TypeItem && e.kind != event.TypeItemText {
			want = append(want, e.id)
		}
	}
	for _, e := range f.events {
		got = append(got, e.ID)
	}
	if end := f.lastID(); end != 0 { // what the stop of the program added, nobody followed
		want = slices.DeleteFunc(want, func(id int64) bool { return id > end })
	}
	if !slices.Equal(got, want) {
		w.t.Errorf("the client saw the events %v, the log has after %d %v", got, f.began, want)
	}
}

// nothingOpen: no request and no item is left waiting for an agent that is
// gone.
func (w *world) nothingOpen(db *sql.DB) {
	w.t.Helper()
	for what, query := range map[string]string{
		"items":     "select count(*) from items where status in ('pending', 'in_progress')",
		"requests":  "select count(*) from requests where state = 'pending'",
		"processes": "select count(*) from processes where ended_at is null",
	} {
		var n int
		if err := db.QueryRow(query).Scan(&n); err != nil {
			w.t.Fatal(err)
		}
		if n != 0 {
			w.t.Errorf("%d %s are left open", n, what)
		}
	}
}
