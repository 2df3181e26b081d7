// Command bench measures Berth from outside, beside what a user would pick
// instead, in one run on one machine: "make bench". It prints a table and
// writes bench-results.json. The figures of a machine are kept in
// docs/performance.md.
//
// Every process that it starts is ended again; all state is in temporary
// directories. It needs the pinned agents (package clis) for what it compares
// with.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == agentArg {
		if err := playClock(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	headless := flag.String("berth", "bin/berth-headless", "the program to measure")
	window := flag.String("window", "bin/berth", "the program with the window, for its size")
	out := flag.String("out", "bench-results.json", "file for the figures")
	events := flag.Int("events", 1_000_000, "events in the database of the start")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *headless, *window, *out, *events)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, headless, window, out string, events int) (err error) {
	binary, err := filepath.Abs(headless)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "berth-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	b := &bench{ctx: ctx, binary: binary, window: window, dir: dir, events: events}
	other, err := startRival(ctx, dir)
	if err != nil {
		return fmt.Errorf("start what Berth is compared with: %w", err)
	}
	defer func() { err = errors.Join(err, other.close()) }()
	for _, part := range []struct {
		name    string
		measure func(*rival) error
	}{
		{"size", b.size}, {"start, memory and pages", b.stored}, {"relay of text", b.relay},
	} {
		fmt.Fprintf(os.Stderr, "bench: %s…\n", part.name)
		if err := part.measure(other); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	b.print(os.Stdout)
	return b.write(out)
}

// bench is one run.
type bench struct {
	ctx     context.Context
	binary  string
	window  string
	dir     string
	events  int
	figures []figure
}
