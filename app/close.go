//go:build desktop

package app

import (
	"context"
	"fmt"
	"runtime"
	"time"

	toolkit "github.com/wailsapp/wails/v2/pkg/runtime"

	"berth/backend/alert"
)

// canHide says where hiding the window was proven to be safe: a second start
// brings it back (the window test does it). Elsewhere closing quits.
const canHide = runtime.GOOS == "linux"

const (
	// signalGrace is how long closing waits to hear whether a signal caused
	// it; a person does not notice it.
	signalGrace = 50 * time.Millisecond
	// busyPatience is how long closing waits to learn what is at work.
	busyPatience = 2 * time.Second
	// hiddenGrace is how long a hidden window stays after the last work has
	// ended, so that a notification can still be clicked.
	hiddenGrace = 10 * time.Minute
)

// beforeClose decides whether the window may close; true keeps it.
func (w *Window) beforeClose(context.Context) (prevent bool) {
	if !w.hidden.Load() {
		w.keepPlace()
	}
	if w.leaving.Load() || w.opts.Attached || w.toldToEnd() {
		return false
	}
	if !w.asking.TryLock() {
		return true // the question stands already
	}
	defer w.asking.Unlock()
	n := w.busy()
	if n == 0 {
		return false
	}
	switch answer := w.askAboutWork(n); {
	case answer == "Yes" && canHide:
		w.hidden.Store(true)
		toolkit.WindowHide(w.ctx)
		return true
	case answer == "Yes", answer == "No" && canHide:
		w.leaving.Store(true)
		return false
	}
	return true
}

// toldToEnd says whether a signal closes the window. The toolkit hears of it
// at the same moment as we do.
func (w *Window) toldToEnd() bool {
	select {
	case <-w.signalled:
		return true
	case <-time.After(signalGrace):
		return false
	}
}

// busy counts the chats at work.
func (w *Window) busy() int {
	ctx, cancel := context.WithTimeout(context.Background(), busyPatience)
	defer cancel()
	chats, err := w.opts.Backend.Chats(ctx, false)
	if err != nil {
		w.opts.Log.Warn("closing without knowing what is at work", "error", err)
		return 0
	}
	n := 0
	for _, c := range chats {
		if alert.AtWork(c) {
			n++
		}
	}
	return n
}

func (w *Window) askAboutWork(n int) string {
	text := w.words["busy.one"]
	if n > 1 {
		text = fmt.Sprintf(w.words["busy.many"], n)
	}
	if canHide {
		text += "\n\n" + w.words["busy.hide"]
	} else {
		text += "\n\n" + w.words["busy.quit"]
	}
	w.native.dialog.Lock()
	defer w.native.dialog.Unlock()
	answer, err := toolkit.MessageDialog(w.ctx, toolkit.MessageDialogOptions{
		Type: toolkit.QuestionDialog, Title: w.words["busy.title"], Message: text,
		Buttons: []string{"Yes", "No"}, DefaultButton: "Yes", CancelButton: "No",
	})
	if err != nil {
		w.opts.Log.Warn("the question about closing could not be shown", "error", err)
		return ""
	}
	return answer
}
