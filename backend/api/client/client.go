// Package client speaks to a running backend over its local socket: what
// commands and second windows use. It starts no backend and retries nothing;
// every failure that the backend reports is an *api.Problem.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"berth/backend/api"
	"berth/backend/instance"
)

// maxReply bounds what is read of one JSON reply, in bytes: a page of 200
// items with their bodies stays far below it.
const maxReply = 64 << 20

// Client calls the operations of one backend. Its methods may be called from
// any goroutine.
type Client struct {
	http *http.Client
	// base is only a name: the connection goes where dial says.
	base string
}

// New makes a client for the backend of a state directory. Nothing is
// contacted yet; a call fails with instance.ErrNone when no backend runs.
func New(state string) *Client {
	return &Client{base: "http://berth", http: &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return instance.Dial(ctx, state) },
	}}}
}

// Close gives up idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Transport carries requests to the backend as they are, for a window that
// is a client of another process: its requests go to any host.
func (c *Client) Transport() http.RoundTripper { return c.http.Transport }

// call does one operation: in is the body (nil: none), out takes the reply
// (nil: none is expected).
func (c *Client) call(ctx context.Context, method, path string, query url.Values, in, out any) error {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("write the request: %w", err)
		}
		body = bytes.NewReader(text)
	}
	res, err := c.send(ctx, method, path, query, "application/json", body)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if out == nil {
		return nil
	}
	return decode(res.Body, out)
}

func decode(r io.Reader, out any) error {
	if err := json.NewDecoder(io.LimitReader(r, maxReply)).Decode(out); err != nil {
		return fmt.Errorf("read the reply: %w", err)
	}
	return nil
}

// send sends a request and gives the answer if it is a success.
func (c *Client) send(ctx context.Context, method, path string, query url.Values, kind string, body io.Reader) (*http.Response, error) {
	address := c.base + "/api/v1" + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", kind)
	}
	res, err := c.http.Do(req)
	if err != nil {
		var wrapped *url.Error // names an address that does not exist
		if errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		return nil, err
	}
	if res.StatusCode < 300 {
		return res, nil
	}
	defer res.Body.Close()
	p := &api.Problem{Status: res.StatusCode, Title: http.StatusText(res.StatusCode), Code: "failed", Detail: res.Status}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "application/problem+json") {
		if err := decode(res.Body, p); err != nil {
			return nil, err
		}
	}
	return nil, p
}

// get does an operation that only reads.
func get[T any](ctx context.Context, c *Client, path string, query url.Values) (T, error) {
	var out T
	err := c.call(ctx, http.MethodGet, path, query, nil, &out)
	return out, err
}

// do does an operation with a body and a reply.
func do[T any](ctx context.Context, c *Client, method, path string, in any) (T, error) {
	var out T
	err := c.call(ctx, method, path, nil, in, &out)
	return out, err
}

func at(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteByte('/')
		b.WriteString(url.PathEscape(p))
	}
	return b.String()
}

// values makes a query of names and values; empty and zero ones are left out.
func values(pairs ...any) url.Values {
	q := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		name := pairs[i].(string)
		switch v := pairs[i+1].(type) {
		case string:
			if v != "" {
				q.Set(name, v)
			}
		case bool:
			if v {
				q.Set(name, "true")
			}
		case int:
			if v != 0 {
				q.Set(name, strconv.Itoa(v))
			}
		case int64:
			if v != 0 {
				q.Set(name, strconv.FormatInt(v, 10))
			}
		}
	}
	return q
}
