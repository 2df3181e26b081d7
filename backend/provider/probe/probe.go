// Package probe runs the short commands by which drivers look at an agent:
// its version, its sign-in. Each ends within its context; what it prints is
// bounded, and its process group is gone when Run returns.
package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"berth/backend/process"
)

const (
	// MaxOutput bounds what is read of a command's output, in bytes. Codex
	// lists its models with the instructions of each: 0.9 MB, and growing.
	MaxOutput = 8 << 20
	// stopGrace is for a command that outlives its context.
	stopGrace = 500 * time.Millisecond
	// stopWithin bounds the ending of it, two graces and some room.
	stopWithin = 3 * time.Second
)

// Starter starts processes; *process.Supervisor is one.
type Starter interface {
	Start(ctx context.Context, spec process.Spec) (process.Process, error)
}

// Result is what a command left.
type Result struct {
	Stdout string
	Stderr string // bounded tail
	Code   int    // -1 when it was ended by a signal
}

// LastLine is the last line that a command said, on stderr before stdout.
func (r Result) LastLine() string {
	for _, s := range []string{r.Stderr, r.Stdout} {
		if s = strings.TrimSpace(s); s != "" {
			return strings.TrimSpace(s[strings.LastIndexByte(s, '\n')+1:])
		}
	}
	return ""
}

// Run runs a command with empty input to its end. An error means that it did
// not start, or that ctx ended first; an exit code is none.
func Run(ctx context.Context, starter Starter, spec process.Spec) (Result, error) {
	proc, err := starter.Start(ctx, spec)
	if err != nil {
		return Result{}, err
	}
	_ = proc.Stdin().Close()
	out := make(chan string, 1)
	go func() {
		data, _ := io.ReadAll(io.LimitReader(proc.Stdout(), MaxOutput))
		_, _ = io.Copy(io.Discard, proc.Stdout())
		out <- strings.ToValidUTF8(string(data), "\uFFFD")
	}()
	select {
	case <-proc.Done():
		err = nil
	case <-ctx.Done():
		err = fmt.Errorf("%s did not end in time: %w", spec.Label, ctx.Err())
	}
	// Also after its end: what it has started may hold its output open.
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWithin)
	defer cancel()
	if stopErr := proc.Stop(within, stopGrace); stopErr != nil {
		err = errors.Join(err, stopErr)
	}
	if err != nil {
		return Result{}, err
	}
	select {
	case stdout := <-out:
		return Result{Stdout: stdout, Stderr: proc.StderrTail(), Code: proc.Exit().Code}, nil
	case <-within.Done():
		return Result{}, fmt.Errorf("the output of %s did not end", spec.Label)
	}
}

var version = regexp.MustCompile(`\d+(?:\.\d+)+[0-9A-Za-z.+-]{0,60}`)

// Version finds a version number in what a command printed.
func Version(text string) string { return version.FindString(text) }

// Older says whether version a comes before b, number by number.
func Older(a, b string) bool {
	x, y := numbers(a), numbers(b)
	for i := range max(len(x), len(y)) {
		var p, q int
		if i < len(x) {
			p = x[i]
		}
		if i < len(y) {
			q = y[i]
		}
		if p != q {
			return p < q
		}
	}
	return false
}

// numbers are the leading numbers of a version, at most four.
func numbers(v string) []int {
	var all []int
	for part := range strings.SplitSeq(v, ".") {
		n, digits := 0, 0
		for digits < len(part) && part[digits] >= '0' && part[digits] <= '9' && digits < 9 {
			n = n*10 + int(part[digits]-'0')
			digits++
		}
		if digits == 0 || len(all) == 4 {
			break
		}
		all = append(all, n)
	}
	return all
}
