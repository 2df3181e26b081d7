package event

import (
	"encoding/json"
	"time"
)

// Type says what an event reports. The set is open.
type Type string

// The types of event. Item events reach clients as snapshots of their item,
// the others as events.
const (
	TypeItem     Type = "item"      // body: Item without the text that streams
	TypeItemText Type = "item.text" // body: {"text"}: the next piece of the item's text
	TypeTurn     Type = "turn"      // body: chat.Turn
	TypeChat     Type = "chat"      // live only, without id; body: chat.Chat, the summary for lists
	TypeCreated  Type = "chat.created"
	TypeChanged  Type = "chat.changed" // its summary follows
	TypeDeleted  Type = "chat.deleted"
	TypeSettings Type = "settings"
	TypePhrases  Type = "phrases" // the saved phrases changed: fetch again
	TypeAgents   Type = "agents"  // what is known of the agents changed: fetch again
)

// Event is one fact in the log.
type Event struct {
	ID   int64           `json:"id" doc:"Global cursor; never reused."`
	Chat string          `json:"chat,omitempty"`
	Seq  int64           `json:"seq,omitempty" doc:"Number within the chat; never reused."`
	Turn string          `json:"turn,omitempty"`
	Item string          `json:"item,omitempty"`
	Type Type            `json:"type"`
	At   time.Time       `json:"at"`
	Body json.RawMessage `json:"body"`
}

// Delta is a piece of text added to an item (body.text). It is live only: it
// has no id and is not stored.
type Delta struct {
	Item     string `json:"item"`
	Revision int64  `json:"revision"`
	Offset   int    `json:"offset" doc:"Length of the text before, in UTF-16 units as JavaScript counts them. A delta that does not fit is dropped."`
	Text     string `json:"text"`
}

// Batch is what a subscriber gets at once (CONTRACTS, Stream).
type Batch struct {
	Epoch  string  `json:"epoch" doc:"Changes when a database is restored: fetch again."`
	Next   string  `json:"next" doc:"Cursor for the next request, <epoch>.<id>."`
	Reset  string  `json:"reset,omitempty" enum:"epoch,too_slow,unknown_client" doc:"Fetch again, and why."`
	Events []Event `json:"events"`
	Items  []Item  `json:"items"`
	Deltas []Delta `json:"deltas"`
	// Follows comes once after a client follows further chats, at once and
	// even if nothing else happened: a page of items read from now on has no
	// gap to what the stream brings. A client without a cursor gets its first
	// batch at once for the same reason.
	Follows []string `json:"follows,omitempty" doc:"The chats whose items come from here on; in the first batch after chats were added."`
}
