package chat

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"berth/backend/event"
	"berth/backend/provider"
	"berth/backend/store"
)

// shownText bounds a turn's text in lists and events, in characters; the
// queue and the timeline have it whole.
const shownText = 400

// live are the states of turns that have begun and not ended.
const live = "('starting','running','awaiting_input','stopping')"

const chatColumns = `c.id, c.agent, c.cwd, c.title, c.folder, c.model, c.effort, c.permissions, c.instructions, c.root_bypass,
	c.conversation, c.pinned, c.archived, c.position, c.read_seq, c.content_seq, c.unread_mark, c.usage, c.fenced, c.last_line,
	c.created_at, c.updated_at, c.turn_id,
	(select count(*) from turns q where q.chat_id = c.id and q.position is not null),
	(select count(*) from turns q where q.chat_id = c.id and q.position is not null and q.state in ('held','uncertain'))`

// summaries reads chats as lists show them; where is a fixed text of the
// program's.
func (s *Service) summaries(ctx context.Context, where string, args ...any) ([]Chat, error) {
	tx, err := s.db.Read().BeginTx(ctx, nil) // all parts from one state of the database
	if err != nil {
		return nil, fmt.Errorf("read chats: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	rows, err := tx.QueryContext(ctx, "select "+chatColumns+" from chats c where c.deleted = 0 and "+where, args...)
	if err != nil {
		return nil, fmt.Errorf("read chats: %w", err)
	}
	defer rows.Close()
	chats, turns := []Chat{}, map[string]string{}
	for rows.Next() {
		var c Chat
		var unread bool
		var usage, turn string
		var created, updated int64
		if err := rows.Scan(&c.ID, &c.Agent, &c.Cwd, &c.Title, &c.Folder, &c.Model, &c.Effort, &c.Permissions, &c.Instructions, &c.RootBypass,
			&c.Conversation, &c.Pinned, &c.Archived, &c.Position, &c.ReadSeq, &c.LastSeq, &unread, &usage, &c.Reason, &c.LastLine,
			&created, &updated, &turn, &c.Queued, &c.Held); err != nil {
			return nil, fmt.Errorf("read chats: %w", err)
		}
		if !utf8.ValidString(c.Cwd) {
			c.CwdRaw = []byte(c.Cwd)
		}
		c.Unread = unread || c.LastSeq > c.ReadSeq
		c.CreatedAt, c.UpdatedAt = fromMillis(created), fromMillis(updated)
		if usage != "" {
			c.Usage = new(provider.Usage)
			if json.Unmarshal([]byte(usage), c.Usage) != nil {
				c.Usage = nil // unknown rather than wrong
			}
		}
		if turn != "" {
			turns[turn] = c.ID
		}
		chats = append(chats, c)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read chats: %w", err)
	}
	if len(chats) == 0 {
		return chats, nil
	}
	return chats, s.complete(ctx, tx, chats, where, args)
}

// complete adds the last turn, what waits, and the state of each chat.
func (s *Service) complete(ctx context.Context, q event.Queryer, chats []Chat, where string, args []any) error {
	byID := make(map[string]*Chat, len(chats))
	for i := range chats {
		byID[chats[i].ID] = &chats[i]
	}
	turns, err := queryTurns(ctx, q, "substr(t.text, 1, 400)",
		"t.id in (select c.turn_id from chats c where c.deleted = 0 and "+where+")", args...)
	if err != nil {
		return err
	}
	for _, t := range turns {
		if c := byID[t.Chat]; c != nil {
			c.Turn = &t.Turn
		}
	}
	rows, err := q.QueryContext(ctx, `select r.chat_id, r.id, r.item_id, r.kind, r.title, r.created_at from requests r
		where r.state = 'pending' order by r.created_at`)
	if err != nil {
		return fmt.Errorf("read requests: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var chat string
		var w Waiting
		var at int64
		if err := rows.Scan(&chat, &w.Request, &w.Item, &w.Kind, &w.Title, &at); err != nil {
			return fmt.Errorf("read requests: %w", err)
		}
		w.At = fromMillis(at)
		if c := byID[chat]; c != nil {
			c.Waiting = append(c.Waiting, w)
		}
	}
	for i := range chats {
		s.state(&chats[i])
	}
	return rows.Err()
}

// state fills in what is known of the chat's agent.
func (s *Service) state(c *Chat) {
	known := s.agentState(c.ID)
	c.Background = known.background
	switch {
	case c.Reason != "":
		c.State = Fenced
	case c.Turn != nil && c.Turn.State == TurnAwaitingInput:
		c.State = AwaitingInput
	case c.Turn != nil && !c.Turn.State.Terminal() && c.Turn.State != TurnUncertain && c.Turn.State != TurnHeld && c.Turn.State != TurnQueued:
		c.State = Running
	case known.dead != "":
		c.State, c.Reason = Dead, known.dead
	case known.loaded:
		c.State = Idle
	default:
		c.State = NotLoaded
	}
}

// turnRow is a turn as the actor holds it.
type turnRow struct {
	Turn

	place    *float64 // position in the queue's order, nil once started
	hash     string
	delivery string       // "", writing, sent, accepted
	message  *event.Entry // the user's words in the timeline, once begun
	reopened bool         // the agent was started anew for it already
}

// Proofs of delivery as kept in the database: a turn found after a crash
// with delivery "" was provably not sent, with "accepted" provably taken.
const (
	deliveryNone     = ""
	deliveryWriting  = "writing"
	deliverySent     = "sent"
	deliveryAccepted = "accepted"
)

func queryTurns(ctx context.Context, q event.Queryer, text, where string, args ...any) ([]*turnRow, error) {
	rows, err := q.QueryContext(ctx, `select t.id, t.chat_id, t.state, t.position, t.client_id, t.request_hash, `+text+`, t.attachments, t.model, t.effort,
		t.permissions, t.reason, t.error, t.delivery, t.created_at, t.started_at, t.ended_at from turns t where `+where, args...)
	if err != nil {
		return nil, fmt.Errorf("read turns: %w", err)
	}
	defer rows.Close()
	turns := []*turnRow{}
	for rows.Next() {
		t := new(turnRow)
		var attachments, failure string
		var created int64
		var started, ended *int64
		if err := rows.Scan(&t.ID, &t.Chat, &t.State, &t.place, &t.ClientID, &t.hash, &t.Text, &attachments, &t.Model, &t.Effort,
			&t.Permissions, &t.Reason, &failure, &t.delivery, &created, &started, &ended); err != nil {
			return nil, fmt.Errorf("read turns: %w", err)
		}
		if err := json.Unmarshal([]byte(attachments), &t.Attachments); err != nil {
			return nil, fmt.Errorf("read a turn's attachments: %w", err)
		}
		if failure != "" {
			t.Error = new(TurnError)
			if err := json.Unmarshal([]byte(failure), t.Error); err != nil {
				return nil, fmt.Errorf("read a turn's error: %w", err)
			}
		}
		t.CreatedAt, t.StartedAt, t.EndedAt = fromMillis(created), fromMillisOrNil(started), fromMillisOrNil(ended)
		turns = append(turns, t)
	}
	return turns, rows.Err()
}

// insertTurn accepts a turn.
func (s *Service) insertTurn(tx *store.Tx, t *turnRow) error {
	attachments, err := json.Marshal(orEmpty(t.Attachments))
	if err != nil {
		return err
	}
	_, err = tx.Exec(`insert into turns(id, chat_id, state, position, client_id, request_hash, text, attachments, model, effort, permissions, reason, created_at)
		values(?,?,?,?,?,?,?,?,?,?,?,?,?)`, t.ID, t.Chat, t.State, t.place, t.ClientID, t.hash, t.Text, string(attachments),
		t.Model, t.Effort, t.Permissions, t.Reason, t.CreatedAt.UnixMilli())
	if err != nil {
		return fmt.Errorf("write a turn: %w", err)
	}
	return s.turnEvent(tx, t)
}

// saveTurn writes where a turn stands, and the event that tells of it.
func (s *Service) saveTurn(tx *store.Tx, t *turnRow) error {
	failure := ""
	if t.Error != nil {
		b, err := json.Marshal(t.Error)
		if err != nil {
			return err
		}
		failure = string(b)
	}
	_, err := tx.Exec(`update turns set state = ?, position = ?, reason = ?, error = ?, delivery = ?, started_at = ?, ended_at = ? where id = ?`,
		t.State, t.place, t.Reason, failure, t.delivery, millisOrNil(t.StartedAt), millisOrNil(t.EndedAt), t.ID)
	if err != nil {
		return fmt.Errorf("write a turn: %w", err)
	}
	return s.turnEvent(tx, t)
}

func (s *Service) turnEvent(tx *store.Tx, t *turnRow) error {
	shown := t.Turn
	shown.Text = beginning(shown.Text, shownText)
	body, err := json.Marshal(shown)
	if err != nil {
		return err
	}
	return s.log.Append(tx, event.Event{Chat: t.Chat, Turn: t.ID, Type: event.TypeTurn, Body: body})
}

// beginning is at most n characters of s.
func beginning(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

func fromMillis(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

func fromMillisOrNil(ms *int64) *time.Time {
	if ms == nil {
		return nil
	}
	t := fromMillis(*ms)
	return &t
}

func millisOrNil(t *time.Time) any {
	if t == nil {
		return nil
	}
	return t.UnixMilli()
}

func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// chatRow is what an actor needs of its chat.
type chatRow struct {
	id, agent, cwd, title, model, effort, instructions, conversation, fenced string
	permissions                                                              provider.Permission
	titleByUser, rootBypass                                                  bool
}

func (s *Service) loadChat(ctx context.Context, id string) (*chatRow, error) {
	c := new(chatRow)
	err := s.db.Read().QueryRowContext(ctx, `select id, agent, cwd, title, model, effort, instructions, conversation, fenced, permissions, title_by_user, root_bypass
		from chats where id = ? and deleted = 0`, id).Scan(&c.id, &c.agent, &c.cwd, &c.title, &c.model, &c.effort, &c.instructions, &c.conversation, &c.fenced,
		&c.permissions, &c.titleByUser, &c.rootBypass)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, notFound("chat")
	}
	if err != nil {
		return nil, fmt.Errorf("read a chat: %w", err)
	}
	return c, nil
}

func notFound(what string) *Error {
	return &Error{Code: "not_found", Text: "There is no such " + what + "."}
}

func invalid(field, text string) *Error {
	return &Error{Code: "invalid", Field: field, Text: text}
}
