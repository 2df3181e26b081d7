package alert

import (
	"context"
	"log/slog"
	"time"

	"berth/backend/chat"
	"berth/backend/event"
	"berth/backend/settings"
)

const (
	// retryAfter is the pause before the backend is asked again after a
	// failure.
	retryAfter = 2 * time.Second
	// maxTextRunes bounds the text of a notification; systems cut at about
	// this length.
	maxTextRunes = 240
)

// Backend is what a Follower asks.
type Backend interface {
	Chats(ctx context.Context, archived bool) ([]chat.Chat, error)
	Settings(ctx context.Context) (settings.Settings, error)
}

// Stream is a place in the live updates. The first Next returns at once.
type Stream interface {
	Next(ctx context.Context) (event.Batch, error)
}

// Follower follows the chats for as long as Run runs.
type Follower struct {
	Backend Backend
	// Follow begins a stream from now on.
	Follow func() Stream
	// Tell gets each notice that the settings want told, with its words. It
	// may not block for long.
	Tell func(ctx context.Context, n Notice, w Words)
	// Working, if set, is called after each batch with the number of chats
	// at work.
	Working func(n int)
	// Set, if set, is called with the settings, at first and when they change.
	Set func(settings.Settings)
	// System is the language of the system, for the setting "auto".
	System string
	Log    *slog.Logger
}

// Run follows until ctx ends.
func (f *Follower) Run(ctx context.Context) {
	for ctx.Err() == nil {
		if err := f.follow(ctx); err != nil && ctx.Err() == nil {
			f.Log.Debug("following the chats was interrupted", "error", err)
			select {
			case <-ctx.Done():
			case <-time.After(retryAfter):
			}
		}
	}
}

// follow begins from the present and goes on until the stream says "fetch
// again" or fails.
func (f *Follower) follow(ctx context.Context) error {
	stream := f.Follow()
	if _, err := stream.Next(ctx); err != nil {
		return err
	}
	chats, err := f.Backend.Chats(ctx, false)
	if err != nil {
		return err
	}
	set, err := f.settings(ctx)
	if err != nil {
		return err
	}
	var w Watch
	w.Begin(chats)
	for {
		if f.Working != nil {
			f.Working(w.Working())
		}
		batch, err := stream.Next(ctx)
		if err != nil {
			return err
		}
		if batch.Reset != "" {
			return nil
		}
		for _, e := range batch.Events {
			if e.Type == event.TypeSettings {
				if set, err = f.settings(ctx); err != nil {
					return err
				}
			}
			for _, n := range w.Event(e) {
				f.tell(ctx, n, set)
			}
		}
	}
}

func (f *Follower) settings(ctx context.Context) (settings.Settings, error) {
	set, err := f.Backend.Settings(ctx)
	if err == nil && f.Set != nil {
		f.Set(set)
	}
	return set, err
}

// tell hands a notice on, unless the settings do not want it.
func (f *Follower) tell(ctx context.Context, n Notice, set settings.Settings) {
	if set.Notify == "off" || set.Notify == "needs_you" && !n.NeedsYou {
		f.Log.Info("a notification was suppressed", "chat", n.Chat, "reason", "the setting")
		return
	}
	f.Tell(ctx, n, n.words(set.Language, f.System, set.NotifyText))
}
