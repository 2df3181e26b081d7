// Package watch tells when an agent at work has been silent for too long. The
// time in which the agent waits for the user does not count. It does not
// write or read anything itself: drivers tell it of signs of life.
package watch

import (
	"sync"
	"time"

	"berth/backend/provider"
)

// Limits are how long an agent may be silent.
type Limits struct {
	First time.Duration // before it said anything in a turn
	Idle  time.Duration // after that
	Tool  time.Duration // while a tool of it runs: builds and test runs are silent
}

// Dog watches one conversation. Its methods may be called from any goroutine.
type Dog struct {
	clock  provider.Clock
	limits Limits
	fire   func(limit time.Duration)

	mu      sync.Mutex
	on      bool
	heard   bool // anything at all in this turn
	last    time.Time
	waiting int             // requests put to the user
	tools   map[string]bool // that run
	timer   func() bool
}

// New makes a watchdog that is off. fire is called once per turn, on the
// clock's goroutine, with the limit that was passed.
func New(clock provider.Clock, limits Limits, fire func(time.Duration)) *Dog {
	return &Dog{clock: clock, limits: limits, fire: fire, tools: map[string]bool{}}
}

// Begin starts to watch a turn.
func (w *Dog) Begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.on, w.heard, w.last, w.waiting = true, false, w.clock.Now(), 0
	clear(w.tools)
	w.arm()
}

// Restart counts the silence anew, as at the beginning of the turn: it has
// come a step further, and the agent has not said anything yet. Requests that
// wait still do.
func (w *Dog) Restart() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.on {
		w.heard, w.last = false, w.clock.Now()
		w.arm()
	}
}

// Stop ends watching.
func (w *Dog) Stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.on = false
	w.arm()
}

// Alive notes a sign of life.
func (w *Dog) Alive() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.heard, w.last = true, w.clock.Now()
}

// Working notes that a tool runs or ended.
func (w *Dog) Working(id string, runs bool) {
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

// Wait pauses the watch for one more request, Resume for one less.
func (w *Dog) Wait() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting++
	w.arm()
}

func (w *Dog) Resume() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting = max(0, w.waiting-1)
	w.last = w.clock.Now()
	w.arm()
}

func (w *Dog) limit() time.Duration {
	switch {
	case len(w.tools) > 0:
		return w.limits.Tool
	case w.heard:
		return w.limits.Idle
	}
	return w.limits.First
}

// arm sets the timer for what is left. It is not set anew at each sign of
// life: check looks at the time of the last one.
func (w *Dog) arm() {
	if w.timer != nil {
		w.timer()
		w.timer = nil
	}
	if w.on && w.waiting == 0 {
		w.timer = w.clock.AfterFunc(max(w.limit()-w.clock.Now().Sub(w.last), time.Millisecond), w.check)
	}
}

func (w *Dog) check() {
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
