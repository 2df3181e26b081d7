package claude

import (
	"sync"
	"time"

	"berth/backend/provider"
)

// How long silence is borne. While the human is asked, no clock runs.
const (
	// acceptWithin is from the writing of a message to the agent's word that
	// it has taken it. It does so within a second, unless it is at work by
	// itself (after a background task); what it says then counts as life.
	acceptWithin = 3 * time.Minute
	// answerWithin is from there to the first sign of an answer. A model on
	// the user's own machine may read a long conversation for minutes.
	answerWithin = 10 * time.Minute
	// goOnWithin is between two signs of life later: tools of MCP servers may
	// run for hours without a word.
	goOnWithin = 6 * time.Hour
)

// watchdog calls expire, from a goroutine of the clock, after a time without
// a touch. Its methods may be called from any goroutine.
type watchdog struct {
	clock  provider.Clock
	expire func(limit time.Duration)

	mu     sync.Mutex
	limit  time.Duration // 0: at rest
	last   time.Time
	paused bool
	stop   func() bool
	round  int // tells late timers from the one that counts
}

// watch begins to wait, with a new limit, for a sign of life.
func (w *watchdog) watch(limit time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.limit, w.last = limit, w.clock.Now()
	w.arm(limit)
}

// arm sets the timer. The caller holds mu.
func (w *watchdog) arm(d time.Duration) {
	if w.stop != nil {
		w.stop()
	}
	w.round++
	round := w.round
	w.stop = w.clock.AfterFunc(d, func() { w.check(round) })
}

// touch is a sign of life.
func (w *watchdog) touch() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = w.clock.Now()
}

// pause stops the clock while the human is asked; the answer is a sign of
// life.
func (w *watchdog) pause(paused bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.paused && !paused {
		w.last = w.clock.Now()
	}
	w.paused = paused
}

// rest stops waiting.
func (w *watchdog) rest() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.limit = 0
	w.round++
	if w.stop != nil {
		w.stop()
		w.stop = nil
	}
}

func (w *watchdog) check(round int) {
	w.mu.Lock()
	if round != w.round || w.limit == 0 {
		w.mu.Unlock()
		return
	}
	left := w.limit - w.clock.Now().Sub(w.last)
	if w.paused {
		left = w.limit
	}
	if left > 0 {
		w.arm(left)
		w.mu.Unlock()
		return
	}
	limit := w.limit
	w.limit, w.stop = 0, nil
	w.mu.Unlock()
	w.expire(limit)
}
