// Package chat owns the chats: one actor goroutine per live chat decides its
// turns, queue, requests and stop; nothing else changes them (rule 4).
package chat

import (
	"context"

	"berth/backend/event"
	"berth/backend/provider"
)

// Chats is what doors (the API, commands) may ask. *Service implements it.
// Every method may be called from any goroutine. Refusals are *Error with
// codes: not_found, invalid, cwd_missing, unknown_agent, conflict,
// already_answered, client_id_reused, fenced, disk_full, closed.
type Chats interface {
	List(ctx context.Context, archived bool) ([]Chat, error)
	Get(ctx context.Context, id string) (Chat, error)
	Create(ctx context.Context, n NewChat) (Chat, error)
	Update(ctx context.Context, id string, c Change) (Chat, error)
	Delete(ctx context.Context, id string) error

	Send(ctx context.Context, chat string, n NewTurn) (Accepted, error)
	Stop(ctx context.Context, chat string) (StopResult, error)
	Queue(ctx context.Context, chat string) ([]Turn, error)
	Remove(ctx context.Context, turn string) error
	// Release lets held rows go on, or only the one named.
	Release(ctx context.Context, chat, turn string) error

	// Items gives a page: those before or after a seq (0: the newest).
	Items(ctx context.Context, chat string, before, after int64, limit int) (Page, error)
	Item(ctx context.Context, id string) (event.Item, error)
	Requests(ctx context.Context, chat string, pendingOnly bool) ([]event.Item, error)
	Answer(ctx context.Context, request string, a GivenAnswer, by string) (event.RequestAnswer, error)
	Attention(ctx context.Context) ([]Attention, error)

	// Read marks items up to seq as seen; unread marks the chat by hand.
	Read(ctx context.Context, chat string, seq int64, unread bool) error
	Draft(ctx context.Context, chat string) (Draft, error)
	SetDraft(ctx context.Context, chat string, d Draft) error
	Commands(ctx context.Context, chat string) ([]provider.Command, error)
}
