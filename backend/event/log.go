package event

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"berth/backend/store"
)

// Log appends events and keeps the items table in step, in the caller's
// transaction. Its methods may be called from any goroutine; an Entry belongs
// to one.
type Log struct {
	db  *store.DB
	hub *Hub
}

// NewLog makes the log of a database; what is committed is published on hub.
func NewLog(db *store.DB, hub *Hub) *Log { return &Log{db: db, hub: hub} }

// Entry is an item that is being written, by one goroutine; others see what
// was published of it. Its text may stream: then the pieces are item.text
// events until the item has ended, and only then stand in the items table
// whole.
type Entry struct {
	Item

	streaming bool
	text      *strings.Builder // behind Body.Text while it grows
	stored    int              // bytes of Body.Text that are in item.text events
	units     int              // length of Body.Text in UTF-16 units
}

// NewEntry makes an entry for an item that does not exist yet. A streaming
// one gets its text by Append.
func NewEntry(item Item, streaming bool) *Entry {
	if item.ID == "" {
		item.ID = store.NewID("item")
	}
	if item.At.IsZero() {
		item.At = store.Now()
	}
	return &Entry{Item: item, streaming: streaming, units: utf16Len(item.Body.Text)}
}

// Append writes one event of a chat (Chat set) or of the whole backend.
func (l *Log) Append(tx *store.Tx, e Event) error {
	if err := l.append(tx, &e); err != nil {
		return err
	}
	tx.AfterCommit(func() { l.hub.publish(e) })
	return nil
}

func (l *Log) append(tx *store.Tx, e *Event) error {
	if e.At.IsZero() {
		e.At = store.Now()
	}
	if len(e.Body) == 0 {
		e.Body = json.RawMessage("{}")
	}
	var chat, seq any
	if e.Chat != "" {
		chat = e.Chat
		err := tx.QueryRow("update chats set seq = seq + 1 where id = ? returning seq", e.Chat).Scan(&e.Seq)
		if err != nil {
			return fmt.Errorf("number the event: %w", err)
		}
		seq = e.Seq
	}
	res, err := tx.Exec("insert into events(chat_id, seq, turn_id, item_id, type, at, body) values(?,?,?,?,?,?,?)",
		chat, seq, null(e.Turn), null(e.Item), e.Type, e.At.UnixMilli(), string(e.Body))
	if err != nil {
		return fmt.Errorf("append an event: %w", err)
	}
	e.ID, err = res.LastInsertId()
	return err
}

// Put writes the entry as it now is: its first appearance gives it its place,
// each Put raises its revision. While it streams its text stays in item.text
// events; text that is not flushed yet is written with it. When the write is
// undone, the entry is as it was before.
func (l *Log) Put(tx *store.Tx, en *Entry) error {
	restoreIfUndone(tx, en)
	first := en.Seq == 0
	ended := en.Status != InProgress && en.Status != Pending
	if first && ended {
		en.streaming = false
	}
	if !first {
		if err := l.flush(tx, en); err != nil {
			return err
		}
	}
	facts := en.Item
	if en.streaming {
		facts.Body.Text = "" // the pieces hold it
	}
	if ended {
		en.streaming = false
	}
	en.Revision++
	facts.Revision = en.Revision
	body, err := json.Marshal(facts)
	if err != nil {
		return fmt.Errorf("encode an item: %w", err)
	}
	e := Event{Chat: en.Chat, Turn: en.Turn, Item: en.ID, Type: TypeItem, Body: body}
	if err := l.append(tx, &e); err != nil {
		return err
	}
	if first {
		en.Seq = e.Seq
	}
	if err := l.project(tx, en, e.Seq); err != nil {
		return err
	}
	if first {
		if err := l.flush(tx, en); err != nil {
			return err
		}
	}
	item, streaming := en.Item, en.streaming
	tx.AfterCommit(func() { l.hub.publishItem(e, item, streaming) })
	return nil
}

// restoreIfUndone lets the entry in memory follow a write that is undone.
func restoreIfUndone(tx *store.Tx, en *Entry) {
	saved := *en
	tx.AfterUndo(func() { *en = saved })
}

func (l *Log) project(tx *store.Tx, en *Entry, seq int64) error {
	stored := en.Body
	if en.streaming {
		stored.Text = ""
	}
	body, err := json.Marshal(stored)
	if err != nil {
		return fmt.Errorf("encode an item's body: %w", err)
	}
	_, err = tx.Exec(`insert into items(id, chat_id, turn_id, parent_id, kind, status, seq, last_event, revision, at, summary, provider_id, streaming, body)
		values(?,?,?,?,?,?,?,?,?,?,?,?,?,?)
		on conflict(id) do update set kind = excluded.kind, status = excluded.status, last_event = excluded.last_event, parent_id = excluded.parent_id,
		revision = excluded.revision, summary = excluded.summary, provider_id = excluded.provider_id, streaming = excluded.streaming, body = excluded.body`,
		en.ID, en.Chat, null(en.Turn), null(en.Parent), en.Kind, en.Status, en.Seq, seq, en.Revision, en.At.UnixMilli(),
		en.Summary, en.ProviderID, en.streaming, string(body))
	if err != nil {
		return fmt.Errorf("write an item: %w", err)
	}
	return nil
}

// Live adds streaming text and shows it at once, before it is stored: Flush
// stores it.
func (l *Log) Live(en *Entry, text string) { l.hub.appendText(en, text) }

// ReplaceText sets the whole text, as the agent finally states it. Where it
// is not what was streamed, the text leaves the pieces and is stored whole.
func (l *Log) ReplaceText(en *Entry, text string) {
	if en.Body.Text == text {
		return
	}
	if en.streaming && !strings.HasPrefix(text, en.Body.Text[:en.stored]) {
		en.streaming = false
	}
	en.Body.Text, en.text = text, nil
	en.units = utf16Len(text)
}

// Unflushed is how many bytes of streaming text are not stored yet.
func (en *Entry) Unflushed() int {
	if !en.streaming {
		return 0
	}
	return len(en.Body.Text) - en.stored
}

// Flush stores the streaming text that is not stored yet, as one event.
func (l *Log) Flush(tx *store.Tx, en *Entry) error {
	restoreIfUndone(tx, en)
	return l.flush(tx, en)
}

func (l *Log) flush(tx *store.Tx, en *Entry) error {
	if en.Unflushed() == 0 {
		return nil
	}
	body, err := json.Marshal(map[string]string{"text": en.Body.Text[en.stored:]})
	if err != nil {
		return fmt.Errorf("encode streamed text: %w", err)
	}
	e := Event{Chat: en.Chat, Turn: en.Turn, Item: en.ID, Type: TypeItemText, Body: body}
	if err := l.append(tx, &e); err != nil {
		return err
	}
	en.stored = len(en.Body.Text)
	tx.AfterCommit(func() { l.hub.publish(e) })
	return nil
}

const itemColumns = "id, chat_id, coalesce(turn_id,''), coalesce(parent_id,''), kind, status, seq, revision, at, summary, provider_id, streaming, body"

// pageBytes is about how large the stored items of a page are together; one
// larger item comes alone.
const pageBytes = 4 << 20

// Page gives up to limit items of a chat, oldest first: those before a seq,
// those after one, or the newest; fewer where they are large. Its cost is that
// of the page.
func (l *Log) Page(ctx context.Context, chat string, before, after int64, limit int) (items []Item, hasBefore, hasAfter bool, err error) {
	return l.page(ctx, chat, before, after, limit, pageBytes)
}

func (l *Log) page(ctx context.Context, chat string, before, after int64, limit, size int) (_ []Item, hasBefore, hasAfter bool, _ error) {
	query, args := "select "+itemColumns+" from items where chat_id = ? ", []any{chat}
	switch {
	case after > 0:
		query += "and seq > ? order by seq limit ?"
		args = append(args, after, limit+1)
	case before > 0:
		query += "and seq < ? order by seq desc limit ?"
		args = append(args, before, limit+1)
	default:
		query += "order by seq desc limit ?"
		args = append(args, limit+1)
	}
	items, more, err := l.query(ctx, size, query, args...)
	if err != nil {
		return nil, false, false, err
	}
	if len(items) > limit {
		items, more = items[:limit], true
	}
	if after > 0 {
		return items, true, more, nil
	}
	for i, j := 0, len(items)-1; i < j; i, j = i+1, j-1 {
		items[i], items[j] = items[j], items[i]
	}
	return items, more, before > 0, nil
}

// Item gives one item, sql.ErrNoRows if there is none.
func (l *Log) Item(ctx context.Context, id string) (Item, error) {
	items, err := l.Select(ctx, "id = ?", id)
	if err != nil {
		return Item{}, err
	}
	if len(items) == 0 {
		return Item{}, sql.ErrNoRows
	}
	return items[0], nil
}

// Select gives items by a condition of the caller's, for projections that are
// not pages. where is a fixed text of the program's, never input.
func (l *Log) Select(ctx context.Context, where string, args ...any) ([]Item, error) {
	items, _, err := l.query(ctx, math.MaxInt, "select "+itemColumns+" from items where "+where, args...)
	return items, err
}

// query reads items until their bodies pass limit, in bytes; more says that
// there are others.
func (l *Log) query(ctx context.Context, limit int, query string, args ...any) (items []Item, more bool, err error) {
	rows, err := l.db.Read().QueryContext(ctx, query, args...)
	if err != nil {
		return nil, false, fmt.Errorf("read items: %w", err)
	}
	defer rows.Close()
	items = []Item{}
	size := 0
	var unfinished []int
	for rows.Next() {
		var it Item
		var at int64
		var streaming bool
		var body []byte
		if err := rows.Scan(&it.ID, &it.Chat, &it.Turn, &it.Parent, &it.Kind, &it.Status, &it.Seq, &it.Revision, &at, &it.Summary, &it.ProviderID, &streaming, &body); err != nil {
			return nil, false, fmt.Errorf("read items: %w", err)
		}
		if size += len(body); size > limit && len(items) > 0 {
			more = true
			break
		}
		it.At = time.UnixMilli(at).UTC()
		if err := json.Unmarshal(body, &it.Body); err != nil {
			// One odd record must not break a chat: it is shown as it is.
			it.Body = Body{Ext: json.RawMessage(`{"unreadable":true}`)}
		}
		if streaming {
			unfinished = append(unfinished, len(items))
		}
		items = append(items, it)
	}
	if err := rows.Err(); err != nil {
		return nil, false, fmt.Errorf("read items: %w", err)
	}
	for _, i := range unfinished {
		if err := l.streamedText(ctx, &items[i]); err != nil {
			return nil, false, err
		}
	}
	return items, more, nil
}

// streamedText completes an item whose text still streams: from memory, or
// from its pieces where the stream was cut off by the end of a backend.
func (l *Log) streamedText(ctx context.Context, it *Item) error {
	if l.hub.liveText(it) {
		return nil
	}
	text, err := StoredText(ctx, l.db.Read(), it.ID)
	it.Body.Text = text
	return err
}

// Queryer runs queries: a reader pool, or a Tx.
type Queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// StoredText joins the pieces of a streaming item.
func StoredText(ctx context.Context, q Queryer, item string) (string, error) {
	rows, err := q.QueryContext(ctx, "select body from events where item_id = ? and type = 'item.text' order by id", item)
	if err != nil {
		return "", fmt.Errorf("read streamed text: %w", err)
	}
	defer rows.Close()
	var b strings.Builder
	for rows.Next() {
		var body []byte
		var piece struct{ Text string }
		if err := rows.Scan(&body); err != nil {
			return "", fmt.Errorf("read streamed text: %w", err)
		}
		if err := json.Unmarshal(body, &piece); err != nil {
			return "", fmt.Errorf("read streamed text: %w", err)
		}
		b.WriteString(piece.Text)
	}
	return b.String(), rows.Err()
}

func null(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// utf16Len is the length of s as JavaScript counts it.
func utf16Len(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}
