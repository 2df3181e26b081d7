// Package api is Berth's one HTTP surface: every capability is an operation
// under /api/v1, and every door (the window, the local socket, the listener)
// leads to the same handler. It holds no rules of its own: it decides who
// calls, checks what is sent, and hands it to the feature.
//
// Guarantees: an operation is reached only by the realms and scopes it
// declares; a body is never read beyond its declared limit, counted in bytes;
// every failure, also of routing and parsing, is an application/problem+json
// with a stable code; a panic becomes such a problem, is logged, and ends
// nothing but its own request. Delivery of live updates is described in
// stream.go.
package api

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// prefix of all operations.
const prefix = "/api/v1"

// Handler is the API and the pages. Its methods may be called from any
// goroutine.
type Handler struct {
	features   Features
	log        *slog.Logger
	mux        *http.ServeMux
	operations huma.API
	declared   map[string]route
	pages      http.Handler
	tickets    *tickets
	window     window
	pulse      pulse

	// ending ends long polls and sockets; sockets counts the latter, which a
	// server does not wait for.
	ending  context.Context
	end     context.CancelFunc
	sockets sync.WaitGroup
}

// New makes the handler. Close ends it.
func New(f Features) *Handler {
	s := &Handler{
		features: f,
		log:      f.Log,
		mux:      http.NewServeMux(),
		declared: map[string]route{},
		tickets:  newTickets(),
		pulse:    usualPulse,
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.ending, s.end = context.WithCancel(context.Background())
	s.pages = newPages(f.Pages)
	s.operations = humago.New(s.mux, configuration())
	s.registerHealth()
	s.registerProcesses()
	s.registerAgents()
	s.registerChats()
	s.registerTurns()
	s.registerItems()
	s.registerFiles()
	s.registerFolders()
	s.registerSettings()
	s.registerTerminals()
	s.registerStream()
	s.registerDocument()
	return s
}

// Close ends long polls and sockets and waits for the sockets. Operations
// that are at work go on: the server that runs them waits for those.
func (s *Handler) Close() {
	s.end()
	s.sockets.Wait()
}

func configuration() huma.Config {
	c := huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{Title: "Berth", Version: "1",
				Description: "Chats with coding agents on one's own machine. Every failure is an application/problem+json with a stable code."},
			Components: &huma.Components{
				Schemas: huma.NewMapRegistry("#/components/schemas/", schemaName),
			},
		},
		Formats: map[string]huma.Format{"application/json": jsonFormat, "json": jsonFormat},
	}
	return c
}

// jsonFormat is encoding/json, refusing text that is not Unicode: decoding
// would silently replace it, and the user's text reaches the agent unchanged.
var jsonFormat = huma.Format{
	Marshal: func(w io.Writer, v any) error {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		return e.Encode(v)
	},
	Unmarshal: func(data []byte, v any) error {
		if !utf8.Valid(data) {
			return errNotUTF8
		}
		if halfCharacter(data) {
			return errHalfCharacter
		}
		return json.Unmarshal(data, v)
	},
}

type textError string

func (e textError) Error() string { return string(e) }

const (
	errNotUTF8       = textError("it is not UTF-8")
	errHalfCharacter = textError("a \\u escape is half of a character")
)

// halfCharacter says whether a JSON text writes a surrogate without its other
// half.
func halfCharacter(data []byte) bool {
	for {
		i := bytes.IndexByte(data, '\\')
		if i < 0 || i+1 >= len(data) {
			return false
		}
		unit, escape := utf16Escape(data[i:])
		if !escape {
			data = data[i+2:] // another escape, of one character
			continue
		}
		data = data[i+escapeLength:]
		if !utf16.IsSurrogate(unit) {
			continue
		}
		second, _ := utf16Escape(data)
		if utf16.DecodeRune(unit, second) == utf8.RuneError {
			return true
		}
		data = data[escapeLength:]
	}
}

// escapeLength is that of \uXXXX.
const escapeLength = 6

// utf16Escape reads the escape \uXXXX that data begins with, if it does.
func utf16Escape(data []byte) (unit rune, ok bool) {
	if len(data) < escapeLength || data[0] != '\\' || data[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(data[2:escapeLength]), 16, 16)
	return rune(n), err == nil
}
