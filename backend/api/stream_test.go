package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"berth/backend/chat"
	"berth/backend/event"
	"berth/backend/store"
)

func TestPollTellsWhatHappens(t *testing.T) {
	w := newWorld(t)
	c, other := w.newChat(), w.newChat()
	f := w.follow(c.ID)
	var ids []int64
	items := map[string]event.Item{}
	var foreign, ended bool
	first, second := w.send(c.ID, "hello"), w.send(other.ID, "not for this follower")
	for range 100 {
		b := f.poll(5)
		for _, e := range b.Events {
			if e.ID > 0 {
				ids = append(ids, e.ID)
			}
			var turn chat.Turn
			if e.Type == event.TypeTurn && json.Unmarshal(e.Body, &turn) == nil && turn.State == chat.TurnCompleted {
				foreign = foreign || turn.ID == second.Turn
				ended = ended || turn.ID == first.Turn
			}
		}
		for _, i := range b.Items {
			items[i.ID] = i
		}
		if ended && foreign {
			break
		}
	}
	if !ended || !foreign {
		t.Fatal("the turns did not end")
	}
	if !slices.IsSorted(ids) || len(slices.Compact(slices.Clone(ids))) != len(ids) {
		t.Errorf("events came out of order or twice: %v", ids)
	}
	var texts []string
	for _, i := range items {
		if i.Chat != c.ID {
			t.Errorf("an item of a chat that is not followed: %+v", i)
		}
		texts = append(texts, string(i.Kind)+" "+i.Body.Text)
	}
	slices.Sort(texts)
	if !slices.Equal(texts, []string{"answer hello", "user_message hello"}) {
		t.Errorf("items: %q", texts)
	}
}

func TestPollEndsByItself(t *testing.T) {
	w := newWorld(t)
	f := w.follow()
	before, start := f.cursor, time.Now()
	b := f.poll(1)
	if took := time.Since(start); took < 900*time.Millisecond || took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
	if b.Next != before || b.Reset != "" || len(b.Events)+len(b.Items)+len(b.Deltas) != 0 {
		t.Errorf("nothing happened: %+v", b)
	}
	raw := string(w.call("GET", "/api/v1/stream?client=x&wait=0", nil).body)
	for _, list := range []string{`"events":[`, `"items":[`, `"deltas":[`} {
		if !strings.Contains(raw, list) {
			t.Errorf("%s is missing: %s", list, raw)
		}
	}
}

func TestANewerPollEndsTheOlder(t *testing.T) {
	w := newWorld(t)
	f := w.follow()
	path := fmt.Sprintf("/api/v1/stream?client=%s&after=%s", f.client, f.cursor)
	older := make(chan event.Batch)
	go func() { older <- decoded[event.Batch](w.call("GET", path+"&wait=25", nil)) }()
	// The newer one may come first; then the older is the newer, and ends it.
	newer := make(chan event.Batch)
	go func() { newer <- decoded[event.Batch](w.call("GET", path+"&wait=25", nil)) }()
	var left chan event.Batch
	var b event.Batch
	select {
	case b = <-older:
		left = newer
	case b = <-newer:
		left = older
	}
	if b.Next != f.cursor || b.Reset != "" || len(b.Events) != 0 {
		t.Errorf("the superseded poll gave %+v", b)
	}
	w.Handler.Close() // ends the one that still waits
	if b := <-left; b.Next != f.cursor {
		t.Errorf("the poll that was ended gave %+v", b)
	}
}

func TestResets(t *testing.T) {
	w := newWorld(t)
	c := w.newChat()
	if b := decoded[event.Batch](w.call("GET", "/api/v1/stream?client=a&after=e_other.5&wait=0", nil).want(200)); b.Reset != "epoch" {
		t.Errorf("a cursor of another epoch: %+v", b)
	}
	if b := decoded[event.Batch](w.call("GET", "/api/v1/stream?client=b&wait=0&after="+w.db.Epoch()+".999999", nil).want(200)); b.Reset != "epoch" {
		t.Errorf("a cursor that never was: %+v", b)
	}
	// A client that does not fetch is told so, and can go on from there.
	f := w.follow(c.ID)
	for range 40 {
		w.putText(c.ID, strings.Repeat("x", 60<<10))
	}
	if b := f.poll(0); b.Reset != "too_slow" {
		t.Fatalf("a slow client got %d items and reset %q", len(b.Items), b.Reset)
	}
	w.putText(c.ID, "small")
	f.until("what came afterwards", func(b event.Batch) bool {
		return slices.ContainsFunc(b.Items, func(i event.Item) bool { return i.Body.Text == "small" })
	})
}

// putText writes an item of a chat.
func (w *world) putText(id, text string) {
	w.t.Helper()
	err := w.db.Write(context.Background(), func(tx *store.Tx) error {
		return w.events.Put(tx, event.NewEntry(event.Item{Chat: id, Kind: event.Notice, Status: event.Completed, Body: event.Body{Text: text}}, false))
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func TestBatchesAreBounded(t *testing.T) {
	w := newWorld(t)
	c := w.newChat()
	f := w.follow(c.ID)
	sizes := []int{20 << 10, 30 << 10, 30 << 10, 200 << 10, 10, 10}
	for _, n := range sizes {
		w.putText(c.ID, strings.Repeat("y", n))
	}
	var got []int
	for len(got) < len(sizes) {
		b := f.poll(5)
		sum := 0
		for _, i := range b.Items {
			got = append(got, len(i.Body.Text))
			sum += len(i.Body.Text)
		}
		if sum > event.MaxBatch && len(b.Items) > 1 {
			t.Errorf("%d items of %d bytes in one batch", len(b.Items), sum)
		}
	}
	if !slices.Equal(got, sizes) {
		t.Errorf("got items of %v bytes", got)
	}
}

func TestWrongSubscriptions(t *testing.T) {
	w := newWorld(t)
	many := strings.Repeat("chat_x,", maxFollowed) + "chat_x"
	for query, at := range map[string]string{
		"client=a&after=nonsense": "query.after", "client=a&after=e.-1": "query.after", "client=a b": "query.client",
		"client=": "query.client", "client=a&wait=26": "query.wait", "client=a&chats=" + many: "query.chats",
	} {
		w.call("GET", "/api/v1/stream?"+strings.ReplaceAll(query, " ", "%20"), nil).problem(422, "invalid", at)
	}
}

func FuzzCursor(f *testing.F) {
	for _, c := range []string{"", ".", "e.1", "e.-1", "e.99999999999999999999", "a.b.c", "\x00", "e_1.0x10", "é.1"} {
		f.Add(c)
	}
	w := newWorld(f)
	f.Fuzz(func(t *testing.T, cursor string) {
		req := httptest.NewRequest("GET", "/api/v1/stream?client=fuzz&wait=0", nil)
		q := req.URL.Query()
		q.Set("after", cursor)
		req.URL.RawQuery = q.Encode()
		rec := httptest.NewRecorder()
		w.Window().ServeHTTP(rec, req)
		if rec.Code != 200 && rec.Code != 422 {
			t.Errorf("%q: %d %s", cursor, rec.Code, rec.Body)
		}
	})
}

// dial opens a WebSocket on the listener as a page does.
func (w *world) dial(address, path string, protocols ...string) (*websocket.Conn, error) {
	w.t.Helper()
	web := w.web()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	c, _, err := websocket.Dial(ctx, "ws://"+address+path, &websocket.DialOptions{HTTPClient: web, Subprotocols: protocols})
	if err == nil {
		c.SetReadLimit(1 << 20)
		w.t.Cleanup(func() { c.CloseNow() })
	}
	return c, err
}

func (w *world) ticket() string {
	w.t.Helper()
	return decoded[ticketReply](w.call("POST", "/api/v1/stream/tickets", nil).want(201)).Ticket
}

// next reads a batch from a socket.
func (w *world) next(c *websocket.Conn) event.Batch {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_, text, err := c.Read(ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	var b event.Batch
	if err := json.Unmarshal(text, &b); err != nil {
		w.t.Fatal(err)
	}
	return b
}

func TestSocketCarriesTheSameBatches(t *testing.T) {
	w := newWorld(t)
	address := w.listen()
	one, two := w.newChat(), w.newChat()
	c, err := w.dial(address, "/api/v1/stream/ws?client=page&chats="+one.ID, socketProtocol, ticketProtocol+w.ticket())
	if err != nil {
		t.Fatal(err)
	}
	if c.Subprotocol() != socketProtocol {
		t.Errorf("the server speaks %q", c.Subprotocol())
	}
	w.next(c) // from here on nothing is missed
	text := func(want string) event.Batch {
		t.Helper()
		for {
			b := w.next(c)
			for _, i := range b.Items {
				if i.Body.Text == want {
					return b
				}
			}
		}
	}
	w.putText(one.ID, "of the first")
	text("of the first")

	// The client follows another chat; what is not understood changes nothing.
	ctx := context.Background()
	for _, m := range []string{`nonsense`, `{"chats":7}`, `{"chats":["` + two.ID + `"]}`} {
		if err := c.Write(ctx, websocket.MessageText, []byte(m)); err != nil {
			t.Fatal(err)
		}
	}
	for !slices.Contains(w.next(c).Follows, two.ID) {
	}
	w.putText(one.ID, "not wanted")
	w.putText(two.ID, "of the second")
	b := text("of the second")

	// It goes, and resumes where it was.
	if err := c.Close(websocket.StatusNormalClosure, ""); err != nil {
		t.Fatal(err)
	}
	w.putText(two.ID, "meanwhile")
	if c, err = w.dial(address, "/api/v1/stream/ws?client=page&chats="+two.ID+"&after="+b.Next, socketProtocol, ticketProtocol+w.ticket()); err != nil {
		t.Fatal(err)
	}
	text("meanwhile")
	w.Handler.Close()
	for err == nil {
		_, _, err = c.Read(ctx)
	}
	if websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Errorf("the socket ended by %v", err)
	}
}

func TestANewerSocketEndsTheOlder(t *testing.T) {
	w := newWorld(t)
	address := w.listen()
	open := func() *websocket.Conn {
		t.Helper()
		c, err := w.dial(address, "/api/v1/stream/ws?client=page", socketProtocol, ticketProtocol+w.ticket())
		if err != nil {
			t.Fatal(err)
		}
		w.next(c)
		return c
	}
	older := open()
	newer := open()
	var err error
	for err == nil {
		_, _, err = older.Read(context.Background())
	}
	var end websocket.CloseError
	if !errors.As(err, &end) || end.Code != websocket.StatusPolicyViolation || end.Reason != "superseded" {
		t.Errorf("the older ended by %v", err)
	}
	w.newChat() // the newer one goes on
	w.next(newer)
}

func TestTicketsOpenOneSocket(t *testing.T) {
	w := newWorld(t)
	address := w.listen()
	path := "/api/v1/stream/ws?client=page"
	used := w.ticket()
	c, err := w.dial(address, path, socketProtocol, ticketProtocol+used)
	if err != nil {
		t.Fatal(err)
	}
	c.CloseNow()
	for name, protocols := range map[string][]string{
		"used": {socketProtocol, ticketProtocol + used}, "none": {socketProtocol}, "invented": {ticketProtocol + "x"},
		"the token itself": {ticketProtocol + testToken},
	} {
		if _, err := w.dial(address, path, protocols...); err == nil {
			t.Errorf("%s: let in", name)
		}
	}
	// A ticket is for sockets only.
	w.fetch(w.web(), "GET", "http://"+address+"/api/v1/chats", "Sec-WebSocket-Protocol", ticketProtocol+w.ticket()).problem(401, "unauthorized")

	late := w.ticket()
	w.tickets.now = func() time.Time { return time.Now().Add(ticketLife) }
	if _, err := w.dial(address, path, socketProtocol, ticketProtocol+late); err == nil {
		t.Error("a ticket of 30 seconds ago: let in")
	}
}

func TestTicketsAreBounded(t *testing.T) {
	k := newTickets()
	now := time.Unix(1000, 0)
	k.now = func() time.Time { return now }
	for range maxTickets {
		if _, _, err := k.issue(owner); err != nil {
			t.Fatal(err)
		}
	}
	var p *Problem
	if _, _, err := k.issue(owner); !errors.As(err, &p) || p.Status != 429 {
		t.Errorf("one too many: %v", err)
	}
	now = now.Add(ticketLife)
	secret, expires, err := k.issue(Principal{Realm: Device, Scope: Read})
	if err != nil || !expires.Equal(now.Add(ticketLife)) || len(k.open) != 1 {
		t.Errorf("after half a minute: %v, %d are open", err, len(k.open))
	}
	if got, ok := k.take(secret); !ok || got.Realm != Device || got.Scope != Read {
		t.Errorf("a ticket speaks for %+v, %v", got, ok)
	}
}

func TestSocketHeartbeat(t *testing.T) {
	w := newWorld(t)
	w.pulse = pulse{beat: 20 * time.Millisecond, patience: time.Second}
	c, err := w.dial(w.listen(), "/api/v1/stream/ws?client=page", socketProtocol, ticketProtocol+w.ticket())
	if err != nil {
		t.Fatal(err)
	}
	for range 5 { // reading answers the pings
		if b := w.next(c); b.Reset != "" || b.Next == "" {
			t.Errorf("%+v", b)
		}
	}
}

func TestASocketThatDoesNotReadIsDropped(t *testing.T) {
	w := newWorld(t)
	w.pulse = pulse{beat: 20 * time.Millisecond, patience: 100 * time.Millisecond}
	chat := w.newChat()
	c, err := w.dial(w.listen(), "/api/v1/stream/ws?client=page&chats="+chat.ID, socketProtocol, ticketProtocol+w.ticket())
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); w.sockets.Wait() }()
	for n := 0; ; n++ { // nothing reads: neither batches nor pings
		select {
		case <-ended:
			c.CloseNow()
			return
		case <-time.After(time.Millisecond):
			if n < 200 {
				w.putText(chat.ID, strings.Repeat("z", 32<<10))
			}
		}
	}
}

func TestASocketIsAskedForAsSuch(t *testing.T) {
	w := newWorld(t)
	w.call("GET", "/api/v1/stream/ws?client=a", nil).problem(426, "upgrade_required")
	w.call("GET", "/api/v1/terminals/term_x/ws", nil).problem(426, "upgrade_required")
}
