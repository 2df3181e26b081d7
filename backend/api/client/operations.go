package client

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"berth/backend/api"
	"berth/backend/artifact"
	"berth/backend/chat"
	"berth/backend/event"
	"berth/backend/provider"
	"berth/backend/settings"
	"berth/backend/workspace"
)

// Health tells how the backend is doing.
func (c *Client) Health(ctx context.Context) (api.Health, error) {
	return get[api.Health](ctx, c, "/health", nil)
}

// FocusWindow brings the backend's native window forward and opens a
// berth:// link in it, if there is one.
func (c *Client) FocusWindow(ctx context.Context, link string) error {
	return c.call(ctx, http.MethodPost, "/window/focus", nil, map[string]string{"link": link}, nil)
}

// Agents gives the agents on this machine; refresh looks again first.
func (c *Client) Agents(ctx context.Context, refresh bool) ([]provider.Description, error) {
	out, err := get[struct{ Agents []provider.Description }](ctx, c, "/agents", values("refresh", refresh))
	return out.Agents, err
}

// Agent gives one agent.
func (c *Client) Agent(ctx context.Context, name string) (provider.Description, error) {
	return get[provider.Description](ctx, c, at("agents", name), nil)
}

// CheckAgent looks at an agent again.
func (c *Client) CheckAgent(ctx context.Context, name string) (provider.Description, error) {
	return do[provider.Description](ctx, c, http.MethodPost, at("agents", name, "check"), nil)
}

// Chats gives all chats, or the archived ones.
func (c *Client) Chats(ctx context.Context, archived bool) ([]chat.Chat, error) {
	out, err := get[struct{ Chats []chat.Chat }](ctx, c, "/chats", values("archived", archived))
	return out.Chats, err
}

// Chat gives one chat.
func (c *Client) Chat(ctx context.Context, id string) (chat.Chat, error) {
	return get[chat.Chat](ctx, c, at("chats", id), nil)
}

// CreateChat begins a chat.
func (c *Client) CreateChat(ctx context.Context, n chat.NewChat) (chat.Chat, error) {
	return do[chat.Chat](ctx, c, http.MethodPost, "/chats", n)
}

// UpdateChat changes a chat.
func (c *Client) UpdateChat(ctx context.Context, id string, change chat.Change) (chat.Chat, error) {
	return do[chat.Chat](ctx, c, http.MethodPatch, at("chats", id), change)
}

// DeleteChat deletes a chat.
func (c *Client) DeleteChat(ctx context.Context, id string) error {
	return c.call(ctx, http.MethodDelete, at("chats", id), nil, nil, nil)
}

// MarkRead marks items up to seq as seen, or the chat as unread.
func (c *Client) MarkRead(ctx context.Context, id string, seq int64, unread bool) error {
	return c.call(ctx, http.MethodPost, at("chats", id, "read"), nil, map[string]any{"seq": seq, "unread": unread}, nil)
}

// StartDemo begins a chat with the demo agent.
func (c *Client) StartDemo(ctx context.Context) (chat.Chat, error) {
	return do[chat.Chat](ctx, c, http.MethodPost, "/demo", nil)
}

// Send sends a message; it returns once the turn is on disk.
func (c *Client) Send(ctx context.Context, id string, n chat.NewTurn) (chat.Accepted, error) {
	return do[chat.Accepted](ctx, c, http.MethodPost, at("chats", id, "turns"), n)
}

// Stop stops what runs in a chat and holds its queue.
func (c *Client) Stop(ctx context.Context, id string) (chat.StopResult, error) {
	return do[chat.StopResult](ctx, c, http.MethodPost, at("chats", id, "stop"), nil)
}

// Queue gives the turns of a chat that wait.
func (c *Client) Queue(ctx context.Context, id string) ([]chat.Turn, error) {
	out, err := get[struct{ Turns []chat.Turn }](ctx, c, at("chats", id, "queue"), nil)
	return out.Turns, err
}

// RemoveQueued takes a turn out of its queue.
func (c *Client) RemoveQueued(ctx context.Context, turn string) error {
	return c.call(ctx, http.MethodDelete, at("queue", turn), nil, nil, nil)
}

// Release lets held turns go on, or only the one named.
func (c *Client) Release(ctx context.Context, id, turn string) error {
	return c.call(ctx, http.MethodPost, at("chats", id, "queue", "release"), nil, map[string]string{"turn": turn}, nil)
}

// Items gives a page of a timeline: before or after a seq, or (both 0) the
// newest.
func (c *Client) Items(ctx context.Context, id string, before, after int64, limit int) (chat.Page, error) {
	return get[chat.Page](ctx, c, at("chats", id, "items"), values("before", before, "after", after, "limit", limit))
}

// Item gives one item, whole.
func (c *Client) Item(ctx context.Context, id string) (event.Item, error) {
	return get[event.Item](ctx, c, at("items", id), nil)
}

// Requests gives what a chat's agent asks; all includes what no longer waits.
func (c *Client) Requests(ctx context.Context, id string, all bool) ([]event.Item, error) {
	out, err := get[struct{ Requests []event.Item }](ctx, c, at("chats", id, "requests"), values("all", all))
	return out.Requests, err
}

// Answer answers a request.
func (c *Client) Answer(ctx context.Context, request string, a chat.GivenAnswer) (event.RequestAnswer, error) {
	return do[event.RequestAnswer](ctx, c, http.MethodPost, at("requests", request, "answer"), a)
}

// Attention gives what waits for the human.
func (c *Client) Attention(ctx context.Context) ([]chat.Attention, error) {
	out, err := get[struct{ Attention []chat.Attention }](ctx, c, "/attention", nil)
	return out.Attention, err
}

// Commands gives what a chat's agent offers after a slash.
func (c *Client) Commands(ctx context.Context, id string) ([]provider.Command, error) {
	out, err := get[struct{ Commands []provider.Command }](ctx, c, at("chats", id, "commands"), nil)
	return out.Commands, err
}

// FindFiles gives files of a chat's folder that match.
func (c *Client) FindFiles(ctx context.Context, id, query string, limit int) (workspace.Found, error) {
	return get[workspace.Found](ctx, c, at("chats", id, "files"), values("query", query, "limit", limit))
}

// CompleteFolder gives folders that begin with what was typed.
func (c *Client) CompleteFolder(ctx context.Context, typed string, limit int) (workspace.Folders, error) {
	return get[workspace.Folders](ctx, c, "/folders/complete", values("prefix", typed, "limit", limit))
}

// Settings gives all settings.
func (c *Client) Settings(ctx context.Context) (settings.Settings, error) {
	return get[settings.Settings](ctx, c, "/settings", nil)
}

// UpdateSettings changes settings.
func (c *Client) UpdateSettings(ctx context.Context, change settings.Change) (settings.Settings, error) {
	return do[settings.Settings](ctx, c, http.MethodPatch, "/settings", change)
}

// Processes gives the running children of Berth.
func (c *Client) Processes(ctx context.Context) ([]api.Process, error) {
	out, err := get[struct{ Processes []api.Process }](ctx, c, "/processes", nil)
	return out.Processes, err
}

// pieceSize of an upload, in bytes.
const pieceSize = 4 << 20

// Upload sends a file of that size, whose bytes content gives, and returns
// the record of the whole file. kind is its media type, empty to have it told
// by the name.
func (c *Client) Upload(ctx context.Context, name, kind string, size int64, content io.Reader) (artifact.Upload, error) {
	u, err := do[artifact.Upload](ctx, c, http.MethodPost, "/uploads", artifact.NewUpload{Name: name, Type: kind, Size: size})
	for err == nil && u.Received < size {
		n := min(pieceSize, size-u.Received)
		u, err = c.piece(ctx, u, io.LimitReader(content, n))
	}
	return u, err
}

func (c *Client) piece(ctx context.Context, u artifact.Upload, piece io.Reader) (artifact.Upload, error) {
	q := url.Values{"offset": {strconv.FormatInt(u.Received, 10)}}
	res, err := c.send(ctx, http.MethodPut, at("uploads", u.ID), q, "application/octet-stream", piece)
	if err != nil {
		return u, err
	}
	defer res.Body.Close()
	var next artifact.Upload
	if err := decode(res.Body, &next); err != nil {
		return u, err
	}
	if next.Received == u.Received {
		return u, fmt.Errorf("upload %s: the file ended after %d of %d bytes", u.Name, u.Received, u.Size)
	}
	return next, nil
}

// Download writes the bytes of a file to w.
func (c *Client) Download(ctx context.Context, file string, w io.Writer) error {
	res, err := c.send(ctx, http.MethodGet, at("files", file), nil, "", nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if _, err := io.Copy(w, res.Body); err != nil {
		return fmt.Errorf("read a file: %w", err)
	}
	return nil
}

// Stream is a client's place in the live updates. It belongs to one
// goroutine.
type Stream struct {
	c      *Client
	name   string
	chats  []string
	cursor string
}

// Follow begins to follow the chats named. name tells this follower from
// others; after is a cursor to go on from, or empty: from now.
func (c *Client) Follow(name, after string, chats ...string) *Stream {
	return &Stream{c: c, name: name, chats: chats, cursor: after}
}

// SetChats changes the chats whose items and deltas are wanted.
func (s *Stream) SetChats(chats ...string) { s.chats = chats }

// Next gives the next batch. The first call of a stream without a cursor
// returns at once: from then on nothing is missed. Later ones wait, and may
// give an empty batch.
func (s *Stream) Next(ctx context.Context) (event.Batch, error) {
	q := values("client", s.name, "after", s.cursor, "chats", strings.Join(s.chats, ","))
	if s.cursor == "" {
		q.Set("wait", "0")
	}
	b, err := get[event.Batch](ctx, s.c, "/stream", q)
	if err == nil {
		s.cursor = b.Next
	}
	return b, err
}
