package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/coder/websocket"
	"github.com/danielgtaylor/huma/v2"

	"berth/backend/event"
)

// The stream: both doors give the same batches (CONTRACTS, Stream). A batch
// is at most 64 KiB, save a single larger item, which comes alone. A long
// poll ends by itself; a newer one of the same client ends the older one,
// which gives an empty batch with the same cursor. A client that cannot keep
// up is told so (reset too_slow) and fetches again.
const (
	maxPollWait = 25 * time.Second
	// maxFollowed chats at once: the open one and some that are being read
	// ahead.
	maxFollowed = 16
)

// Following names a client's place in the stream. It is exported because
// Huma looks only into exported fields.
type Following struct {
	Client string   `query:"client" required:"true" minLength:"1" maxLength:"64" pattern:"^[A-Za-z0-9._-]+$" doc:"Made by the client, one for each page or command."`
	After  string   `query:"after" maxLength:"80" doc:"Cursor of the last batch (its next), exclusive; without it: from now, with the current snapshots."`
	Chats  []string `query:"chats" maxItems:"16" doc:"Chats whose items and deltas are wanted."`
}

type ticketReply struct {
	Ticket    string    `json:"ticket" doc:"Good for one WebSocket, as subprotocol berth.ticket.<ticket> beside berth.v1."`
	ExpiresAt time.Time `json:"expires_at"`
}

func (s *Handler) registerStream() {
	add(s, route{method: http.MethodGet, path: "/stream", id: "poll-stream", tag: "stream",
		summary: "Wait for what happened",
		about:   "A long poll. Chat summaries, turns and settings always come; items and deltas of the chats named.",
		access:  toRead},
		func(ctx context.Context, in *struct {
			Following
			Wait int `query:"wait" minimum:"0" maximum:"25" default:"25" doc:"Seconds."`
		}) (*body[event.Batch], error) {
			return reply(s.poll(ctx, in.Following, time.Duration(in.Wait)*time.Second))
		})
	add(s, route{method: http.MethodPost, path: "/stream/tickets", id: "create-ticket", tag: "stream",
		summary: "A ticket for a WebSocket", about: "Single use, within 30 seconds.",
		access: open(Read, noBody), status: http.StatusCreated},
		func(ctx context.Context, _ *struct{}) (*body[ticketReply], error) {
			p, _ := principalOf(ctx)
			secret, expires, err := s.tickets.issue(p)
			return reply(ticketReply{secret, expires.UTC().Truncate(time.Millisecond)}, err)
		})
	add(s, route{method: http.MethodGet, path: "/stream/ws", id: "open-stream", tag: "stream",
		summary: "The same batches over a WebSocket",
		about:   "Each text frame is a batch. The client may send {\"chats\": [ids]} to follow others.",
		access:  toRead, status: http.StatusSwitchingProtocols},
		func(_ context.Context, in *struct{ Following }) (*octets, error) {
			return &octets{Body: func(ctx huma.Context) { s.streamSocket(ctx, in.Following) }}, nil
		})
}

func (s *Handler) poll(ctx context.Context, f Following, wait time.Duration) (event.Batch, error) {
	sub, err := s.features.Hub.Subscribe(ctx, f.Client, f.After, f.Chats)
	if err != nil {
		return event.Batch{}, err
	}
	ctx, cancel := s.within(ctx, min(wait, maxPollWait))
	defer cancel()
	b, err := sub.Next(ctx, event.MaxBatch)
	if errors.Is(err, event.ErrSuperseded) {
		b.Next = f.After
		return b, nil
	}
	return b, err
}

// within bounds a wait; it also ends when the handler is closed.
func (s *Handler) within(ctx context.Context, wait time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	stop := context.AfterFunc(s.ending, cancel)
	return ctx, func() { stop(); cancel() }
}

// streamSocket is GET stream/ws.
func (s *Handler) streamSocket(hc huma.Context, f Following) {
	s.serveSocket(hc, func(c *socket) error {
		sub, err := s.features.Hub.Subscribe(c.ctx, f.Client, f.After, f.Chats)
		if err != nil {
			return err
		}
		defer sub.Close()
		c.receive(func(_ websocket.MessageType, data []byte) {
			var wish struct{ Chats []string }
			// What is not a wish of ours is ignored: an older server must
			// not fail on what a newer page says.
			if json.Unmarshal(data, &wish) == nil && wish.Chats != nil && len(wish.Chats) <= maxFollowed {
				_ = sub.Follow(wish.Chats)
			}
		})
		for {
			b, err := nextBatch(c.ctx, sub, s.pulse.beat)
			if err != nil || c.ctx.Err() != nil {
				return err
			}
			frame, err := json.Marshal(b)
			if err != nil {
				return err
			}
			if err := c.write(websocket.MessageText, frame); err != nil {
				return err
			}
			if len(b.Events)+len(b.Items)+len(b.Deltas)+len(b.Follows) == 0 && b.Reset == "" {
				if err := c.prove(); err != nil {
					return err
				}
			}
		}
	})
}

// nextBatch waits for a batch, at most until the next heartbeat.
func nextBatch(ctx context.Context, sub *event.Subscription, beat time.Duration) (event.Batch, error) {
	ctx, cancel := context.WithTimeout(ctx, beat)
	defer cancel()
	return sub.Next(ctx, event.MaxBatch)
}
