// Package modelserver plays the language model behind the real agents, so
// that drivers can be proven without a network and without an account.
//
// A Server listens on loopback and speaks Anthropic Messages, OpenAI
// Responses, OpenAI Chat Completions and Gemini. What it answers is decided
// by the last text of the user: directives in it (see ParseDirectives) or a
// script set by a test (Script). An answer may call a tool; once the tool's
// result arrives, the next step follows, and at the end a final answer quotes
// the results. Where a conversation stands is read from the request itself,
// so a replayed or resumed conversation goes on at the right step.
//
// Every request is recorded. Requests that an agent makes for itself (titles,
// topics, routing, quota probes) get a harmless answer and are recorded as
// Side, not as a turn.
//
// Bounds: a request body of maxBody bytes, maxRecords recorded requests
// (beyond it the server answers 503, so that a looping agent ends), no waits
// longer than maxWait. Nothing is written to disk.
package modelserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Bounds of a server.
const (
	maxBody    = 64 << 20 // a 2 MB paste with history and images fits many times
	maxRecords = 20_000   // an agent that loops is stopped long before memory matters
	maxWait    = 10 * time.Minute
)

// Server is a running model server. Its methods may be called from any
// goroutine.
type Server struct {
	http  *http.Server
	addr  net.Addr
	ends  context.CancelFunc
	ended chan struct{}

	mu      sync.Mutex
	changed chan struct{} // closed and replaced when a record changes
	records []*Request
	scripts []script
	failed  map[string]int // how often a failing step was played, by prompt and step
	lastID  int
}

// script answers user texts that contain match.
type script struct {
	match string
	steps []Step
}

// Start listens on a free loopback port.
func Start() (*Server, error) { return Listen("127.0.0.1:0") }

// Listen serves on the given loopback address.
func Listen(addr string) (*Server, error) {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen for the model server: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Server{
		addr:    listener.Addr(),
		ends:    cancel,
		ended:   make(chan struct{}),
		changed: make(chan struct{}),
		failed:  map[string]int{},
	}
	s.http = &http.Server{
		Handler:           s.routes(),
		ReadHeaderTimeout: 10 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	go func() {
		defer close(s.ended)
		_ = s.http.Serve(listener) // always ErrServerClosed: Close is the only end
	}()
	return s, nil
}

// URL is the server's address, without a path: http://127.0.0.1:port.
func (s *Server) URL() string { return "http://" + s.addr.String() }

// Close ends every answer under way and stops listening.
func (s *Server) Close() error {
	s.ends()
	err := s.http.Close()
	<-s.ended
	return err
}

// Script answers user texts that contain match with the steps. The script
// set last wins; directives in the text win over scripts.
func (s *Server) Script(match string, steps ...Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scripts = append(s.scripts, script{match, steps})
}

// Reset forgets scripts, records and counts of failures.
func (s *Server) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scripts, s.records, s.failed = nil, nil, map[string]int{}
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", s.answering(anthropic{}))
	mux.HandleFunc("POST /v1/messages/count_tokens", countAnthropic)
	mux.HandleFunc("POST /v1/responses", s.answering(responses{}))
	mux.HandleFunc("POST /v1/chat/completions", s.answering(completions{}))
	mux.HandleFunc("GET /v1/models", listModels)
	mux.HandleFunc("POST /v1beta/models/{call}", s.gemini)
	mux.HandleFunc("HEAD /{$}", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /_requests", s.showRequests)
	mux.HandleFunc("POST /_script", s.setScript)
	mux.HandleFunc("POST /_reset", func(w http.ResponseWriter, _ *http.Request) {
		s.Reset()
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("/", s.unknown)
	return mux
}

// protocol is one provider's wire format.
type protocol interface {
	// name of the protocol in records.
	name() string
	// parse reads a request body.
	parse(body []byte, r *http.Request) (*ask, error)
	// fail writes an error as the provider does.
	fail(w http.ResponseWriter, status int, message string)
	// write answers; ids makes unique ids with a prefix. It returns early
	// when the stream is cut or ended.
	write(w http.ResponseWriter, r *http.Request, a *ask, reply *reply, ids func(prefix string) string) error
}

// answering records a request and plays the next step of its script.
func (s *Server) answering(p protocol) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := readBody(w, r)
		if err != nil {
			p.fail(w, http.StatusRequestEntityTooLarge, err.Error())
			return
		}
		a, err := p.parse(body, r)
		if err != nil {
			p.fail(w, http.StatusBadRequest, err.Error())
			return
		}
		record, ok := s.record(p.name(), r, body, a)
		if !ok {
			p.fail(w, http.StatusServiceUnavailable, "the model server has recorded its limit of requests")
			return
		}
		reply := s.next(a)
		outcome := s.play(w, r, p, a, reply)
		s.finish(record, outcome)
		if outcome == OutcomeCut {
			panic(http.ErrAbortHandler) // breaks the connection off without ending the body
		}
	}
}

// play writes a reply and says how it ended.
func (s *Server) play(w http.ResponseWriter, r *http.Request, p protocol, a *ask, reply *reply) Outcome {
	if reply.status != 0 {
		if reply.retryAfter >= 0 {
			w.Header().Set("Retry-After", strconv.Itoa(reply.retryAfter))
		}
		p.fail(w, reply.status, reply.message)
		return OutcomeError
	}
	err := p.write(w, r, a, reply, s.id)
	switch {
	case errors.Is(err, errCut):
		return OutcomeCut
	case err != nil:
		return OutcomeGone
	}
	return OutcomeDone
}

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	var body json.RawMessage
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&body); err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	return body, nil
}

func (s *Server) setScript(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Match string `json:"match"`
		Steps []Step `json:"steps"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.Script(in.Match, in.Steps...)
	w.WriteHeader(http.StatusNoContent)
}

// unknown records calls to paths the server does not serve, so that a test
// can see them, and says 404.
func (s *Server) unknown(w http.ResponseWriter, r *http.Request) {
	if record, ok := s.record("unknown", r, nil, &ask{side: "unknown path"}); ok {
		s.finish(record, OutcomeError)
	}
	writeJSON(w, http.StatusNotFound, map[string]any{"error": map[string]any{"message": "the model server does not serve " + r.URL.Path, "type": "not_found_error"}})
}

// id makes an id that is unique in this server, and among servers that live
// at the same time.
func (s *Server) id(prefix string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastID++
	_, port, _ := strings.Cut(s.addr.String(), ":")
	return fmt.Sprintf("%s%s_%d", prefix, port, s.lastID)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the caller went away: nobody to tell
}

func listModels(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{
		"object": "list",
		"data":   []any{map[string]any{"id": ModelName, "object": "model", "created": 0, "owned_by": "berth"}},
	})
}

// ModelName is the model that the settings of this package choose where an
// agent lets them.
const ModelName = "scripted"
