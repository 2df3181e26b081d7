package watch

import (
	"testing"
	"time"
)

// clock is time that passes only when told to; one timer at a time is set on
// it.
type clock struct {
	now   time.Time
	due   time.Time
	fires func()
}

func (c *clock) Now() time.Time { return c.now }

func (c *clock) AfterFunc(d time.Duration, f func()) func() bool {
	c.due, c.fires = c.now.Add(d), f
	return func() bool { c.fires = nil; return true }
}

func (c *clock) pass(d time.Duration) {
	end := c.now.Add(d)
	for c.fires != nil && !c.due.After(end) {
		c.now = c.due
		f := c.fires
		c.fires = nil
		f()
	}
	c.now = end
}

func TestDog(t *testing.T) {
	limits := Limits{First: time.Minute, Idle: 2 * time.Minute, Tool: time.Hour}
	cases := []struct {
		name string
		do   func(*clock, *Dog)
		want time.Duration // 0: silent for no limit yet
	}{
		{"off", func(c *clock, d *Dog) { d.Stop(); c.pass(time.Hour) }, 0},
		{"nothing at all", func(c *clock, d *Dog) { c.pass(time.Minute) }, limits.First},
		{"before the first limit", func(c *clock, d *Dog) { c.pass(59 * time.Second) }, 0},
		{"a sign of life, then silence", func(c *clock, d *Dog) { d.Alive(); c.pass(2 * time.Minute) }, limits.Idle},
		{"signs of life", func(c *clock, d *Dog) {
			for range 10 {
				d.Alive()
				c.pass(100 * time.Second)
			}
		}, 0},
		{"a tool runs", func(c *clock, d *Dog) { d.Alive(); d.Working("a", true); c.pass(30 * time.Minute) }, 0},
		{"a tool runs for too long", func(c *clock, d *Dog) { d.Working("a", true); c.pass(time.Hour) }, limits.Tool},
		{"a tool ended", func(c *clock, d *Dog) {
			d.Alive()
			d.Working("a", true)
			c.pass(10 * time.Minute)
			d.Alive()
			d.Working("a", false)
			c.pass(2 * time.Minute)
		}, limits.Idle},
		{"the user is asked", func(c *clock, d *Dog) { d.Wait(); c.pass(10 * time.Hour) }, 0},
		{"the user answered", func(c *clock, d *Dog) {
			d.Alive()
			d.Wait()
			c.pass(10 * time.Hour)
			d.Resume()
			c.pass(119 * time.Second)
		}, 0},
		{"silence after the answer", func(c *clock, d *Dog) {
			d.Alive()
			d.Wait()
			c.pass(10 * time.Hour)
			d.Resume()
			c.pass(2 * time.Minute)
		}, limits.Idle},
		{"begun anew", func(c *clock, d *Dog) { d.Alive(); c.pass(119 * time.Second); d.Restart(); c.pass(time.Minute) }, limits.First},
		{"begun anew while the user is asked", func(c *clock, d *Dog) { d.Wait(); d.Restart(); c.pass(10 * time.Hour) }, 0},
		{"begun anew while off", func(c *clock, d *Dog) { d.Stop(); d.Restart(); c.pass(time.Hour) }, 0},
		{"one of two requests waits", func(c *clock, d *Dog) { d.Wait(); d.Wait(); d.Resume(); c.pass(10 * time.Hour) }, 0},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			c := &clock{now: time.Unix(1000, 0)}
			var got []time.Duration
			d := New(c, limits, func(limit time.Duration) { got = append(got, limit) })
			d.Begin()
			tc.do(c, d)
			switch {
			case tc.want == 0 && len(got) > 0:
				t.Fatalf("fired after %v", got)
			case tc.want > 0 && (len(got) != 1 || got[0] != tc.want):
				t.Fatalf("fired %v, want once after %v", got, tc.want)
			}
		})
	}
}
