package chat

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"berth/backend/event"
	"berth/backend/fault"
	"berth/backend/store"
)

// recover settles what an earlier backend left: turns that ran are closed as
// interrupted, those whose delivery cannot be proven are held, those that
// were provably not sent go back to the queue. It gives the chats whose
// queues may go on.
func (s *Service) recover(ctx context.Context) (resume []string, err error) {
	left, err := queryTurns(ctx, s.db.Read(), "''", "t.state in "+live)
	if err != nil {
		return nil, err
	}
	fault.Point("recover.begin")
	for _, t := range left {
		if err := s.recoverChat(ctx, t); err != nil {
			return nil, fmt.Errorf("close what ran in %s: %w", t.Chat, err)
		}
	}
	fault.Point("recover.turns")
	if err := s.closeOpenItems(ctx); err != nil {
		return nil, err
	}
	rows, err := s.db.Read().QueryContext(ctx, `select distinct t.chat_id from turns t join chats c on c.id = t.chat_id
		where t.position is not null and t.state = 'queued' and c.deleted = 0`)
	if err != nil {
		return nil, fmt.Errorf("read the queues: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var chat string
		if err := rows.Scan(&chat); err != nil {
			return nil, err
		}
		resume = append(resume, chat)
	}
	return resume, rows.Err()
}

// recoverChat settles one turn that an earlier backend left.
func (s *Service) recoverChat(ctx context.Context, t *turnRow) error {
	queue, err := queryTurns(ctx, s.db.Read(), "t.text", "t.chat_id = ? and t.position is not null order by t.position", t.Chat)
	if err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *store.Tx) error { return s.settle(tx, t, queue, "restart") })
}

// settle closes a turn whose agent is gone, by what is proven of its
// delivery, and holds the messages behind it, whose ground has changed, unless
// it goes back to the queue itself.
func (s *Service) settle(tx *store.Tx, t *turnRow, queue []*turnRow, reason string) error {
	now := store.Now()
	code, level := "interrupted", "warning"
	switch {
	case t.State == TurnStopping:
		t.State, t.Reason, t.EndedAt = TurnStopped, "user", &now
		code, level, reason = "stopped", "info", "user"
	case t.delivery == deliveryNone:
		t.State, t.Reason, t.place = TurnQueued, "", front(queue)
		return s.saveTurn(tx, t)
	case t.delivery == deliveryAccepted:
		t.State, t.Reason, t.EndedAt = TurnInterrupted, reason, &now
	default:
		t.State, t.Reason, t.place = TurnUncertain, "delivery_unknown", front(queue)
		code, reason = "delivery_unknown", "delivery_unknown"
	}
	for _, row := range append([]*turnRow{t}, hold(queue, "restart")...) {
		if err := s.saveTurn(tx, row); err != nil {
			return err
		}
	}
	text := noticeText[reason]
	notice := event.NewEntry(event.Item{Chat: t.Chat, Turn: t.ID, Kind: event.Notice, Status: event.Completed, Summary: beginning(text, summaryLength),
		Body: event.Body{Text: text, Notice: &event.NoticeFact{Code: code, Level: level}}}, false)
	if err := s.log.Put(tx, notice); err != nil {
		return err
	}
	_, err := tx.Exec("update chats set content_seq = seq where id = ?", t.Chat)
	return err
}

// closeOpenItems ends all items and requests that no live agent stands
// behind any more. Text that had streamed is kept.
func (s *Service) closeOpenItems(ctx context.Context) error {
	open, err := s.log.Select(ctx, `status in ('pending','in_progress') and not exists
		(select 1 from turns t where t.id = items.turn_id and t.state in ('queued','uncertain','held'))`)
	if err != nil {
		return err
	}
	for _, it := range open {
		err := s.db.Write(ctx, func(tx *store.Tx) error { return s.closeOpenItem(tx, it) })
		if err != nil {
			return fmt.Errorf("close an open item: %w", err)
		}
	}
	return nil
}

func (s *Service) closeOpenItem(tx *store.Tx, it event.Item) error {
	now := store.Now()
	switch {
	case it.Body.Request != nil:
		it.Status = event.Cancelled
		r := *it.Body.Request
		r.Answer = &event.RequestAnswer{Outcome: "cancelled", At: now}
		it.Body.Request = &r
		encoded, err := json.Marshal(r.Answer)
		if err != nil {
			return err
		}
		if err := saveRequest(tx, r.ID, "cancelled", encoded, *r.Answer); err != nil {
			return err
		}
	case it.Kind == event.Answer || it.Kind == event.Thought || it.Kind == event.UserMessage:
		it.Status = event.Completed
	default:
		it.Status = event.Cancelled
		if it.Body.Tool != nil {
			it.Body.Tool.EndedAt = &now
		}
	}
	return s.log.Put(tx, event.NewEntry(it, false))
}

// purgeChunk is how many rows of a deleted chat are removed in one
// transaction, so that writers never wait long for it.
const purgeChunk = 2000

// purgeDeleted removes the rows of chats that were deleted, bit by bit; what
// an end of the backend interrupts goes on at the next start.
func (s *Service) purgeDeleted() {
	ids, err := deletedChats(s.ctx, s.db.Read())
	for _, id := range ids {
		if err = s.purge(id); err != nil {
			break
		}
	}
	if err != nil && s.ctx.Err() == nil {
		s.logger.Error("purge deleted chats", "err", err)
	}
}

func deletedChats(ctx context.Context, db *sql.DB) (ids []string, err error) {
	rows, err := db.QueryContext(ctx, "select id from chats where deleted = 1")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

func (s *Service) purge(chat string) error {
	if err := s.files.RemoveChat(s.ctx, chat); err != nil {
		return fmt.Errorf("remove a chat's files: %w", err)
	}
	for _, table := range []string{"items", "events", "requests", "turns"} {
		for {
			var n int64
			err := s.db.Write(s.ctx, func(tx *store.Tx) error {
				res, err := tx.Exec("delete from "+table+" where rowid in (select rowid from "+table+" where chat_id = ? limit ?)", chat, purgeChunk)
				if err != nil {
					return err
				}
				n, err = res.RowsAffected()
				return err
			})
			if err != nil {
				return fmt.Errorf("remove a chat's %s: %w", table, err)
			}
			if n < purgeChunk {
				break
			}
		}
	}
	return s.db.Write(s.ctx, func(tx *store.Tx) error {
		_, err := tx.Exec("delete from chats where id = ?", chat)
		return err
	})
}
