package api

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/coder/websocket"
	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
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

// socket is one accepted WebSocket. Its context ends when the other side
// goes or the handler is closed.
type socket struct {
	conn     *websocket.Conn
	ctx      context.Context
	end      context.CancelFunc
	patience time.Duration
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
	defer conn.CloseNow()
	ctx, cancel := context.WithCancel(s.ending)
	defer cancel()
	err = work(&socket{conn, ctx, cancel, s.pulse.patience})
	switch {
	case s.ending.Err() != nil:
		_ = conn.Close(websocket.StatusGoingAway, "closing")
	case err == nil:
		_ = conn.Close(websocket.StatusNormalClosure, "")
	case errors.Is(err, errSlow):
		_ = conn.Close(websocket.StatusPolicyViolation, errSlow.Error())
	default:
		p, known := problemOf(err)
		if !known && ctx.Err() == nil {
			s.log.Warn("socket failed", "path", r.URL.Path, "error", err)
		}
		_ = conn.Close(websocket.StatusInternalError, p.Code)
	}
}

// write sends one frame, within patience.
func (c *socket) write(kind websocket.MessageType, data []byte) error {
	ctx, cancel := context.WithTimeout(c.ctx, c.patience)
	defer cancel()
	err := c.conn.Write(ctx, kind, data)
	if err != nil && c.ctx.Err() == nil && ctx.Err() != nil {
		return errSlow
	}
	return err
}

// prove pings the other side; no answer in time means that it is gone.
func (c *socket) prove() error {
	ctx, cancel := context.WithTimeout(c.ctx, c.patience)
	defer cancel()
	return c.conn.Ping(ctx)
}

// receive hands incoming frames to take, in the background, until the other
// side goes; then it ends the socket. The function it returns waits for that.
func (c *socket) receive(take func(websocket.MessageType, []byte)) (wait func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer c.end()
		for {
			kind, data, err := c.conn.Read(c.ctx)
			if err != nil {
				return
			}
			take(kind, data)
		}
	}()
	return func() { c.end(); <-done }
}
