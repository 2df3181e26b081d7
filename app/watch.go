//go:build desktop

package app

import (
	"context"
	"sync"
	"time"

	toolkit "github.com/wailsapp/wails/v2/pkg/runtime"

	"berth/backend/alert"
	"berth/backend/settings"
)

// notifications says whether the system takes notifications, once known.
type notifications struct {
	once sync.Once
	on   bool
}

// startNotifications opens the way to the system's notifications. A click
// brings the window forward with the chat.
func (w *Window) startNotifications() {
	w.notify.once.Do(func() {
		if !alert.Possible() {
			w.opts.Log.Info("no notifications: there is no session bus")
			return
		}
		if err := toolkit.InitializeNotifications(w.ctx); err != nil {
			w.opts.Log.Warn("no notifications", "error", err)
			return
		}
		if ok, err := toolkit.RequestNotificationAuthorization(w.ctx); err != nil || !ok {
			w.opts.Log.Info("notifications were not allowed", "error", err)
			return
		}
		toolkit.OnNotificationResponse(w.ctx, func(r toolkit.NotificationResult) {
			if r.Error != nil {
				return
			}
			id, _ := r.Response.UserInfo["chat"].(string)
			w.Focus(LinkScheme + "://chat/" + id)
		})
		w.notify.on = true
	})
}

// watch follows the chats: it tells a user who looks elsewhere, and ends a
// hidden window once its work is done.
func (w *Window) watch(ctx context.Context) {
	select {
	case <-w.started:
	case <-ctx.Done():
		return
	}
	w.startNotifications()
	var idleSince time.Time
	f := alert.Follower{
		Backend: w.opts.Backend, Tell: w.tell, System: systemLanguage(), Log: w.opts.Log,
		Follow: func() alert.Stream { return w.opts.Backend.Follow("window", "") },
		Set:    func(s settings.Settings) { w.frame(s.Theme) },
		Working: func(n int) {
			switch {
			case n > 0 || !w.hidden.Load():
				idleSince = time.Time{}
			case idleSince.IsZero():
				idleSince = time.Now()
			case time.Since(idleSince) > hiddenGrace:
				w.end()
			}
		},
	}
	f.Run(ctx)
}

// tell shows a notification if the user does not look at the window.
func (w *Window) tell(_ context.Context, n alert.Notice, words alert.Words) {
	log := w.opts.Log.With("chat", n.Chat, "request", n.Request, "turn", n.Turn)
	switch {
	case w.native.look.focus() && !w.hidden.Load():
		log.Info("a notification was suppressed", "reason", "the window is in front")
		return
	case !w.notify.on:
		log.Info("a notification was suppressed", "reason", "the system takes none")
		return
	}
	err := toolkit.SendNotification(w.ctx, toolkit.NotificationOptions{
		ID: n.Request + n.Turn, Title: words.Title, Body: words.Text, Data: map[string]any{"chat": n.Chat},
	})
	if err != nil {
		log.Warn("a notification failed", "error", err)
		return
	}
	log.Info("a notification was shown")
}
