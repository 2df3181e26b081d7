package event

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"berth/backend/store"
)

// Bounds of the live stream.
const (
	// MaxBatch is the size of a batch, in bytes as estimated; one larger item
	// goes alone. A web view takes batches of this size without piling up.
	MaxBatch = 64 << 10
	// maxMailbox is what may wait for one client before it is told to fetch
	// again.
	maxMailbox = 1 << 20
	// maxCatchUp is how many events are read to bring a client up to date;
	// beyond it, fetching again is cheaper.
	maxCatchUp = 5000
	// maxClients bounds memory; the one idle for longest makes room, and is
	// told that it lost its place.
	maxClients = 256
	// clientIdle is how long a client may stay away before its mailbox goes.
	// It can still resume from the database.
	clientIdle = 90 * time.Second
	// maxSubscribedChats is how many chats a client may follow at once.
	maxSubscribedChats = 64
)

// Errors of a subscription.
var (
	// ErrCursor: the cursor is not one of ours.
	ErrCursor = errors.New("after must be <epoch>.<id>")
	// ErrTooManyChats: see maxSubscribedChats.
	ErrTooManyChats = fmt.Errorf("at most %d chats can be followed at once", maxSubscribedChats)
	// ErrSuperseded ends a Next whose client subscribed again, or had to make
	// room for others: it resumes by its cursor.
	ErrSuperseded = errors.New("superseded by a newer subscription")
)

// Summaries gives the current summary of a chat as an event of TypeChat, for
// clients that catch up. A chat that is gone gives ok false.
type Summaries func(ctx context.Context, chat string) (e Event, ok bool)

// Hub hands what is committed to its subscribers, in commit order, and live
// text as it comes. Its methods may be called from any goroutine and never
// wait for a subscriber.
type Hub struct {
	mu      sync.Mutex
	db      *store.DB
	epoch   string
	last    int64 // newest event published
	clients map[string]*mailbox
	live    map[string]*Item // items whose text streams, as last published and with their text so far
	summary Summaries
	log     *Log
}

// NewHub makes the hub of a database.
func NewHub(ctx context.Context, db *store.DB) (*Hub, error) {
	h := &Hub{db: db, epoch: db.Epoch(), clients: map[string]*mailbox{}, live: map[string]*Item{}}
	h.log = NewLog(db, h)
	err := db.Read().QueryRowContext(ctx, "select coalesce(max(id), 0) from events").Scan(&h.last)
	if err != nil {
		return nil, fmt.Errorf("read the last event: %w", err)
	}
	return h, nil
}

// SetSummaries says where summaries of chats come from.
func (h *Hub) SetSummaries(s Summaries) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.summary = s
}

// Cursor is the place after the newest event.
func (h *Hub) Cursor() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.cursor(h.last)
}

func (h *Hub) cursor(id int64) string { return h.epoch + "." + strconv.FormatInt(id, 10) }

// ParseCursor splits a cursor into epoch and id.
func ParseCursor(s string) (epoch string, id int64, err error) {
	epoch, rest, ok := strings.Cut(s, ".")
	id, perr := strconv.ParseInt(rest, 10, 64)
	if !ok || epoch == "" || perr != nil || id < 0 {
		return "", 0, ErrCursor
	}
	return epoch, id, nil
}

func (h *Hub) publish(e Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last = e.ID
	for _, m := range h.clients {
		m.seen = e.ID
		if e.Type != TypeItemText {
			m.put(entry{id: e.ID, event: &e})
		}
	}
}

func (h *Hub) publishItem(e Event, item Item, streaming bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last = e.ID
	if streaming {
		h.live[item.ID] = &item
	} else {
		delete(h.live, item.ID)
	}
	for _, m := range h.clients {
		m.seen = e.ID
		m.putItem(e.ID, item)
	}
}

// PushSummary tells subscribers that a chat's summary changed. It is live
// only: a client that was away gets the summary when it catches up.
func (h *Hub) PushSummary(e Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, m := range h.clients {
		m.put(entry{id: m.seen, event: &e})
	}
}

func (h *Hub) appendText(en *Entry, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	d := Delta{Item: en.ID, Revision: en.Revision, Offset: en.units, Text: text}
	if en.text == nil {
		en.text = new(strings.Builder)
		en.text.WriteString(en.Body.Text)
	}
	en.text.WriteString(text)
	en.Body.Text = en.text.String()
	en.units += utf16Len(text)
	if live := h.live[en.ID]; live != nil {
		live.Body.Text = en.Body.Text
	}
	for _, m := range h.clients {
		if m.chats[en.Chat] {
			m.putDelta(d)
		}
	}
}

// liveText completes it from memory, if its text streams now.
func (h *Hub) liveText(it *Item) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	live := h.live[it.ID]
	if live == nil {
		return false
	}
	it.Body.Text, it.Revision = live.Body.Text, live.Revision
	return true
}

// Subscription is a client's place in the stream. It belongs to one
// goroutine.
type Subscription struct {
	hub *Hub
	box *mailbox
	gen int
}

// Subscribe gives the client a subscription that goes on after the cursor
// (exclusive), or from now without one. Chat summaries are always included,
// items and deltas only of the chats named. A newer subscription of a client
// supersedes its older one.
func (h *Hub) Subscribe(ctx context.Context, client, after string, chats []string) (*Subscription, error) {
	if len(chats) > maxSubscribedChats {
		return nil, ErrTooManyChats
	}
	epoch, id := h.epoch, int64(-1)
	if after != "" {
		var err error
		if epoch, id, err = ParseCursor(after); err != nil {
			return nil, err
		}
	}
	h.mu.Lock()
	m := h.clients[client]
	if m == nil {
		h.forgetIdle()
		m = &mailbox{wake: make(chan struct{}), chats: map[string]bool{}, seen: h.last, sent: -1}
		h.clients[client] = m
	}
	m.used = time.Now()
	m.gen++
	m.signal()
	s := &Subscription{hub: h, box: m, gen: m.gen}
	fresh := m.follow(chats)
	switch {
	case epoch != h.epoch || id > h.last:
		m.restart(h.last)
		m.reset = "epoch"
	case id < 0:
		m.restart(h.last)
		fresh = chats
	case id != m.sent:
		m.restart(h.last)
		h.mu.Unlock()
		if err := s.catchUp(ctx, id, m.seenAtRestart); err != nil {
			return nil, err
		}
		h.mu.Lock()
		fresh = chats
	}
	h.introduce(m, fresh)
	if len(fresh) > 0 || id < 0 {
		m.follows = append([]string{}, chats...)
	}
	h.mu.Unlock()
	return s, nil
}

// introduce gives a client the items of chats whose text streams now.
func (h *Hub) introduce(m *mailbox, chats []string) {
	for _, live := range h.live {
		if slices.Contains(chats, live.Chat) {
			m.putItem(m.seen, *live)
		}
	}
}

// forgetIdle drops the mailboxes of clients that stay away, and where that
// makes no room for another, the one that was idle for longest: of those that
// wait only when all do.
func (h *Hub) forgetIdle() {
	var oldest string
	for name, m := range h.clients {
		if !m.waiting && time.Since(m.used) > clientIdle {
			h.forget(name)
		} else if oldest == "" || m.idlerThan(h.clients[oldest]) {
			oldest = name
		}
	}
	if len(h.clients) >= maxClients {
		h.forget(oldest)
	}
}

// forget drops a mailbox; whoever still reads it is told.
func (h *Hub) forget(name string) {
	m := h.clients[name]
	delete(h.clients, name)
	m.gen++
	m.signal()
}

// catchUp reads what happened after id and up to the event at which the
// mailbox began to collect, and puts it in front.
func (s *Subscription) catchUp(ctx context.Context, id, upTo int64) error {
	h, m := s.hub, s.box
	if upTo-id > maxCatchUp {
		m.mu(h, func() { m.reset = tooSlow })
		return nil
	}
	rows, err := h.db.Read().QueryContext(ctx, `select id, coalesce(chat_id,''), coalesce(seq,0), coalesce(turn_id,''), coalesce(item_id,''), type, at, body
		from events where id > ? and id <= ? order by id`, id, upTo)
	if err != nil {
		return fmt.Errorf("read events: %w", err)
	}
	defer rows.Close()
	var events []entry
	var items, chats []string
	size, known := 0, map[string]bool{"": true}
	isNew := func(id string) bool {
		defer func() { known[id] = true }()
		return !known[id]
	}
	for rows.Next() {
		var e Event
		var at int64
		var body []byte
		if err := rows.Scan(&e.ID, &e.Chat, &e.Seq, &e.Turn, &e.Item, &e.Type, &at, &body); err != nil {
			return fmt.Errorf("read events: %w", err)
		}
		e.At, e.Body = time.UnixMilli(at).UTC(), body
		if isNew(e.Chat) {
			chats = append(chats, e.Chat)
		}
		switch e.Type {
		case TypeItem, TypeItemText:
			if m.chats[e.Chat] && isNew(e.Item) {
				items = append(items, e.Item)
			}
		default:
			events = append(events, entry{id: e.ID, event: &e})
			size += events[len(events)-1].weigh()
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read events: %w", err)
	}
	// Items and summaries come first and do not move the cursor: a client
	// that loses a batch in the middle gets them again.
	var front []entry
	for _, item := range items {
		if size > maxMailbox {
			break
		}
		found, err := h.log.Select(ctx, "id = ?", item)
		if err != nil {
			return err
		}
		if len(found) == 1 {
			front = append(front, entry{id: id, item: &found[0]})
			size += front[len(front)-1].weigh()
		}
	}
	if size > maxMailbox {
		m.mu(h, func() { m.reset = tooSlow })
		return nil
	}
	for _, chat := range chats {
		if h.summary == nil {
			break
		}
		if e, ok := h.summary(ctx, chat); ok {
			front = append(front, entry{id: id, event: &e})
		}
	}
	front = append(front, events...)
	m.mu(h, func() { m.prepend(front) })
	return nil
}

// Follow changes the chats whose items the client gets; the streaming items
// of those that are new come with the next batch.
func (s *Subscription) Follow(chats []string) error {
	if len(chats) > maxSubscribedChats {
		return ErrTooManyChats
	}
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.hub.introduce(s.box, s.box.follow(chats))
	return nil
}

// Next waits until there is something, or ctx ends, and gives what waits, up
// to about max bytes. When ctx ends first the batch is empty and the error
// nil. ErrSuperseded comes with an empty batch.
func (s *Subscription) Next(ctx context.Context, max int) (Batch, error) {
	for {
		s.hub.mu.Lock()
		s.box.used = time.Now()
		if s.box.gen != s.gen {
			b := s.empty()
			s.hub.mu.Unlock()
			return b, ErrSuperseded
		}
		if s.box.ready() || ctx.Err() != nil {
			b := s.box.take(s.hub, max)
			s.box.waiting = false
			s.hub.mu.Unlock()
			return b, nil
		}
		s.box.waiting = true
		wake := s.box.wake
		s.hub.mu.Unlock()
		select {
		case <-wake:
		case <-ctx.Done():
		}
	}
}

func (s *Subscription) empty() Batch {
	return Batch{Epoch: s.hub.epoch, Next: s.hub.cursor(max(s.box.sent, 0)), Events: []Event{}, Items: []Item{}, Deltas: []Delta{}}
}

// Close forgets the client at once.
func (s *Subscription) Close() {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	for name, m := range s.hub.clients {
		if m == s.box && m.gen == s.gen {
			delete(s.hub.clients, name)
		}
	}
}
