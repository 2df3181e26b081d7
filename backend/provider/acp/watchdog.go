package acp

import (
	"sync"
	"time"

	"berth/backend/provider"
)

// The watchdog's limits. The protocol acknowledges nothing, so acceptance and
// first activity are one.
const (
	// firstLimit is generous: a local model may load itself first.
	firstLimit = 10 * time.Minute
	idleLimit  = 20 * time.Minute
	// toolLimit holds while a tool runs: builds and test runs are silent.
	toolLimit = 6 * time.Hour
)

// watchdog tells when an agent at work has been silent for too long. It does
// not count the time in which the agent waits for the user.
type watchdog struct {
	clock provider.Clock
	fire  func(limit time.Duration)

	mu      sync.Mutex
	on      bool
	heard   bool // anything at all in this turn
	last    time.Time
	waiting int             // requests put to the user
	tools   map[string]bool // that run
	timer   func() bool
}

func newWatchdog(clock provider.Clock, fire func(time.Duration)) *watchdog {
	return &watchdog{clock: clock, fire: fire, tools: map[string]bool{}}
}

// begin starts to watch a turn.
func (w *watchdog) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.on, w.heard, w.last, w.waiting = true, false, w.clock.Now(), 0
	clear(w.tools)
	w.arm()
}

// stop ends watching.
func (w *watchdog) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.on = false
	w.arm()
}

// alive notes a sign of life.
func (w *watchdog) alive() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.heard, w.last = true, w.clock.Now()
}

// working notes that a tool runs or ended.
func (w *watchdog) working(id string, runs bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := len(w.tools) > 0
	if runs {
		w.tools[id] = true
	} else {
		delete(w.tools, id)
	}
	if before != (len(w.tools) > 0) {
		w.arm()
	}
}

// wait pauses the watch for one more request, resume for one less.
func (w *watchdog) wait() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting++
	w.arm()
}

func (w *watchdog) resume() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting = max(0, w.waiting-1)
	w.last = w.clock.Now()
	w.arm()
}

func (w *watchdog) limit() time.Duration {
	switch {
	case len(w.tools) > 0:
		return toolLimit
	case w.heard:
		return idleLimit
	}
	return firstLimit
}

// arm sets the timer for what is left. It is not set anew at each sign of
// life: check looks at the time of the last one.
func (w *watchdog) arm() {
	if w.timer != nil {
		w.timer()
		w.timer = nil
	}
	if w.on && w.waiting == 0 {
		w.timer = w.clock.AfterFunc(max(w.limit()-w.clock.Now().Sub(w.last), time.Millisecond), w.check)
	}
}

func (w *watchdog) check() {
	w.mu.Lock()
	if !w.on || w.waiting > 0 {
		w.mu.Unlock()
		return
	}
	limit := w.limit()
	if w.clock.Now().Sub(w.last) < limit {
		w.arm()
		w.mu.Unlock()
		return
	}
	w.on = false
	w.mu.Unlock()
	w.fire(limit)
}
