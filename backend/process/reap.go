package process

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"berth/backend/store"
)

// keptRows is how many ended processes stay in the registry, for the debug
// view and because descendants that outlived them are told by their ids.
const keptRows = 10_000

// Outcomes of what an earlier Berth left.
const (
	outcomeRestarted = "gone: the system was restarted"
	outcomeGone      = "gone with Berth"
	outcomeEnded     = "ended at the next start of Berth"
)

// Reaped is a process of an earlier Berth whose end was not on record.
type Reaped struct {
	ID        string
	Pid       int
	Label     string
	Chat      string
	Execution string
	// Outcome is what became of it, for people.
	Outcome string
	// Alive: it, or something that it started, could not be proven gone.
	Alive bool

	started identity
	boot    string
}

// Reap ends what an earlier Berth left running, and closes its rows. It is
// called at start-up, when no other backend has the database. The error tells
// of what could not be looked at; what could not be ended is Alive.
func (s *Supervisor) Reap(ctx context.Context) ([]Reaped, error) {
	rows, err := s.unended(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the registry of processes: %w", err)
	}
	boot, err := bootID()
	if err != nil {
		return nil, err
	}
	var present []*Reaped
	for i := range rows {
		rows[i].Outcome = outcomeRestarted
		if rows[i].boot == boot {
			rows[i].Outcome = outcomeGone
			present = append(present, &rows[i])
		}
	}
	// Even without open rows: a process may have outlived one that ended well.
	others, endErr := s.endRemains(ctx, present)
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		for _, r := range rows {
			if r.Alive {
				continue // looked for again at the next start
			}
			if _, err := tx.Exec("update processes set ended_at = ?, outcome = ? where id = ?",
				store.Now().UnixMilli(), r.Outcome, r.ID); err != nil {
				return err
			}
		}
		_, err := tx.Exec(`delete from processes where ended_at is not null and id <=
			(select id from processes where ended_at is not null order by id desc limit 1 offset ?)`, keptRows)
		return err
	})
	if err != nil {
		err = fmt.Errorf("close the rows of processes: %w", err)
	}
	return append(rows, others...), errors.Join(endErr, err)
}

// unended are the rows without an end that are not children of this
// supervisor.
func (s *Supervisor) unended(ctx context.Context) ([]Reaped, error) {
	rows, err := s.db.Read().QueryContext(ctx, `select id, pid, start_time, boot_id, label, chat_id, execution
		from processes where ended_at is null order by id`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []Reaped
	for rows.Next() {
		var r Reaped
		if err := rows.Scan(&r.ID, &r.Pid, &r.started.start, &r.boot, &r.Label, &r.Chat, &r.Execution); err != nil {
			return nil, err
		}
		r.started.pid = r.Pid
		if !s.isChild(r.ID) {
			found = append(found, r)
		}
	}
	return found, rows.Err()
}

func (s *Supervisor) isChild(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.children[id] != nil
}

// recorded says whether the registry has a process of that id, or one that
// worked for that execution.
func (s *Supervisor) recorded(ctx context.Context, process, execution string) (bool, error) {
	var one int
	err := s.db.Read().QueryRowContext(ctx, `select 1 from processes where id = ?
		union all select 1 from processes where execution = ? and execution <> '' limit 1`, process, execution).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}
