package event

import "time"

// mailbox holds what one client has not fetched yet. It is guarded by the
// hub's lock. A newer state of an item or a summary takes the place of an
// older one that still waits, and deltas of an item run together, so that a
// slow client gets the latest, not the backlog.
type mailbox struct {
	wake    chan struct{}
	gen     int
	waiting bool
	used    time.Time
	chats   map[string]bool

	entries       []entry
	size          int
	seen          int64 // newest event that went through
	sent          int64 // cursor given to the client last, -1 for none
	seenAtRestart int64
	reset         string
	follows       []string // to be said with the next batch
}

type entry struct {
	id    int64 // the cursor once this entry is delivered
	event *Event
	item  *Item
	delta *Delta
	bytes int
}

// signal wakes all that wait: the present subscription and those it
// superseded.
func (m *mailbox) signal() {
	if m.waiting {
		m.waiting = false
		close(m.wake)
		m.wake = make(chan struct{})
	}
}

// idlerThan says which of two gives way to a new client.
func (m *mailbox) idlerThan(o *mailbox) bool {
	if m.waiting != o.waiting {
		return o.waiting
	}
	return m.used.Before(o.used)
}

func (m *mailbox) mu(h *Hub, f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f()
}

// follow sets the chats and returns those that are new.
func (m *mailbox) follow(chats []string) (fresh []string) {
	next := make(map[string]bool, len(chats))
	for _, c := range chats {
		if c == "" {
			continue
		}
		next[c] = true
		if !m.chats[c] {
			fresh = append(fresh, c)
		}
	}
	m.chats = next
	if len(fresh) > 0 {
		m.follows = chats
		m.signal()
	}
	return fresh
}

func (m *mailbox) restart(seen int64) {
	m.entries, m.size, m.reset = nil, 0, ""
	m.seen, m.seenAtRestart, m.sent = seen, seen, seen
}

func (m *mailbox) prepend(front []entry) {
	for i := range front {
		front[i].bytes = front[i].weigh()
		m.size += front[i].bytes
	}
	m.entries = append(front, m.entries...)
	m.signal()
}

func (m *mailbox) put(e entry) {
	if e.event.Type == TypeChat {
		m.drop(func(o entry) bool { return o.event != nil && o.event.Type == TypeChat && o.event.Chat == e.event.Chat })
	}
	m.push(e)
}

func (m *mailbox) putItem(id int64, item Item) {
	if !m.chats[item.Chat] {
		return
	}
	m.drop(func(o entry) bool {
		return o.item != nil && o.item.ID == item.ID || o.delta != nil && o.delta.Item == item.ID
	})
	m.push(entry{id: id, item: &item})
}

// maxRun is how far deltas run together, in bytes: each piece added copies
// those before it, under the lock that all share.
const maxRun = 4 << 10

func (m *mailbox) putDelta(d Delta) {
	if n := len(m.entries); n > 0 {
		last := m.entries[n-1].delta
		if last != nil && last.Item == d.Item && last.Revision == d.Revision && len(last.Text)+len(d.Text) <= maxRun {
			last.Text += d.Text
			m.entries[n-1].bytes += len(d.Text)
			m.size += len(d.Text)
			m.bound()
			return
		}
	}
	m.push(entry{id: m.seen, delta: &d})
}

// drop removes waiting entries that a newer one makes needless.
func (m *mailbox) drop(stale func(entry) bool) {
	kept := m.entries[:0]
	for _, e := range m.entries {
		if stale(e) {
			m.size -= e.bytes
		} else {
			kept = append(kept, e)
		}
	}
	clear(m.entries[len(kept):])
	m.entries = kept
}

func (m *mailbox) push(e entry) {
	if m.reset == tooSlow {
		return // it will fetch again what this tells
	}
	e.bytes = e.weigh()
	m.entries = append(m.entries, e)
	m.size += e.bytes
	m.bound()
	m.signal()
}

// bound gives up on a client that is too slow: it keeps nothing for it but
// the word to fetch again.
func (m *mailbox) bound() {
	if m.size > maxMailbox && len(m.entries) > 1 {
		m.entries, m.size = nil, 0
		m.reset = tooSlow
	}
}

// tooSlow is the reset of a client that did not keep up.
const tooSlow = "too_slow"

// envelope is what an entry weighs beside its texts, in bytes.
const envelope = 256

func (e entry) weigh() int {
	switch {
	case e.event != nil:
		return envelope + len(e.event.Body)
	case e.delta != nil:
		return envelope + len(e.delta.Text)
	}
	b := e.item.Body
	n := envelope + len(b.Text) + len(b.Ext) + len(e.item.Summary)
	if b.Tool != nil {
		n += len(b.Tool.Output) + len(b.Tool.Input) + len(b.Tool.Title)
		for _, f := range b.Tool.Files {
			n += len(f.Patch)
		}
	}
	if b.Request != nil {
		n += envelope + len(b.Request.Input) + len(b.Request.Command)
	}
	for _, f := range b.Files {
		n += len(f.Patch)
	}
	return n
}

func (m *mailbox) ready() bool {
	return len(m.entries) > 0 || m.reset != "" || m.follows != nil
}

// take removes up to about limit bytes and moves the client's cursor.
func (m *mailbox) take(h *Hub, limit int) Batch {
	b := Batch{Epoch: h.epoch, Reset: m.reset, Events: []Event{}, Items: []Item{}, Deltas: []Delta{}, Follows: m.follows}
	m.reset, m.follows = "", nil
	size, n := 0, 0
	for _, e := range m.entries {
		if n > 0 && size+e.bytes > limit {
			break
		}
		size += e.bytes
		n++
		switch {
		case e.event != nil:
			b.Events = append(b.Events, *e.event)
		case e.item != nil:
			b.Items = append(b.Items, *e.item)
		default:
			b.Deltas = append(b.Deltas, *e.delta)
		}
		m.sent = max(m.sent, e.id)
	}
	clear(m.entries[:n])
	m.entries = m.entries[n:]
	m.size -= size
	if len(m.entries) == 0 {
		m.entries = nil
		m.sent = m.seen
	}
	b.Next = h.cursor(m.sent)
	return b
}
