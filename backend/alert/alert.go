// Package alert decides what is worth telling a user who looks elsewhere: a
// chat that needs the human, and a turn that ended.
//
// It follows the summaries of the chats, as every client may. A notice is
// given once for each request and once for each turn; what already waited or
// had ended when the following began is no news. A client that falls behind
// starts anew from the present, so a burst is told of late or not at all, but
// never twice.
package alert

import (
	"encoding/json"

	"berth/backend/chat"
	"berth/backend/event"
)

// Notice is one thing to tell.
type Notice struct {
	Chat     string // id
	Title    string // of the chat
	Text     string // what is asked, or what was said last
	NeedsYou bool   // the human is asked; otherwise a turn ended
	// Outcome of a turn that ended.
	Outcome chat.TurnState
	// Request that waits, or Turn that ended: what makes the notice one.
	Request, Turn string
}

// Watch turns summaries into notices. It belongs to one goroutine.
type Watch struct {
	chats map[string]known
}

// known is what was last seen of a chat.
type known struct {
	waiting map[string]bool // requests
	turn    string
	ended   bool
	work    bool
}

// Begin forgets what was known and takes the chats as they are.
func (w *Watch) Begin(chats []chat.Chat) {
	w.chats = make(map[string]known, len(chats))
	for _, c := range chats {
		w.see(c)
	}
}

// Event takes an event of the stream and gives the notices that follow.
func (w *Watch) Event(e event.Event) []Notice {
	switch e.Type {
	case event.TypeDeleted:
		delete(w.chats, e.Chat)
	case event.TypeChat:
		var c chat.Chat
		if json.Unmarshal(e.Body, &c) == nil && c.ID != "" {
			return w.see(c)
		}
	}
	return nil
}

// Working counts the chats with a turn that lives.
func (w *Watch) Working() int {
	n := 0
	for _, k := range w.chats {
		if k.work {
			n++
		}
	}
	return n
}

func (w *Watch) see(c chat.Chat) []Notice {
	before := w.chats[c.ID]
	now := known{waiting: map[string]bool{}, work: AtWork(c)}
	var notices []Notice
	for _, r := range c.Waiting {
		now.waiting[r.Request] = true
		if !before.waiting[r.Request] {
			notices = append(notices, Notice{Chat: c.ID, Title: c.Title, Text: r.Title, NeedsYou: true, Request: r.Request})
		}
	}
	if t := c.Turn; t != nil {
		now.turn, now.ended = t.ID, t.State.Terminal()
		if now.ended && worthTelling(t.State) && !(before.turn == t.ID && before.ended) {
			notices = append(notices, Notice{Chat: c.ID, Title: c.Title, Text: c.LastLine, Outcome: t.State, Turn: t.ID})
		}
	}
	w.chats[c.ID] = now
	return notices
}

// worthTelling leaves out a turn that the user stopped.
func worthTelling(s chat.TurnState) bool { return s != chat.TurnStopped }

// AtWork says whether a chat has a turn that lives.
func AtWork(c chat.Chat) bool {
	return c.State == chat.Running || c.State == chat.AwaitingInput || c.Queued > c.Held
}
