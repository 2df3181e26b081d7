package process

import (
	"context"
	"fmt"

	"berth/backend/store"
)

// record commits the row of a child that stands at its gate.
func (s *Supervisor) record(ctx context.Context, c *child) error {
	boot, err := bootID()
	if err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(`insert into processes(id, pid, start_time, boot_id, executable, label, chat_id, execution, started_at)
			values(?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			c.id, c.leader.pid, c.leader.start, boot, c.spec.Path, c.spec.Label, c.spec.Chat, c.spec.Execution,
			c.startedAt.UnixMilli())
		return err
	})
}

// recordEnd closes the row of a child. One that was never committed has none.
func (s *Supervisor) recordEnd(c *child) error {
	return s.db.Write(context.Background(), func(tx *store.Tx) error {
		_, err := tx.Exec("update processes set ended_at = ?, outcome = ? where id = ? and ended_at is null",
			store.Now().UnixMilli(), c.outcome(), c.id)
		return err
	})
}

// outcome is how a child ended, for people.
func (c *child) outcome() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.notStarted != nil {
		return "not started: " + c.notStarted.Error()
	}
	how := fmt.Sprintf("exit %d", c.exit.Code)
	switch {
	case c.exit.Err != nil:
		how = c.exit.Err.Error()
	case c.exit.Signal != "":
		how = c.exit.Signal
	}
	if c.stopped {
		return "stopped: " + how
	}
	return how
}
