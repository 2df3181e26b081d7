package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/coder/websocket"
	"github.com/danielgtaylor/huma/v2"

	"berth/backend/refusal"
	"berth/backend/terminal"
)

// Terminal is one pseudo terminal.
type Terminal struct {
	ID        string    `json:"id"`
	Title     string    `json:"title"`
	Command   []string  `json:"command"`
	Cwd       string    `json:"cwd"`
	Columns   int       `json:"columns"`
	Rows      int       `json:"rows"`
	State     string    `json:"state" enum:"running,ended"`
	ExitCode  *int      `json:"exit_code,omitempty" doc:"Once ended, where it is known."`
	StartedAt time.Time `json:"started_at"`
}

// NewTerminal is what a terminal is opened with.
type NewTerminal struct {
	Command []string `json:"command,omitempty" maxItems:"256" doc:"Program and arguments; without it, the user's shell."`
	Cwd     string   `json:"cwd,omitempty" doc:"Absolute path of a folder; without it, the home directory."`
	Title   string   `json:"title,omitempty" maxLength:"240"`
	Columns int      `json:"columns,omitempty" minimum:"2" maximum:"500" default:"80"`
	Rows    int      `json:"rows,omitempty" minimum:"1" maximum:"200" default:"24"`
}

// TerminalOutput is a piece of what a terminal wrote.
type TerminalOutput struct {
	// After is where Data really begins: later than asked when older bytes
	// have left the ring.
	After int64  `json:"after" doc:"Position of the first byte; later than asked when older bytes were dropped."`
	Next  int64  `json:"next" doc:"Position for the next request."`
	Data  []byte `json:"data" doc:"Raw bytes, base64."`
	Ended bool   `json:"ended" doc:"Nothing will follow."`
}

type terminalList struct {
	Terminals []Terminal `json:"terminals"`
}

func (s *Handler) registerTerminals() {
	terminals := s.features.Terminals
	add(s, route{method: http.MethodGet, path: "/terminals", id: "list-terminals", tag: "terminals",
		summary: "Open terminals", access: open(Admin, noBody)},
		func(context.Context, *struct{}) (*body[terminalList], error) {
			list := []Terminal{}
			for _, t := range terminals.List() {
				list = append(list, shownTerminal(t))
			}
			return reply(terminalList{list}, nil)
		})
	add(s, route{method: http.MethodPost, path: "/terminals", id: "open-terminal", begins: true, tag: "terminals",
		summary: "Run a command in a terminal", access: toAdmin, status: http.StatusCreated},
		func(ctx context.Context, in *body[NewTerminal]) (*body[Terminal], error) {
			t, err := terminals.Open(ctx, terminal.New(in.Body))
			return reply(shownTerminal(t), err)
		})
	add(s, route{method: http.MethodGet, path: "/terminals/{id}/output", id: "read-terminal", tag: "terminals",
		summary: "What a terminal wrote", access: open(Admin, noBody)},
		func(ctx context.Context, in *struct {
			ByID
			After int64 `query:"after" minimum:"0" doc:"Position in the output, from 0."`
			Wait  int   `query:"wait" minimum:"0" maximum:"25" doc:"Seconds to wait for more."`
		}) (*body[TerminalOutput], error) {
			return reply(s.terminalOutput(ctx, in.ID, in.After, time.Duration(in.Wait)*time.Second))
		})
	add(s, route{method: http.MethodPost, path: "/terminals/{id}/input", id: "write-terminal", tag: "terminals",
		summary: "Type into a terminal", access: open(Admin, 2*maxTerminalInput), status: noContent},
		func(ctx context.Context, in *struct {
			ByID
			Body struct {
				Data []byte `json:"data" doc:"Raw bytes, base64; at most 256 KiB."`
			} `nameHint:"TerminalInput"`
		}) (*none, error) {
			return nil, terminals.Input(ctx, in.ID, in.Body.Data)
		})
	add(s, route{method: http.MethodPost, path: "/terminals/{id}/resize", id: "resize-terminal", tag: "terminals",
		summary: "Tell a terminal its size", access: toAdmin, status: noContent},
		func(ctx context.Context, in *struct {
			ByID
			Body struct {
				Columns int `json:"columns" minimum:"2" maximum:"500"`
				Rows    int `json:"rows" minimum:"1" maximum:"200"`
			} `nameHint:"TerminalSize"`
		}) (*none, error) {
			return nil, terminals.Resize(ctx, in.ID, in.Body.Columns, in.Body.Rows)
		})
	add(s, route{method: http.MethodDelete, path: "/terminals/{id}", id: "close-terminal", tag: "terminals",
		summary: "End a terminal", access: open(Admin, noBody), status: noContent},
		func(ctx context.Context, in *ByID) (*none, error) {
			return nil, terminals.Close(ctx, in.ID)
		})
	s.registerTerminalSocket()
}

// maxTerminalInput is the largest piece typed at once, in bytes: a paste.
const maxTerminalInput = 256 << 10

// registerTerminalSocket adds the WebSocket of a terminal: binary frames are
// raw bytes both ways.
func (s *Handler) registerTerminalSocket() {
	add(s, route{method: http.MethodGet, path: "/terminals/{id}/ws", id: "attach-terminal", tag: "terminals",
		summary: "A terminal over a WebSocket",
		about:   "Binary frames are raw bytes both ways. Text frames from the client are {\"columns\", \"rows\"}; from the server {\"after\", \"next\"} before each piece that does not follow the last, and {\"ended\": true} at the end.",
		access:  open(Admin, noBody), status: http.StatusSwitchingProtocols},
		func(_ context.Context, in *struct {
			ByID
			After int64 `query:"after" minimum:"0"`
		}) (*octets, error) {
			return &octets{Body: func(ctx huma.Context) { s.terminalSocket(ctx, in.ID, in.After) }}, nil
		})
}

func (s *Handler) terminalSocket(hc huma.Context, id string, after int64) {
	s.serveSocket(hc, func(c *socket) error {
		c.conn.SetReadLimit(maxTerminalInput)
		c.receive(func(kind websocket.MessageType, data []byte) { s.fromTerminalPage(c.ctx, id, kind, data) })
		expected := int64(-1)
		for {
			out, err := s.terminalOutput(c.ctx, id, after, s.pulse.beat)
			var refused *refusal.Error
			if expected >= 0 && errors.As(err, &refused) && refused.Code == refusal.NotFound {
				out.Ended, out.After, err = true, expected, nil // it was closed since the last piece
			}
			if err != nil || c.ctx.Err() != nil {
				return err
			}
			if out.After != expected {
				if err := c.write(websocket.MessageText, fmt.Appendf(nil, `{"after":%d,"next":%d}`, out.After, out.Next)); err != nil {
					return err
				}
			}
			if len(out.Data) > 0 {
				err = c.write(websocket.MessageBinary, out.Data)
			} else if !out.Ended {
				err = c.prove()
			}
			if err != nil {
				return err
			}
			if out.Ended && len(out.Data) == 0 {
				return c.write(websocket.MessageText, []byte(`{"ended":true}`))
			}
			after, expected = out.Next, out.Next
		}
	})
}

func (s *Handler) terminalOutput(ctx context.Context, id string, after int64, wait time.Duration) (TerminalOutput, error) {
	ctx, cancel := s.within(ctx, wait)
	defer cancel()
	out, err := s.features.Terminals.Output(ctx, id, after)
	if out.Data == nil {
		out.Data = []byte{} // JSON would say null
	}
	return TerminalOutput(out), err
}

func shownTerminal(t terminal.Session) Terminal {
	shown := Terminal{ID: t.ID, Title: t.Title, Command: present(t.Command), Cwd: t.Cwd, Columns: t.Columns, Rows: t.Rows,
		State: "running", StartedAt: t.StartedAt}
	if t.Exit != nil {
		shown.State = "ended"
		if t.Exit.Signal == "" && t.Exit.Err == nil {
			shown.ExitCode = &t.Exit.Code
		}
	}
	return shown
}

// fromTerminalPage takes what a page sent. Malformed control frames are
// ignored: they must not end a terminal.
func (s *Handler) fromTerminalPage(ctx context.Context, id string, kind websocket.MessageType, data []byte) {
	if kind == websocket.MessageBinary {
		_ = s.features.Terminals.Input(ctx, id, data) // its end is told by Output
		return
	}
	var size struct{ Columns, Rows int }
	if json.Unmarshal(data, &size) == nil && size.Columns >= 2 && size.Columns <= 500 && size.Rows >= 1 && size.Rows <= 200 {
		_ = s.features.Terminals.Resize(ctx, id, size.Columns, size.Rows)
	}
}
