package alert

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"berth/backend/chat"
	"berth/backend/event"
	"berth/backend/settings"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func waitingFor(requests ...string) chat.Chat {
	c := chat.Chat{ID: "chat_1", Title: "Tidy up", State: chat.AwaitingInput, Turn: &chat.Turn{ID: "turn_1", State: chat.TurnAwaitingInput}}
	for _, r := range requests {
		c.Waiting = append(c.Waiting, chat.Waiting{Request: r, Title: "Run " + r})
	}
	return c
}

func ended(turn string, state chat.TurnState) chat.Chat {
	return chat.Chat{ID: "chat_1", Title: "Tidy up", State: chat.Idle, LastLine: "Done.", Turn: &chat.Turn{ID: turn, State: state}}
}

func running(turn string) chat.Chat {
	return chat.Chat{ID: "chat_1", Title: "Tidy up", State: chat.Running, Turn: &chat.Turn{ID: turn, State: chat.TurnRunning}}
}

func TestWatch(t *testing.T) {
	for _, c := range []struct {
		name  string
		begin []chat.Chat
		then  []chat.Chat
		want  string // requests and turns told of, in order
	}{
		{"what was there before is no news", []chat.Chat{waitingFor("r1")}, []chat.Chat{waitingFor("r1")}, ""},
		{"a request is told once", []chat.Chat{running("turn_1")}, []chat.Chat{waitingFor("r1"), waitingFor("r1"), waitingFor("r1", "r2")}, "r1 r2"},
		{"an end is told once", []chat.Chat{running("turn_1")}, []chat.Chat{ended("turn_1", chat.TurnCompleted), ended("turn_1", chat.TurnCompleted)}, "turn_1"},
		{"a failure is told", []chat.Chat{running("turn_1")}, []chat.Chat{ended("turn_1", chat.TurnFailed)}, "turn_1"},
		{"the user's own stop is not", []chat.Chat{running("turn_1")}, []chat.Chat{ended("turn_1", chat.TurnStopped)}, ""},
		{"an old end is no news", []chat.Chat{ended("turn_1", chat.TurnCompleted)}, []chat.Chat{ended("turn_1", chat.TurnCompleted), ended("turn_2", chat.TurnCompleted)}, "turn_2"},
		{"a chat that is new is told of", nil, []chat.Chat{running("turn_1"), ended("turn_1", chat.TurnCompleted)}, "turn_1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var w Watch
			w.Begin(c.begin)
			var got []string
			for _, s := range c.then {
				body, err := json.Marshal(s)
				if err != nil {
					t.Fatal(err)
				}
				for _, n := range w.Event(event.Event{Type: event.TypeChat, Chat: s.ID, Body: body}) {
					got = append(got, n.Request+n.Turn)
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("told of %q, want %q", got, c.want)
			}
		})
	}
}

func TestWorking(t *testing.T) {
	var w Watch
	w.Begin([]chat.Chat{running("turn_1"), {ID: "chat_2", State: chat.Idle}, {ID: "chat_3", State: chat.AwaitingInput}})
	if n := w.Working(); n != 2 {
		t.Errorf("%d chats at work, want 2", n)
	}
	w.Event(event.Event{Type: event.TypeDeleted, Chat: "chat_1"})
	if n := w.Working(); n != 1 {
		t.Errorf("%d chats at work after one was deleted, want 1", n)
	}
}

func TestWords(t *testing.T) {
	asks := Notice{Title: "Tidy up", Text: "Run\n  make", NeedsYou: true}
	done := Notice{Title: "Tidy up", Text: strings.Repeat("界", 400), Outcome: chat.TurnCompleted}
	for _, c := range []struct {
		name            string
		n               Notice
		setting, system string
		withText        bool
		title, text     string
	}{
		{"one line", asks, "auto", "en_GB.UTF-8", true, "Tidy up · needs you", "Run make"},
		{"no text when it may not be shown", asks, "en", "", false, "A chat · needs you", ""},
		{"the system's language", asks, "auto", "zh_CN.UTF-8", true, "Tidy up · 等待你处理", "Run make"},
		{"the setting wins", asks, "zh-CN", "en_GB", true, "Tidy up · 等待你处理", "Run make"},
		{"cut by characters", done, "en", "", true, "Tidy up · finished", strings.Repeat("界", maxTextRunes-1) + "…"},
		{"a state of another version", Notice{Title: "x", Outcome: "vanished"}, "en", "", true, "x · was interrupted", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := c.n.words(c.setting, c.system, c.withText)
			if w.Title != c.title || w.Text != c.text {
				t.Errorf("got %q and %q, want %q and %q", w.Title, w.Text, c.title, c.text)
			}
		})
	}
}

// scripted is a backend that says what a test wants.
type scripted struct {
	set     settings.Settings
	batches []event.Batch
	done    context.CancelFunc
}

func (s *scripted) Chats(context.Context, bool) ([]chat.Chat, error) {
	return []chat.Chat{running("turn_1")}, nil
}
func (s *scripted) Settings(context.Context) (settings.Settings, error) { return s.set, nil }

func (s *scripted) Next(ctx context.Context) (event.Batch, error) {
	if len(s.batches) == 0 {
		s.done()
		<-ctx.Done()
		return event.Batch{}, errors.New("ended")
	}
	b := s.batches[0]
	s.batches = s.batches[1:]
	return b, nil
}

func TestFollowerKeepsToTheSettings(t *testing.T) {
	summary := func(c chat.Chat) event.Batch {
		body, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		return event.Batch{Events: []event.Event{{Type: event.TypeChat, Body: body}}}
	}
	for _, c := range []struct {
		notify string
		want   int
	}{{"off", 0}, {"needs_you", 1}, {"all", 2}} {
		t.Run(c.notify, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			s := &scripted{set: settings.Defaults(), done: cancel}
			s.set.Notify = c.notify
			s.batches = []event.Batch{{}, summary(waitingFor("r1")), summary(ended("turn_1", chat.TurnCompleted))}
			told, working := 0, []int{}
			f := Follower{
				Backend: s, Follow: func() Stream { return s }, Log: slog.New(slog.DiscardHandler),
				Tell:    func(context.Context, Notice, Words) { told++ },
				Working: func(n int) { working = append(working, n) },
			}
			f.Run(ctx)
			if told != c.want {
				t.Errorf("%d notices were told, want %d", told, c.want)
			}
			if len(working) != 3 || working[0] != 1 || working[2] != 0 {
				t.Errorf("chats at work went %v, want 1 1 0", working)
			}
		})
	}
}
