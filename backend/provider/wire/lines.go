// Package wire is the ordered line protocol that the agents share: one JSON
// value per line over a child's pipes, and JSON-RPC on top of it.
//
// Delivery: lines are handed over in the order read, by the one goroutine
// that reads; a handler that blocks stops the pipe, nothing is dropped.
// Writes are whole lines, one at a time; the result of a write says whether
// anything of it may have reached the agent.
package wire

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"berth/backend/provider"
)

// MaxLine bounds a line, in bytes; agents send whole files and images in one.
// A picture of 32 MiB takes 43 MiB; growing to the limit takes about three
// times as much memory.
const MaxLine = 64 << 20

// ErrLineTooLong ends a connection whose agent sent a line above the limit.
var ErrLineTooLong = errors.New("the agent sent a line that is too long")

// Lines is a line connection. Next belongs to one goroutine; Write may be
// called from any.
type Lines struct {
	r   *bufio.Reader
	max int

	mu  sync.Mutex
	w   io.Writer
	err error // of an earlier write that may have been cut short
}

// NewLines makes a connection; max 0 means MaxLine.
func NewLines(r io.Reader, w io.Writer, max int) *Lines {
	if max == 0 {
		max = MaxLine
	}
	return &Lines{r: bufio.NewReaderSize(r, 64<<10), w: w, max: max}
}

// Next gives the next line without its end, blank lines skipped. The slice
// is the caller's. At the end of the stream it returns io.EOF; a last line
// without an end counts.
func (l *Lines) Next() ([]byte, error) {
	for {
		line, err := l.line()
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func (l *Lines) line() ([]byte, error) {
	var line []byte
	for {
		part, err := l.r.ReadSlice('\n')
		if len(line)+len(part) > l.max {
			return nil, ErrLineTooLong
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// Write sends v as one line. ctx is checked before the first byte; a write
// that has begun goes on until the pipe takes it or breaks.
func (l *Lines) Write(ctx context.Context, v any) (provider.Delivery, error) {
	data, err := marshal(v)
	if err != nil {
		return provider.NotSent, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return provider.NotSent, err
	}
	if l.err != nil {
		return provider.NotSent, l.err
	}
	n, err := l.w.Write(data)
	if err != nil {
		l.err = fmt.Errorf("write to the agent: %w", err)
		if n == 0 {
			return provider.NotSent, l.err
		}
		return provider.Uncertain, l.err
	}
	return provider.Sent, nil
}

// marshal encodes without escaping <, > and &: the user's text travels as it
// was written.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
