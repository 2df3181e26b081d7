// Package process starts and ends Berth's child processes.
//
// Every child is registered (pid, start time, boot id, executable) before it
// can do harm: it waits behind a gate until its row is committed, then
// execs. It leads a session and group of its own (a Job Object on Windows) and
// dies with Berth where the system offers that; what is left over of a killed
// Berth is ended at the next start. A pid alone is never signalled.
//
// What came of a child is told by its session and group, by the chain of
// parents, and by BERTH_PROCESS in the environment. Stop ends all of it. When a
// child ends by itself, what is left in its group ends too; what left the
// group, as a daemon does, ends with Berth. Out of reach is only what gave up
// all three: a process with an environment of its own making, in a session of
// its own, whose parents have ended.
//
// Everything is bounded: the number of children, what is kept of stderr, how
// long an end takes. Stdout is not read ahead: a driver that does not read
// stops its agent, and nothing is lost. After a child's end its pipes yield
// what is in them and then end, whoever else holds them.
package process

import (
	"context"
	"io"
	"time"
)

// Spec is what a child is started with.
type Spec struct {
	// Path is the executable, absolute (see Finder), and Args its arguments
	// without the name.
	Path string
	Args []string
	Dir  string
	// Env is added to the scrubbed and completed environment of Berth.
	Env []string
	// Execution is carried as BERTH_EXECUTION, by which descendants that
	// left the group are found.
	Execution string
	// Label names the process for people: "claude", "git".
	Label string
	// Chat that the process works for, if any.
	Chat string
	// StderrTail bounds what is kept of stderr, in bytes; 0 means 64 KiB.
	StderrTail int
}

// Process is a running child. Its methods may be called from any goroutine.
type Process interface {
	// ID in the registry (proc_…).
	ID() string
	Pid() int
	Stdin() io.WriteCloser
	Stdout() io.Reader
	// StderrTail is what was last written to stderr, bounded.
	StderrTail() string
	// Done is closed once the process has ended and was reaped.
	Done() <-chan struct{}
	// Exit is valid after Done.
	Exit() Exit
	// Stop closes stdin, asks the group to end after grace (SIGTERM), and
	// kills it after another grace. It returns nil when the whole group is
	// proven gone, else what could not be proven.
	Stop(ctx context.Context, grace time.Duration) error
}

// Exit is how a process ended.
type Exit struct {
	Code   int    // -1 when ended by a signal
	Signal string // name of the signal, if any
	Err    error
}
