package api

import (
	"errors"
	"fmt"
	"net/http"
	"path"
	"runtime/debug"
)

// serve answers a request whose caller is settled. A panic ends that request
// and nothing else.
func (s *Handler) serve(w http.ResponseWriter, r *http.Request) {
	t := &tracked{ResponseWriter: w}
	defer func() {
		cause := recover()
		if cause == nil {
			return
		}
		if err, ok := cause.(error); ok && errors.Is(err, http.ErrAbortHandler) {
			panic(cause) // how net/http is told to drop a connection
		}
		s.log.Error("request failed", "method", r.Method, "path", r.URL.Path, "panic", fmt.Sprint(cause), "stack", string(debug.Stack()))
		if !t.begun {
			problem(http.StatusInternalServerError, "internal", "Something failed inside Berth; the log says what.").write(t)
		}
	}()
	if isOperation(r.URL.Path) {
		s.operate(t, r)
		return
	}
	s.pages.ServeHTTP(t, r)
}

// operate finds the operation. What the mux would answer by itself in plain
// text, or by a redirect that the window cannot follow, becomes a problem.
func (s *Handler) operate(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	if path.Clean(r.URL.Path) != r.URL.Path {
		problem(http.StatusNotFound, "not_found", "There is no such operation.").write(w)
		return
	}
	handler, pattern := s.mux.Handler(r)
	if pattern != "" {
		s.mux.ServeHTTP(w, r)
		return
	}
	said := &answer{header: http.Header{}}
	handler.ServeHTTP(said, r)
	if said.status == http.StatusMethodNotAllowed {
		h["Allow"] = said.header["Allow"]
		problem(http.StatusMethodNotAllowed, "method_not_allowed", "This cannot be done here.").write(w)
		return
	}
	problem(http.StatusNotFound, "not_found", "There is no such operation.").write(w)
}

// tracked remembers whether an answer was begun.
type tracked struct {
	http.ResponseWriter
	begun bool
}

func (t *tracked) WriteHeader(status int) {
	t.begun = true
	t.ResponseWriter.WriteHeader(status)
}

func (t *tracked) Write(p []byte) (int, error) {
	t.begun = true
	return t.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController and WebSockets reach the connection.
func (t *tracked) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// answer takes what the mux says and sends nothing.
type answer struct {
	header http.Header
	status int
}

func (a *answer) Header() http.Header         { return a.header }
func (a *answer) Write(p []byte) (int, error) { return len(p), nil }
func (a *answer) WriteHeader(status int)      { a.status = status }
