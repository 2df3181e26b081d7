package command

import (
	"context"
	"os"
	"time"

	"github.com/gen2brain/beeep"

	"berth/app"
	"berth/backend/alert"
	"berth/backend/api/client"
	"berth/backend/chat"
	"berth/backend/instance"
)

// lookFirst is how long a notice waits before it is shown by a Berth without
// a window: what the user has seen in a browser by then needs no notice.
const lookFirst = 5 * time.Second

// maxWaitingNotices bounds those that wait; further ones are told in the log
// alone.
const maxWaitingNotices = 32

// notify shows the notices of a backend without a window, until ctx ends. A
// window that is open for the same state directory shows its own.
func (h *host) notify(ctx context.Context, state string, b *client.Client) {
	if !alert.Possible() {
		h.log.Info("no notifications: there is no session bus")
		return
	}
	beeep.AppName = "Berth"
	type told struct {
		n alert.Notice
		w alert.Words
	}
	queue := make(chan told, maxWaitingNotices)
	go func() {
		for {
			select {
			case t := <-queue:
				select {
				case <-time.After(lookFirst):
					h.show(ctx, state, b, t.n, t.w)
				case <-ctx.Done():
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	f := alert.Follower{
		Backend: b, Follow: func() alert.Stream { return b.Follow("notify", "") },
		Tell: func(_ context.Context, n alert.Notice, w alert.Words) {
			select {
			case queue <- told{n, w}:
			default:
				h.log.Warn("a notification was suppressed", "chat", n.Chat, "reason", "too many at once")
			}
		},
		System: os.Getenv("LANG"), Log: h.log,
	}
	f.Run(ctx)
}

func (h *host) show(ctx context.Context, state string, b *client.Client, n alert.Notice, w alert.Words) {
	log := h.log.With("chat", n.Chat, "request", n.Request, "turn", n.Turn)
	c, err := b.Chat(ctx, n.Chat)
	switch {
	case err != nil:
		log.Info("a notification was suppressed", "reason", "the chat cannot be read", "error", err)
		return
	case !stillNews(n, c):
		log.Info("a notification was suppressed", "reason", "it was seen meanwhile")
		return
	}
	if r, err := instance.Read(state); err == nil && app.Open(ctx, app.SocketBeside(r.Socket)) {
		log.Info("a notification was suppressed", "reason", "a window is open and shows its own")
		return
	}
	if err := beeep.Notify(w.Title, w.Text, ""); err != nil {
		log.Warn("a notification failed", "error", err)
		return
	}
	log.Info("a notification was shown")
}

// stillNews says whether what a notice tells still waits to be seen.
func stillNews(n alert.Notice, c chat.Chat) bool {
	if !n.NeedsYou {
		return c.Unread || c.LastSeq > c.ReadSeq
	}
	for _, r := range c.Waiting {
		if r.Request == n.Request {
			return true
		}
	}
	return false
}
