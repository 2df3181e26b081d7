package opencode

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"berth/backend/provider"
)

const username = "berth"

// refusal is a reply of the server that is not 2xx.
type refusal struct {
	Status  int
	Message string
}

func (e *refusal) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Status) }

// request makes a request about a folder.
func (srv *server) request(ctx context.Context, method, path, dir string, body any) (*http.Request, error) {
	var content io.Reader
	if body != nil {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(body); err != nil {
			return nil, err
		}
		content = &b
	}
	req, err := http.NewRequestWithContext(ctx, method, srv.url+path, content)
	if err != nil {
		return nil, err
	}
	query := req.URL.Query()
	query.Set("directory", dir)
	req.URL.RawQuery = query.Encode()
	req.SetBasicAuth(username, srv.password)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

// call makes a request and decodes the reply. The Delivery says what is
// proven of it: NotSent when no connection was had, Sent with any reply,
// Uncertain otherwise. wrote, if not nil, is called once the request is
// written.
func (srv *server) call(ctx context.Context, method, path, dir string, body, result any, wrote func()) (provider.Delivery, error) {
	var connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
		WroteRequest: func(info httptrace.WroteRequestInfo) {
			if info.Err == nil && wrote != nil {
				wrote()
			}
		},
	})
	req, err := srv.request(ctx, method, path, dir, body)
	if err != nil {
		return provider.NotSent, err
	}
	res, err := srv.http.Do(req)
	if err != nil {
		if !connected.Load() {
			return provider.NotSent, err
		}
		return provider.Uncertain, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, maxReply+1))
	if err != nil {
		return provider.Uncertain, err
	}
	if len(data) > maxReply {
		return provider.Sent, fmt.Errorf("the reply to %s is larger than %d bytes", path, maxReply)
	}
	if res.StatusCode/100 != 2 {
		refused := &refusal{res.StatusCode, replyMessage(data)}
		if res.StatusCode < 500 {
			return provider.NotSent, refused
		}
		return provider.Uncertain, refused
	}
	if result == nil || len(bytes.TrimSpace(data)) == 0 {
		return provider.Sent, nil
	}
	if err := json.Unmarshal(data, result); err != nil {
		return provider.Sent, fmt.Errorf("reply to %s: %w", path, err)
	}
	return provider.Sent, nil
}

// get and post are calls whose delivery does not matter.
func (srv *server) get(ctx context.Context, path, dir string, result any) error {
	return srv.soon(ctx, http.MethodGet, path, dir, nil, result)
}

func (srv *server) post(ctx context.Context, path, dir string, body, result any) error {
	return srv.soon(ctx, http.MethodPost, path, dir, body, result)
}

func (srv *server) soon(ctx context.Context, method, path, dir string, body, result any) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, err := srv.call(ctx, method, path, dir, body, result, nil)
	return err
}

// stream opens the event stream of a folder.
func (srv *server) stream(ctx context.Context, dir string) (io.ReadCloser, error) {
	req, err := srv.request(ctx, http.MethodGet, "/event", dir, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "text/event-stream")
	res, err := srv.http.Do(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		res.Body.Close()
		return nil, &refusal{res.StatusCode, "no event stream"}
	}
	return res.Body, nil
}

// replyMessage finds the words in an error reply.
func replyMessage(data []byte) string {
	var reply struct {
		Message string `json:"message"`
		Data    struct {
			Message string `json:"message"`
		} `json:"data"`
	}
	if json.Unmarshal(data, &reply) == nil {
		if text := firstNonEmpty(reply.Data.Message, reply.Message); text != "" {
			return firstBytes(text, maxDetail)
		}
	}
	return firstBytes(strings.TrimSpace(string(data)), maxDetail)
}

// isStatus says whether an error is a reply of that status.
func isStatus(err error, status int) bool {
	var refused *refusal
	return errors.As(err, &refused) && refused.Status == status
}

func fileURI(path string) string {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // a drive letter
	}
	return (&url.URL{Scheme: "file", Path: slashed}).String()
}

// firstBytes cuts at a character's boundary.
func firstBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// lastLine is the last line that says something.
func lastLine(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.LastIndexByte(s, '\n'); i >= 0 {
		s = s[i+1:]
	}
	return firstBytes(strings.TrimSpace(s), maxDetail)
}

func firstNonEmpty(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// hostOf is the host of a URL, empty if there is none.
func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return u.Host
}
