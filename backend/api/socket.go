package api

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"berth/backend/event"
)

// Names of subprotocols. A page sends both; the server picks the first.
const (
	socketProtocol = "berth.v1"
	ticketProtocol = "berth.ticket."
)

// pulse is how a socket finds out that the other side is gone.
type pulse struct {
	// beat is the longest silence: then comes an empty batch, which a page
	// can see, and a ping, which proves the other side.
	beat time.Duration
	// patience is how long one frame, or the answer to a ping, may take.
	patience time.Duration
}

var usualPulse = pulse{beat: 20 * time.Second, patience: 10 * time.Second}

// errSlow ends a socket whose other side did not take a frame in time.
var errSlow = errors.New("too_slow")

// farewell is how long the other side may take to answer a close.
const farewell = time.Second

// socket is one accepted WebSocket. Its context ends when the other side
// goes or the handler is closed.
type socket struct {
	conn     *websocket.Conn
	ctx      context.Context
	end      context.CancelFunc
	patience time.Duration
	// line is what reads and writes go by: one that is cut off closes the
	// connection, which must not happen before the farewell.
	line    context.Context
	hangUp  context.CancelFunc
	reading sync.WaitGroup
}

// serveSocket makes a WebSocket of a request and runs work on it. What work
// returns is told to the other side: nil is a normal end.
func (s *Handler) serveSocket(hc huma.Context, work func(*socket) error) {
	r, w := humago.Unwrap(hc)
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		problem(http.StatusUpgradeRequired, "upgrade_required", "This is a WebSocket.").write(w)
		return
	}
	s.sockets.Add(1)
	defer s.sockets.Done()
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		Subprotocols: []string{socketProtocol},
		// Batches are small and local: compression would cost more than it saves.
		CompressionMode: websocket.CompressionDisabled,
	})
	if err != nil {
		return // Accept has answered
	}
	c := &socket{conn: conn, patience: s.pulse.patience}
	c.ctx, c.end = context.WithCancel(s.ending)
	c.line, c.hangUp = context.WithCancel(context.Background())
	context.AfterFunc(c.ctx, func() { time.AfterFunc(farewell, c.hangUp) })
	code, reason := s.farewellTo(r, work(c))
	c.end()
	_ = conn.Close(code, reason) // the other side may be gone
	c.hangUp()
	c.reading.Wait()
}

// farewellTo tells the other side how the work on its socket ended.
func (s *Handler) farewellTo(r *http.Request, err error) (websocket.StatusCode, string) {
	switch {
	case s.ending.Err() != nil:
		return websocket.StatusGoingAway, "closing"
	case err == nil:
		return websocket.StatusNormalClosure, ""
	case errors.Is(err, errSlow):
		return websocket.StatusPolicyViolation, errSlow.Error()
	case errors.Is(err, event.ErrSuperseded):
		return websocket.StatusPolicyViolation, "superseded"
	}
	p, known := problemOf(err)
	if !known {
		s.log.Debug("a socket ended", "path", r.URL.Path, "error", err)
	}
	return websocket.StatusInternalError, p.Code
}

// write sends one frame, within patience.
func (c *socket) write(kind websocket.MessageType, data []byte) error {
	ctx, cancel := context.WithTimeout(c.line, c.patience)
	defer cancel()
	err := c.conn.Write(ctx, kind, data)
	if err != nil && c.line.Err() == nil && ctx.Err() != nil {
		return errSlow
	}
	return err
}

// prove pings the other side; no answer in time means that it is gone.
func (c *socket) prove() error {
	ctx, cancel := context.WithTimeout(c.line, c.patience)
	defer cancel()
	return c.conn.Ping(ctx)
}

// receive hands incoming frames to take, in the background, until the other
// side goes; then it ends the socket.
func (c *socket) receive(take func(websocket.MessageType, []byte)) {
	c.reading.Go(func() {
		defer c.end()
		for {
			kind, data, err := c.conn.Read(c.line)
			if err != nil {
				return
			}
			take(kind, data)
		}
	})
}
