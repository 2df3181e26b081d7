package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"berth/backend/chat"
	"berth/backend/event"
	"berth/backend/provider"
	"berth/backend/provider/acp"
	"berth/test/program"
)

// The load of the relay: what a fast model writes.
const (
	relayWords = 200
	onePace    = 20  // milliseconds between pieces, one chat
	manyPace   = 100 // the same, many chats
	many       = 50
	perSocket  = 16 // chats that one client may follow
)

// relayAim is the upper bound of the 99th percentile, in milliseconds.
const relayAim = 10

// relay measures the time from an agent's line to a client.
func (b *bench) relay(r *rival) error {
	state, err := b.state("relay")
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	agents, err := json.Marshal(acp.AgentsFile{Agents: []acp.Entry{{ID: "clock", Title: "Clock", Command: self, Args: []string{agentArg}}}})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(state, "agents.json"), agents, 0o600); err != nil {
		return err
	}
	p, err := program.Serve(b.ctx, b.binary, state)
	if err != nil {
		return err
	}
	defer func() { _ = p.Kill() }() // gone already, if all went well
	for _, load := range []struct {
		chats, pace int
	}{{1, onePace}, {many, manyPace}} {
		ours, err := b.relayBerth(p, load.chats, load.pace)
		if err != nil {
			return err
		}
		theirs, err := r.relay(b.ctx, load.chats, load.pace)
		if err != nil {
			return fmt.Errorf("opencode serve: %w", err)
		}
		name := fmt.Sprintf("relay of a line to a browser, %d streaming", load.chats)
		b.add(name+", median", quantile(ours, 0.5), "ms", "opencode serve", quantile(theirs, 0.5), 0)
		b.add(name+", 99th percentile", quantile(ours, 0.99), "ms", "opencode serve", quantile(theirs, 0.99), relayAim)
	}
	polled, err := b.relayPolled(p)
	if err != nil {
		return err
	}
	b.add("relay of a line to a long poll, 1 streaming, 99th percentile", quantile(polled, 0.99), "ms", "", 0, relayAim)
	return p.End(b.ctx)
}

// relayBerth streams in so many chats and gives how long each piece took to a
// WebSocket.
func (b *bench) relayBerth(p *program.Program, chats, pace int) ([]time.Duration, error) {
	ids, err := b.warmChats(p, chats)
	if err != nil {
		return nil, err
	}
	want := relayWords * chats
	got := newTimes(want)
	ctx, cancel := context.WithTimeout(b.ctx, time.Duration(relayWords*pace)*time.Millisecond+time.Minute)
	defer cancel()
	for from := 0; from < chats; from += perSocket {
		if err := got.socket(ctx, p, strconv.Itoa(from), ids[from:min(from+perSocket, chats)]); err != nil {
			return nil, err
		}
	}
	if err := b.prompt(p, ids, fmt.Sprintf("%d %d", relayWords, pace)); err != nil {
		return nil, err
	}
	got.streaming()
	return got.wait(ctx)
}

// relayPolled is the same for one chat and a long poll on the local socket,
// as the window and the commands do it.
func (b *bench) relayPolled(p *program.Program) ([]time.Duration, error) {
	ids, err := b.warmChats(p, 1)
	if err != nil {
		return nil, err
	}
	got := newTimes(relayWords)
	ctx, cancel := context.WithTimeout(b.ctx, time.Duration(relayWords*onePace)*time.Millisecond+time.Minute)
	defer cancel()
	stream := p.Follow("bench-poll", "", ids...)
	if _, err := stream.Next(ctx); err != nil {
		return nil, err
	}
	go func() {
		for {
			batch, err := stream.Next(ctx)
			if err != nil {
				return
			}
			got.take(batch)
		}
	}()
	if err := b.prompt(p, ids, fmt.Sprintf("%d %d", relayWords, onePace)); err != nil {
		return nil, err
	}
	got.streaming()
	return got.wait(ctx)
}

// warmChats makes chats whose agents have answered once.
func (b *bench) warmChats(p *program.Program, n int) ([]string, error) {
	var ids []string
	for range n {
		c, err := p.CreateChat(b.ctx, chat.NewChat{Agent: "clock", Cwd: b.dir, Permissions: provider.Ask})
		if err != nil {
			return nil, err
		}
		ids = append(ids, c.ID)
	}
	if err := b.prompt(p, ids, "1 1"); err != nil {
		return nil, err
	}
	for _, id := range ids {
		for {
			c, err := p.Chat(b.ctx, id)
			if err != nil {
				return nil, err
			}
			if c.Turn != nil && c.Turn.State.Terminal() {
				if c.Turn.State != chat.TurnCompleted {
					return nil, fmt.Errorf("a chat ended %s: %+v", c.Turn.State, c.Turn.Error)
				}
				break
			}
			if err := pause(b.ctx, 20*time.Millisecond); err != nil {
				return nil, err
			}
		}
	}
	return ids, nil
}

func (b *bench) prompt(p *program.Program, ids []string, text string) error {
	for _, id := range ids {
		if _, err := p.Send(b.ctx, id, chat.NewTurn{Text: text, ClientID: text}); err != nil {
			return err
		}
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// times collects how long each piece took.
type times struct {
	mu    sync.Mutex
	want  int
	taken []piece
	from  time.Time
	done  chan struct{}
}

// piece was sent at a time, and took so long to arrive.
type piece struct {
	sent time.Time
	took time.Duration
}

func newTimes(want int) *times { return &times{want: want, done: make(chan struct{})} }

// streaming says that all chats stream from now on: what was sent before is
// the start of many turns at once, which is another matter.
func (t *times) streaming() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.from = time.Now()
}

// text takes a text made of times.
func (t *times) text(text string) {
	now := time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, word := range strings.Fields(text) {
		at, err := strconv.ParseInt(word, 10, 64)
		if err != nil || len(t.taken) == t.want {
			continue
		}
		sent := time.Unix(0, at)
		t.taken = append(t.taken, piece{sent, now.Sub(sent)})
		if len(t.taken) == t.want {
			close(t.done)
		}
	}
}

func (t *times) take(b event.Batch) {
	for _, d := range b.Deltas {
		t.text(d.Text)
	}
}

// wait gives the times of what was sent while all streamed, once everything
// has arrived.
func (t *times) wait(ctx context.Context) ([]time.Duration, error) {
	select {
	case <-t.done:
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.taken) < t.want {
		return nil, fmt.Errorf("%d of %d pieces arrived: %w", len(t.taken), t.want, ctx.Err())
	}
	var all []time.Duration
	for _, p := range t.taken {
		if p.sent.After(t.from) {
			all = append(all, p.took)
		}
	}
	if len(all) < t.want/2 {
		return nil, fmt.Errorf("only %d of %d pieces were sent while all chats streamed", len(all), t.want)
	}
	return all, nil
}

// socket follows chats over a WebSocket of the listener until ctx ends. It
// returns once the chats are followed.
func (t *times) socket(ctx context.Context, p *program.Program, client string, chats []string) error {
	ticket, err := ticketFor(ctx, p)
	if err != nil {
		return err
	}
	url := strings.Replace(p.URL, "http", "ws", 1)
	url = strings.TrimSuffix(url, "/") + "/api/v1/stream/ws?client=bench-" + client + "&chats=" + strings.Join(chats, ",")
	// The library closes the body of the handshake itself.
	c, _, err := websocket.Dial(ctx, url, &websocket.DialOptions{Subprotocols: []string{"berth.v1", "berth.ticket." + ticket}}) //nolint:bodyclose
	if err != nil {
		return fmt.Errorf("open the stream: %w", err)
	}
	c.SetReadLimit(64 << 20)
	followed := make(chan error, 1)
	go func() {
		defer c.CloseNow()
		for told := false; ; told = true {
			_, data, err := c.Read(ctx)
			if !told {
				followed <- err
			}
			if err != nil {
				return
			}
			var batch event.Batch
			if json.Unmarshal(data, &batch) == nil {
				t.take(batch)
			}
		}
	}()
	return <-followed
}

func ticketFor(ctx context.Context, p *program.Program) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(p.URL, "/")+"/api/v1/stream/tickets", nil)
	if err != nil {
		return "", err
	}
	req.Header.Set("Authorization", "Bearer "+p.Token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	var reply struct {
		Ticket string `json:"ticket"`
	}
	if err := json.NewDecoder(res.Body).Decode(&reply); err != nil || res.StatusCode != http.StatusCreated {
		return "", fmt.Errorf("ask for a ticket: %s, %w", res.Status, err)
	}
	return reply.Ticket, nil
}
