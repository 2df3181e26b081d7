package chat

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"berth/backend/event"
	"berth/backend/fault"
	"berth/backend/provider"
	"berth/backend/store"
)

// Bounds of what may wait in one chat: its text is held in memory and listed
// whole.
const (
	maxQueue      = 200      // messages
	maxQueueBytes = 16 << 20 // of text
)

// Send accepts a message: it is on disk when Send returns, as a turn that
// starts at once or waits in the queue. The same ClientID again gives the
// same turn.
func (s *Service) Send(ctx context.Context, chat string, n NewTurn) (Accepted, error) {
	if n.ClientID == "" {
		return Accepted{}, invalid("client_id", "client_id is missing.")
	}
	if n.Text == "" && len(n.Attachments) == 0 {
		return Accepted{}, invalid("text", "A message needs text or an attachment.")
	}
	attachments, err := s.attachments(ctx, n.Attachments)
	if err != nil {
		return Accepted{}, err
	}
	hash, err := requestHash(n)
	if err != nil {
		return Accepted{}, err
	}
	var accepted Accepted
	err = s.do(ctx, chat, func(a *actor) error {
		known, err := s.sameRequest(chat, n.ClientID, hash)
		if err != nil {
			return err
		}
		if known == nil {
			if known, err = a.accept(n, hash, attachments); err != nil {
				return err
			}
		}
		accepted = Accepted{Turn: known.ID, State: known.State, Position: a.positionOf(known.ID)}
		return nil
	})
	return accepted, err
}

// sameRequest finds the turn that this request made before.
func (s *Service) sameRequest(chat, client, hash string) (*turnRow, error) {
	found, err := queryTurns(s.ctx, s.db.Read(), "''", "t.chat_id = ? and t.client_id = ?", chat, client)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	if found[0].hash != hash {
		return nil, &Error{Code: "client_id_reused", Field: "client_id", Text: "Another message was already sent with this client_id."}
	}
	return found[0], nil
}

func (a *actor) accept(n NewTurn, hash string, attachments []event.Attachment) (*turnRow, error) {
	if a.ending {
		return nil, errGone
	}
	if len(a.queue) >= maxQueue {
		return nil, &Error{Code: "queue_full", Text: fmt.Sprintf("%d messages already wait in this chat.", maxQueue)}
	}
	waiting := len(n.Text)
	for _, t := range a.queue {
		waiting += len(t.Text)
	}
	if waiting > maxQueueBytes {
		return nil, &Error{Code: "queue_full", Text: fmt.Sprintf("The messages that wait in this chat are at most %d MB.", maxQueueBytes>>20)}
	}
	place := 1.0
	if len(a.queue) > 0 {
		place = *a.queue[len(a.queue)-1].place + 1
	}
	t := &turnRow{Turn: Turn{ID: store.NewID("turn"), Chat: a.chat.id, State: TurnQueued, ClientID: n.ClientID, Text: n.Text, Attachments: attachments,
		Model: n.Model, Effort: n.Effort, Permissions: n.Permissions, CreatedAt: store.Now()}, place: &place, hash: hash}
	if t.Model == "" {
		t.Model = a.chat.model
	}
	if t.Effort == "" {
		t.Effort = a.chat.effort
	}
	if t.Permissions == "" {
		t.Permissions = a.chat.permissions
	}
	if err := a.s.checkMode(a.chat.agent, t.Permissions); err != nil {
		return nil, err
	}
	fault.Point("accept.begin")
	err := a.write("accept a message", func(tx *store.Tx) error {
		if err := a.s.insertTurn(tx, t); err != nil {
			return err
		}
		for _, at := range t.Attachments { // from now on they go with the chat
			if _, err := tx.Exec("update files set chat_id = ? where id = ? and chat_id is null", a.chat.id, at.File); err != nil {
				return err
			}
		}
		if _, err := tx.Exec("update chats set draft = '', updated_at = ? where id = ?", t.CreatedAt.UnixMilli(), a.chat.id); err != nil {
			return err
		}
		fault.Point("accept.commit")
		return nil
	})
	if err != nil {
		return nil, err
	}
	fault.Point("accept.committed")
	a.queue = append(a.queue, t)
	a.startNext()
	return t, nil
}

func (s *Service) attachments(ctx context.Context, ids []string) ([]event.Attachment, error) {
	list := make([]event.Attachment, 0, len(ids))
	for i, id := range ids {
		f, _, err := s.files.Locate(ctx, id)
		if err != nil {
			return nil, invalid(fmt.Sprintf("attachments[%d]", i), "There is no complete file with this id.")
		}
		list = append(list, event.Attachment{File: f.ID, Name: f.Name, Type: f.Type, Size: f.Size})
	}
	return list, nil
}

func requestHash(n NewTurn) (string, error) {
	b, err := json.Marshal(n)
	if err != nil {
		return "", fmt.Errorf("encode a request: %w", err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

// Queue gives the messages that wait, in order, with their whole text.
func (s *Service) Queue(ctx context.Context, chat string) ([]Turn, error) {
	if _, err := s.loadChat(ctx, chat); err != nil {
		return nil, err
	}
	rows, err := queryTurns(ctx, s.db.Read(), "t.text", "t.chat_id = ? and t.position is not null order by t.position", chat)
	if err != nil {
		return nil, err
	}
	turns := make([]Turn, len(rows))
	for i, r := range rows {
		turns[i] = r.Turn
		turns[i].Position = i + 1
	}
	return turns, nil
}

// Remove takes a message out of the queue; its turn ends as stopped.
func (s *Service) Remove(ctx context.Context, turn string) error {
	chat, err := s.chatOfTurn(ctx, turn)
	if err != nil {
		return err
	}
	return s.do(ctx, chat, func(a *actor) error {
		i := slices.IndexFunc(a.queue, func(t *turnRow) bool { return t.ID == turn })
		if i < 0 {
			return &Error{Code: "conflict", Text: "This message has started and is no longer in the queue."}
		}
		t := *a.queue[i]
		now := store.Now()
		t.State, t.place, t.Reason, t.EndedAt = TurnStopped, nil, "removed", &now
		var message *event.Entry // in the timeline, if the turn was begun before
		if t.StartedAt != nil {
			if message, err = a.message(&t); err != nil {
				return err
			}
			message.Status = event.Cancelled
		}
		err := a.write("remove a message", func(tx *store.Tx) error {
			if err := s.saveTurn(tx, &t); err != nil || message == nil {
				return err
			}
			return s.log.Put(tx, message)
		})
		if err != nil {
			if message != nil {
				message.Status = event.Pending
			}
			return err
		}
		a.queue = slices.Delete(a.queue, i, i+1)
		a.changedNow()
		a.startNext()
		return nil
	})
}

// Release lets held messages go on: all, or the one named. An uncertain one
// is sent again only when it is named.
func (s *Service) Release(ctx context.Context, chat, turn string) error {
	return s.do(ctx, chat, func(a *actor) error {
		var released []*turnRow
		for _, t := range a.queue {
			if t.ID == turn && (t.State == TurnHeld || t.State == TurnUncertain) || turn == "" && t.State == TurnHeld {
				released = append(released, t)
			}
		}
		if turn != "" && len(released) == 0 {
			return &Error{Code: "conflict", Text: "This message is not held."}
		}
		if a.chat.fenced != "" {
			return &Error{Code: "fenced", Text: "A stop of this chat is not confirmed. Nothing new starts in it."}
		}
		before := make([]turnRow, len(released))
		for i, t := range released {
			before[i] = *t
			t.State, t.Reason = TurnQueued, ""
		}
		err := a.write("release the queue", func(tx *store.Tx) error {
			for _, t := range released {
				if err := s.saveTurn(tx, t); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			for i, t := range released {
				*t = before[i]
			}
			return err
		}
		a.startNext()
		a.changedNow()
		return nil
	})
}

func (s *Service) chatOfTurn(ctx context.Context, turn string) (string, error) {
	var chat string
	err := s.db.Read().QueryRowContext(ctx, "select chat_id from turns where id = ?", turn).Scan(&chat)
	if errors.Is(err, sql.ErrNoRows) {
		return "", notFound("message")
	}
	return chat, err
}

// hold marks what waits in a queue as held and gives the rows that changed.
func hold(queue []*turnRow, reason string) []*turnRow {
	var held []*turnRow
	for _, q := range queue {
		if q.State == TurnQueued {
			q.State, q.Reason = TurnHeld, reason
			held = append(held, q)
		}
	}
	return held
}

func (a *actor) held() int {
	n := 0
	for _, q := range a.queue {
		if q.State != TurnQueued {
			n++
		}
	}
	return n
}

// front is a place before all others in a queue.
func front(queue []*turnRow) *float64 {
	place := 0.0
	if len(queue) > 0 {
		place = *queue[0].place - 1
	}
	return &place
}

func (a *actor) positionOf(turn string) int {
	return slices.IndexFunc(a.queue, func(t *turnRow) bool { return t.ID == turn }) + 1
}

// checkMode refuses a permission mode that the agent cannot honour.
func (s *Service) checkMode(agent string, mode provider.Permission) error {
	d, ok := s.agents.Known(agent)
	if !ok || len(d.Modes) == 0 || slices.Contains(d.Modes, mode) {
		return nil // what is not known is the driver's to refuse
	}
	return invalid("permissions", fmt.Sprintf("%s cannot work with the permissions %q; it offers %v.", d.Title, mode, d.Modes))
}
