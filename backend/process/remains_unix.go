//go:build unix

package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"berth/backend/store"
)

// outcomeWithin: this Berth was started from what an old terminal of Berth
// left, a terminal multiplexer say, and does not end what it runs in.
const outcomeWithin = "kept: this Berth runs inside it"

// reapGrace is what an earlier Berth's processes have from the request to end
// until they are killed. Nobody reads their output any more.
const reapGrace = time.Second

// remains is what children of an earlier Berth, or children that ended, left
// running: leaders whose pid and start time still match an open row, the
// groups of these, whatever carries the mark of a recorded process, and the
// descendants of all of these.
type remains struct {
	open   map[int]*Reaped // by pid
	byID   map[string]*Reaped
	isMark func(id string) bool
	kept   map[int]bool // this process's ancestors
}

// endRemains ends what is left of rows, and of processes that ended, and notes
// it in the rows. It returns, besides, what is left of processes without a row
// among these.
func (s *Supervisor) endRemains(ctx context.Context, rows []*Reaped) (others []Reaped, err error) {
	r := s.newRemains(ctx, rows)
	found, err := r.members()
	if err != nil {
		return nil, fmt.Errorf("look for what an earlier Berth left: %w", err)
	}
	for _, e := range found {
		if row := r.rowOf(e); row != nil {
			row.Outcome = outcomeEnded
		}
	}
	if end(ctx, r, reapGrace, syscall.SIGTERM) == nil {
		return nil, nil
	}
	left, err := r.members()
	if err != nil {
		return nil, fmt.Errorf("look for what an earlier Berth left: %w", err)
	}
	for _, e := range left {
		text := fmt.Sprintf("still running: %s (pid %d)", e.name, e.pid)
		if row := r.rowOf(e); row != nil {
			row.Outcome, row.Alive = text, true
		} else {
			others = append(others, Reaped{ID: markOf(e), Pid: e.pid, Label: e.name, Outcome: text, Alive: true})
		}
	}
	return others, nil
}

func (s *Supervisor) newRemains(ctx context.Context, rows []*Reaped) *remains {
	r := &remains{open: map[int]*Reaped{}, byID: map[string]*Reaped{}, kept: ancestors(os.Getpid())}
	within, _ := marksOf(os.Getpid())
	for _, row := range rows {
		if row.ID == within {
			row.Outcome = outcomeWithin
			continue
		}
		r.open[row.Pid], r.byID[row.ID] = row, row
	}
	known := map[string]bool{}
	r.isMark = func(id string) bool {
		is, asked := known[id]
		if !asked {
			// A row that cannot be read makes no one ours.
			is, _ = s.recorded(context.WithoutCancel(ctx), id, "")
			known[id] = is
		}
		return is && id != within && !s.isChild(id)
	}
	return r
}

func (r *remains) members() ([]entry, error) {
	all, err := table()
	if err != nil {
		return nil, err
	}
	// A leader that is there, even unreaped, holds its pid: the group and the
	// session of that number are its own.
	leaders := map[int]bool{}
	for _, e := range all {
		if row := r.open[e.pid]; row != nil && row.started == e.identity {
			leaders[e.pid] = true
		}
	}
	found := descendants(all, func(e entry) bool {
		return !r.kept[e.pid] && (leaders[e.pid] || leaders[e.group] || leaders[e.session] || r.isMark(markOf(e)))
	})
	kept := found[:0]
	for _, e := range found {
		if !r.kept[e.pid] {
			kept = append(kept, e)
		}
	}
	return kept, nil
}

func (r *remains) signal(sig syscall.Signal) error {
	found, err := r.members()
	return errors.Join(err, signalEach(found, sig))
}

// rowOf is the open row from which e came, as far as it shows.
func (r *remains) rowOf(e entry) *Reaped {
	if row := r.byID[markOf(e)]; row != nil {
		return row
	}
	for _, pid := range []int{e.pid, e.group, e.session} {
		if row := r.open[pid]; row != nil {
			return row
		}
	}
	return nil
}

// markOf is the id of the process from which e descends, by its environment.
func markOf(e entry) string {
	process, _ := marksOf(e.pid)
	return process
}

// marksOf reads the marks in the environment of a process, as far as they can
// be ids.
func marksOf(pid int) (process, execution string) {
	env, err := environ(pid)
	if err != nil {
		return "", ""
	}
	for _, v := range env {
		if id, ok := strings.CutPrefix(v, processName+"="); ok && store.ValidID("proc", id) {
			process = id
		}
		if id, ok := strings.CutPrefix(v, executionName+"="); ok {
			execution = id
		}
	}
	return process, execution
}

// maxAncestors bounds a walk up the process table, which changes meanwhile.
const maxAncestors = 128

// ancestors are pid's parent, its parent and so on.
func ancestors(pid int) map[int]bool {
	above := map[int]bool{}
	for range maxAncestors {
		e, err := entryOf(pid)
		if err != nil || e.parent <= 0 || above[e.parent] {
			break
		}
		pid = e.parent
		above[pid] = true
	}
	return above
}

// Descends says whether a process is a recorded child of Berth or came of
// one, by its parents, by their sessions and groups, and by the marks in their
// environments. A process that cannot be looked at counts as one: what asks is
// whether it may act for the owner.
func (s *Supervisor) Descends(pid int) bool {
	own := os.Getpid()
	leaders := map[int]bool{}
	for _, c := range s.all() {
		leaders[c.Pid()] = true
	}
	for range maxAncestors {
		if pid == own || pid <= 1 {
			return false
		}
		e, err := entryOf(pid)
		if err != nil {
			return true
		}
		if leaders[e.pid] || leaders[e.group] || leaders[e.session] {
			return true
		}
		process, execution := marksOf(pid)
		if process != "" || execution != "" {
			ours, err := s.recorded(context.Background(), process, execution)
			if ours || err != nil {
				return true
			}
		}
		pid = e.parent
	}
	return true
}
