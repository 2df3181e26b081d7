package codex

import (
	"sync"
	"time"
)

// skipping is a clock on which time passes as it does, and can be made to
// skip.
type skipping struct {
	mu     sync.Mutex
	ahead  time.Duration
	timers []*alarm
}

type alarm struct {
	due   time.Time
	f     func()
	timer *time.Timer
	over  bool
}

func (c *skipping) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.ahead)
}

func (c *skipping) AfterFunc(d time.Duration, f func()) func() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := &alarm{due: time.Now().Add(c.ahead + d), f: f}
	a.timer = time.AfterFunc(d, func() { c.fire(a) })
	c.timers = append(c.timers, a)
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		was := !a.over
		a.over = true
		a.timer.Stop()
		return was
	}
}

func (c *skipping) fire(a *alarm) {
	c.mu.Lock()
	over := a.over
	a.over = true
	c.mu.Unlock()
	if !over {
		a.f()
	}
}

// skip lets that much time pass at once.
func (c *skipping) skip(d time.Duration) {
	c.mu.Lock()
	c.ahead += d
	now := time.Now().Add(c.ahead)
	var due []*alarm
	for _, a := range c.timers {
		if !a.over && !a.due.After(now) {
			due = append(due, a)
		}
	}
	c.mu.Unlock()
	for _, a := range due {
		a.timer.Stop()
		c.fire(a)
	}
}

// frozen is a clock that stands still; what it is asked to do later happens
// in real time.
type frozen struct{ realClock }

func (frozen) Now() time.Time { return time.UnixMilli(1_800_000_000_000) }
