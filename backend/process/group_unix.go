//go:build unix

package process

import (
	"errors"
	"os"
	"slices"
	"sync"
	"syscall"
)

// group is a child and all that came of it: what is in its session or group,
// what descends from it by parents, and what carries its mark.
type group struct {
	leader identity
	mark   string // NAME=value in the environment of the leader and its descendants

	// mu is held while the group's ids are used and while the leader is
	// reaped: as long as it is not, its pid cannot be given to another, and
	// its ids mean this group.
	mu     sync.Mutex
	reaped bool
	known  map[identity]bool // members seen while the leader's pid was held
}

// members are the living processes of the group.
func (g *group) members() ([]entry, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.scan()
}

func (g *group) scan() ([]entry, error) {
	all, err := table()
	if err != nil {
		return nil, err
	}
	found := descendants(all, func(e entry) bool {
		switch {
		case e.start < g.leader.start:
			return false
		case !g.reaped && (e.pid == g.leader.pid || e.group == g.leader.pid || e.session == g.leader.pid):
			return true
		}
		return g.known[e.identity] || marked(e, g.mark)
	})
	if !g.reaped {
		clear(g.known)
		for _, e := range found {
			g.known[e.identity] = true
		}
	}
	return found, nil
}

// signal sends sig to each member; with SIGKILL nothing that the leader's
// group forks meanwhile escapes.
func (g *group) signal(sig syscall.Signal) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	found, err := g.scan()
	if !g.reaped {
		if e := syscall.Kill(-g.leader.pid, sig); e != nil && !errors.Is(e, syscall.ESRCH) && !errors.Is(e, syscall.EPERM) {
			err = errors.Join(err, e)
		}
	}
	for _, e := range found {
		if g.reaped || e.group != g.leader.pid {
			err = errors.Join(err, signalExactly(e, sig))
		}
	}
	return err
}

// leftover is what a process that ended left in its group and session: their
// members at that moment, and what these start there.
type leftover struct {
	leader int
	known  map[identity]bool
}

func (l leftover) has(e entry) bool { return e.group == l.leader || e.session == l.leader }

func (l leftover) members() ([]entry, error) {
	all, err := table()
	if err != nil {
		return nil, err
	}
	var found []entry
	for _, e := range descendants(all, func(e entry) bool { return l.known[e.identity] }) {
		if l.has(e) {
			l.known[e.identity] = true
			found = append(found, e)
		}
	}
	return found, nil
}

func (l leftover) signal(sig syscall.Signal) error {
	found, err := l.members()
	return errors.Join(err, signalEach(found, sig))
}

// descendants are the living processes for which is holds, and those that
// have one of them for a parent, grandparent and so on; never this process.
func descendants(all []entry, is func(entry) bool) []entry {
	children := map[int][]entry{}
	for _, e := range all {
		children[e.parent] = append(children[e.parent], e)
	}
	var found []entry
	seen := map[int]bool{os.Getpid(): true}
	var add func(e entry)
	add = func(e entry) {
		if seen[e.pid] {
			return
		}
		seen[e.pid] = true
		if !e.dead {
			found = append(found, e)
		}
		for _, c := range children[e.pid] {
			add(c)
		}
	}
	for _, e := range all {
		if !seen[e.pid] && is(e) {
			add(e)
		}
	}
	return found
}

// marked says whether e was started with mark in its environment.
func marked(e entry, mark string) bool {
	if e.dead {
		return false
	}
	env, err := environ(e.pid)
	return err == nil && slices.Contains(env, mark)
}
