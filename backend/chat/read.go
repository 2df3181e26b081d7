package chat

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"berth/backend/event"
	"berth/backend/provider"
	"berth/backend/store"
)

// maxPage is how many items one page holds at most.
const maxPage = 200

// List gives all chats, or only those that are not archived, in the order
// of their groups.
func (s *Service) List(ctx context.Context, archived bool) ([]Chat, error) {
	where := "c.archived = 0 order by c.position, c.id"
	if archived {
		where = "1 order by c.position, c.id"
	}
	return s.summaries(ctx, where)
}

// Get gives one chat.
func (s *Service) Get(ctx context.Context, id string) (Chat, error) {
	chats, err := s.summaries(ctx, "c.id = ?", id)
	if err != nil {
		return Chat{}, err
	}
	if len(chats) == 0 {
		return Chat{}, notFound("chat")
	}
	return chats[0], nil
}

// Items gives a page of the timeline.
func (s *Service) Items(ctx context.Context, chat string, before, after int64, limit int) (Page, error) {
	if _, err := s.loadChat(ctx, chat); err != nil {
		return Page{}, err
	}
	if before > 0 && after > 0 {
		return Page{}, invalid("after", "Give before or after, not both.")
	}
	if limit <= 0 || limit > maxPage {
		return Page{}, invalid("limit", fmt.Sprintf("limit is from 1 to %d.", maxPage))
	}
	items, hasBefore, hasAfter, err := s.log.Page(ctx, chat, before, after, limit)
	return Page{Items: items, HasBefore: hasBefore, HasAfter: hasAfter}, err
}

// Item gives one item, whole.
func (s *Service) Item(ctx context.Context, id string) (event.Item, error) {
	it, err := s.log.Item(ctx, id)
	if errors.Is(err, sql.ErrNoRows) {
		return it, notFound("item")
	}
	return it, err
}

// Requests gives the approvals and questions of a chat, oldest first.
func (s *Service) Requests(ctx context.Context, chat string, pendingOnly bool) ([]event.Item, error) {
	if _, err := s.loadChat(ctx, chat); err != nil {
		return nil, err
	}
	where := "id in (select item_id from requests where chat_id = ?) order by seq"
	if pendingOnly {
		where = "id in (select item_id from requests where chat_id = ? and state = 'pending') order by seq"
	}
	return s.log.Select(ctx, where, chat)
}

// Attention gives all that waits for the human, oldest first.
func (s *Service) Attention(ctx context.Context) ([]Attention, error) {
	chats, err := s.List(ctx, false)
	if err != nil {
		return nil, err
	}
	list := []Attention{}
	for _, c := range chats {
		list = append(list, attentionOf(c)...)
	}
	slices.SortStableFunc(list, func(a, b Attention) int { return cmp.Compare(a.At.UnixMilli(), b.At.UnixMilli()) })
	return list, nil
}

func attentionOf(c Chat) []Attention {
	var list []Attention
	add := func(kind, text string) *Attention {
		list = append(list, Attention{Chat: c.ID, Title: c.Title, Agent: c.Agent, Kind: kind, Text: text, At: c.UpdatedAt})
		a := &list[len(list)-1]
		if c.Turn != nil {
			a.Turn = c.Turn.ID
		}
		return a
	}
	for _, w := range c.Waiting {
		a := add(string(w.Kind), w.Title)
		a.Item, a.Request, a.At = w.Item, w.Request, w.At
	}
	if c.State == Fenced {
		add("fenced", c.Reason)
	}
	if c.Turn == nil || !c.Turn.State.Terminal() {
		if c.Turn != nil && c.Turn.State == TurnUncertain {
			add("uncertain", firstLine(c.Turn.Text))
		}
		return list
	}
	switch {
	case !c.Unread:
	case c.Turn.State == TurnFailed && c.Turn.Error != nil:
		add("failed", c.Turn.Error.Text)
	case c.Turn.State == TurnCompleted:
		add("finished", c.LastLine)
	}
	if c.Held > 0 && c.Turn.State != TurnStopped {
		add("held", c.Turn.Reason)
	}
	return list
}

// Read marks what was seen, up to seq; unread marks the chat by hand instead.
func (s *Service) Read(ctx context.Context, chat string, seq int64, unread bool) error {
	if _, err := s.loadChat(ctx, chat); err != nil {
		return err
	}
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		res, err := tx.Exec("update chats set unread_mark = ?, read_seq = max(read_seq, min(?, seq)) where id = ? and (unread_mark <> ? or read_seq < min(?, seq))",
			unread, seq, chat, unread, seq)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return err // nothing changed: no event, no write on every scroll
		}
		return s.log.Append(tx, event.Event{Chat: chat, Type: event.TypeChanged})
	})
	if err != nil {
		return fmt.Errorf("mark as read: %w", err)
	}
	s.pushSummary(chat)
	return nil
}

// Draft gives what stands in the composer.
func (s *Service) Draft(ctx context.Context, chat string) (Draft, error) {
	var d Draft
	return d, s.column(ctx, "draft", chat, &d)
}

// SetDraft keeps what stands in the composer.
func (s *Service) SetDraft(ctx context.Context, chat string, d Draft) error {
	if _, err := s.loadChat(ctx, chat); err != nil {
		return err
	}
	encoded := ""
	if d.Text != "" || len(d.Attachments) > 0 {
		b, err := json.Marshal(d)
		if err != nil {
			return err
		}
		encoded = string(b)
	}
	return s.db.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec("update chats set draft = ? where id = ?", encoded, chat)
		return err
	})
}

// Commands gives what the agent last offered after "/".
func (s *Service) Commands(ctx context.Context, chat string) ([]provider.Command, error) {
	list := []provider.Command{}
	return list, s.column(ctx, "commands", chat, &list)
}

// column reads a JSON column of a chat; an empty one leaves into as it is.
func (s *Service) column(ctx context.Context, name, chat string, into any) error {
	var encoded string
	err := s.db.Read().QueryRowContext(ctx, "select "+name+" from chats where id = ? and deleted = 0", chat).Scan(&encoded)
	if errors.Is(err, sql.ErrNoRows) {
		return notFound("chat")
	}
	if err != nil {
		return fmt.Errorf("read a chat's %s: %w", name, err)
	}
	if encoded == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(encoded), into); err != nil {
		return fmt.Errorf("read a chat's %s: %w", name, err)
	}
	return nil
}
