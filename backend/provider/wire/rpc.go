package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"berth/backend/provider"
)

// Standard JSON-RPC codes.
const (
	CodeInvalidRequest = -32600
	CodeNoMethod       = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
)

// RPCError is an error reply.
type RPCError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (e *RPCError) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// ErrEnded fails calls that wait when the connection ends.
var ErrEnded = errors.New("the agent ended before it answered")

// Message is one JSON-RPC message: a request (ID and Method), a notification
// (Method) or a reply (ID).
type Message struct {
	JSONRPC string          `json:"jsonrpc,omitempty"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *RPCError       `json:"error,omitempty"`
	Raw     []byte          `json:"-"`
}

// RPC is a JSON-RPC peer over lines. Run belongs to one goroutine; the other
// methods may be called from any.
type RPC struct {
	lines   *Lines
	version string // "2.0", or "" where the agent leaves the field out

	mu    sync.Mutex
	next  int64
	calls map[string]func(Message)
	gone  chan struct{} // closed when the stream has ended
}

// NewRPC makes a peer. version is what the jsonrpc field says, "" for none.
func NewRPC(lines *Lines, version string) *RPC {
	return &RPC{lines: lines, version: version, calls: map[string]func(Message){}, gone: make(chan struct{})}
}

// Run reads until the stream ends and hands requests and notifications to
// handle, in order, and replies to their callers: a reply is given to its
// caller after all that was read before it was handled. garbage gets lines
// that are not JSON-RPC. It returns why the stream ended.
func (c *RPC) Run(handle func(Message), garbage func(line []byte)) error {
	defer c.end()
	for {
		line, err := c.lines.Next()
		if err != nil {
			return err
		}
		var m Message
		if line[0] != '{' || json.Unmarshal(line, &m) != nil || (m.Method == "" && m.ID == nil) {
			garbage(line)
			continue
		}
		m.Raw = line
		if m.Method != "" {
			handle(m)
			continue
		}
		if reply := c.take(string(m.ID)); reply != nil {
			reply(m)
		}
	}
}

func (c *RPC) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.gone)
	c.calls = nil
}

// take removes the call of that id and gives what takes its reply, nil when
// nobody waits.
func (c *RPC) take(id string) func(Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	reply := c.calls[id]
	delete(c.calls, id)
	return reply
}

// Begin sends a request and does not wait: reply is called with the answer,
// on the goroutine of Run and in its order, and never when the stream ends
// first or the request was not written whole. It gives the request's id.
func (c *RPC) Begin(ctx context.Context, method string, params any, reply func(Message)) (string, provider.Delivery, error) {
	raw, err := marshal(params)
	if err != nil {
		return "", provider.NotSent, err
	}
	c.mu.Lock()
	if c.calls == nil {
		c.mu.Unlock()
		return "", provider.NotSent, ErrEnded
	}
	c.next++
	id := strconv.FormatInt(c.next, 10)
	c.calls[id] = reply
	c.mu.Unlock()
	sent, err := c.lines.Write(ctx, Message{JSONRPC: c.version, ID: json.RawMessage(id), Method: method, Params: raw})
	if err != nil {
		c.take(id)
	}
	return id, sent, err
}

// Call sends a request and waits for its reply. The Delivery says what is
// proven of the request: Sent once any reply came, *RPCError included;
// Uncertain when it was written and no reply came.
func (c *RPC) Call(ctx context.Context, method string, params, result any) (provider.Delivery, error) {
	reply := make(chan Message, 1)
	id, sent, err := c.Begin(ctx, method, params, func(m Message) { reply <- m })
	if err != nil {
		return sent, err
	}
	defer func() { _ = c.take(id) }()
	var m Message
	select {
	case m = <-reply:
	case <-ctx.Done():
		return provider.Uncertain, ctx.Err()
	case <-c.gone:
		select {
		case m = <-reply: // read before the stream ended
		default:
			return provider.Uncertain, ErrEnded
		}
	}
	if m.Error != nil {
		return provider.Sent, m.Error
	}
	if result == nil {
		return provider.Sent, nil
	}
	if err := json.Unmarshal(m.Result, result); err != nil {
		return provider.Sent, fmt.Errorf("reply to %s: %w", method, err)
	}
	return provider.Sent, nil
}

// Notify sends a notification.
func (c *RPC) Notify(ctx context.Context, method string, params any) error {
	raw, err := marshal(params)
	if err != nil {
		return err
	}
	_, err = c.lines.Write(ctx, Message{JSONRPC: c.version, Method: method, Params: raw})
	return err
}

// Reply answers a request of the agent.
func (c *RPC) Reply(ctx context.Context, id json.RawMessage, result any) error {
	raw, err := marshal(result)
	if err != nil {
		return err
	}
	_, err = c.lines.Write(ctx, Message{JSONRPC: c.version, ID: id, Result: raw})
	return err
}

// Refuse answers a request of the agent with an error.
func (c *RPC) Refuse(ctx context.Context, id json.RawMessage, code int, message string) error {
	_, err := c.lines.Write(ctx, Message{JSONRPC: c.version, ID: id, Error: &RPCError{Code: code, Message: message}})
	return err
}
