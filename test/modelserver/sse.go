package modelserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// errCut says that a reply is to be broken off here.
var errCut = errors.New("cut off as scripted")

// sse writes server-sent events, flushed one by one.
type sse struct {
	w     http.ResponseWriter
	flush *http.ResponseController
	ctx   context.Context
	reply *reply
}

func openSSE(w http.ResponseWriter, r *http.Request, reply *reply) *sse {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	return &sse{w, http.NewResponseController(w), r.Context(), reply}
}

// send writes one event; name may be empty.
func (s *sse) send(name string, data any) error {
	encoded, err := encode(data)
	if err != nil {
		return err
	}
	return s.sendRaw(name, encoded)
}

func (s *sse) sendRaw(name string, data []byte) error {
	var out bytes.Buffer
	if name != "" {
		fmt.Fprintf(&out, "event: %s\n", name)
	}
	fmt.Fprintf(&out, "data: %s\n\n", data)
	step := out.Len()
	if s.reply.split {
		step = 1 // a write per byte: the reader sees characters in halves
	}
	for rest := out.Bytes(); len(rest) > 0; rest = rest[min(step, len(rest)):] {
		if _, err := s.w.Write(rest[:min(step, len(rest))]); err != nil {
			return err
		}
		if err := s.flush.Flush(); err != nil {
			return err
		}
	}
	return s.ctx.Err()
}

// begin plays the silence that a reply starts with, once the stream is open.
func (s *sse) begin() error { return s.wait(s.reply.silence) }

// text hands out a text piece by piece at the reply's pace, and breaks off in
// the middle if that is scripted.
func (s *sse) text(text string, each func(piece string) error) error {
	runes := []rune(text)
	for at := 0; at < len(runes); at += s.reply.piece {
		if s.reply.cut && at > len(runes)/2 {
			return errCut
		}
		piece := string(runes[at:min(at+s.reply.piece, len(runes))])
		if s.reply.clock {
			piece = fmt.Sprintf("%d ", time.Now().UnixNano())
		}
		if err := each(piece); err != nil {
			return err
		}
		if err := s.wait(s.reply.pace); err != nil {
			return err
		}
	}
	return nil
}

func (s *sse) wait(d time.Duration) error {
	if d <= 0 {
		return s.ctx.Err()
	}
	timer := time.NewTimer(min(d, maxWait))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
}

// encode is JSON with the bytes of invalid_utf8 in their place.
func encode(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.ReplaceAll(bytes.TrimRight(out.Bytes(), "\n"), []byte(badBytes), []byte(InvalidBytes)), nil
}

// writeWhole answers a request that does not stream.
func writeWhole(w http.ResponseWriter, r *http.Request, reply *reply, v any) error {
	wait := sse{ctx: r.Context(), reply: reply}
	if err := wait.begin(); err != nil {
		return err
	}
	if reply.cut {
		return errCut
	}
	data, err := encode(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, err = w.Write(data)
	return err
}
