// Package fault ends the program at a named point, so that the kill test can
// prove what survives there.
//
// A point is armed by BERTH_FAULT=<name> or BERTH_FAULT=<name>:<n>, which
// means the n-th time the point is passed (from 1). The program then dies as
// by SIGKILL (TerminateProcess on Windows): no deferred function runs, no
// buffer is flushed, no child is told. Not armed, a point costs one atomic
// load and does nothing. Safe for concurrent use.
package fault

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
)

// Env is the environment variable that arms a point. It must not be handed to
// child processes.
const Env = "BERTH_FAULT"

// trigger is an armed point and how many passes are left.
type trigger struct {
	name string
	left atomic.Int64
}

var armed atomic.Pointer[trigger]

func init() { armed.Store(parse(os.Getenv(Env))) }

// Point dies here if name is armed and its count is reached.
func Point(name string) {
	t := armed.Load()
	if t == nil || t.name != name {
		return
	}
	if t.left.Add(-1) == 0 {
		kill()
	}
}

// kill ends this process at once and does not return.
var kill = func() {
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		_ = p.Kill()
	}
	select {} // the signal is on its way; nothing after the point may run
}

// parse reads name or name:n; anything else arms nothing.
func parse(s string) *trigger {
	name, count, counted := strings.Cut(s, ":")
	n := int64(1)
	if counted {
		var err error
		if n, err = strconv.ParseInt(count, 10, 64); err != nil || n < 1 {
			return nil
		}
	}
	if name == "" {
		return nil
	}
	t := &trigger{name: name}
	t.left.Store(n)
	return t
}
