//go:build windowtest

package window

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/backend/chat"
	"berth/backend/event"
	"berth/backend/settings"
)

// colours that a page with text and signs has at least; an empty one has a
// handful.
const leastColours = 60

func TestThemes(t *testing.T) {
	bright := map[string]float64{}
	for _, theme := range []string{"light", "dark"} {
		t.Run(theme, func(t *testing.T) {
			d, c := inChat(t, "/plan", "/run", "/edit")
			if _, err := d.backend().UpdateSettings(t.Context(), settings.Change{Theme: &theme}); err != nil {
				t.Fatal(err)
			}
			d.wait("the theme", func() bool { s := d.picture(theme); return (s.bright < 0.5) == (theme == "dark") })
			d.berth("ask", "--chat", c.ID, "Thank you")
			d.wait("the page to show the answer", func() bool {
				c, err := d.backend().Chat(t.Context(), c.ID)
				return err == nil && !c.Unread && c.State == chat.Idle
			})
			s := d.picture(theme)
			if s.colours < leastColours {
				t.Errorf("the page shows %d colours: it is blank", s.colours)
			}
			bright[theme] = s.bright
		})
	}
	if bright["light"] <= bright["dark"] {
		t.Errorf("light is as dark as dark: %v", bright)
	}
}

// inChat opens the window with a chat of the demo agent, in which that was
// said.
func inChat(t *testing.T, said ...string) (*desk, chat.Chat) {
	t.Helper()
	d := newDesk(t)
	stop := d.background(binary, "serve")
	d.wait("serve", func() bool { _, err := d.backend().Health(t.Context()); return err == nil })
	c, err := d.backend().StartDemo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range append(said, "hello") {
		d.berth("ask", "--approve", "all", "--chat", c.ID, text)
	}
	stop()
	d.open()
	chats, err := d.backend().Chats(t.Context(), false)
	if err != nil || len(chats) != 1 {
		t.Fatalf("%d chats, %v", len(chats), err)
	}
	d.berth("berth://chat/" + c.ID)
	d.wait("the window to come forward", d.active)
	return d, c
}

// said tells whether the user has said that in a chat.
func (d *desk) said(id, text string) bool {
	page, err := d.backend().Items(d.t.Context(), id, 0, 0, 50)
	if err != nil {
		return false
	}
	for _, it := range page.Items {
		if it.Kind == event.UserMessage && it.Body.Text == text {
			return true
		}
	}
	return false
}

func TestAMessageIsTypedAndSent(t *testing.T) {
	d, c := inChat(t)
	// The page follows the link in its own time; typing begins when the
	// composer has the focus.
	d.wait("the message to arrive", func() bool {
		d.keys("ctrl+shift+m", "ctrl+a")
		d.write("from the keyboard")
		d.keys("Return")
		return d.said(c.ID, "from the keyboard")
	})
	d.picture("chat")
}

func TestASecondStartBringsTheWindowForward(t *testing.T) {
	d, c := inChat(t)
	d.must("xdotool", "windowminimize", "--sync", d.id())
	d.wait("the window to be minimised", func() bool { return !d.shown() })
	d.berth()
	d.wait("the window to come back", d.active)
	if n := strings.Count(strings.Join(d.processes(), " "), "berth"); n != 1 {
		t.Errorf("%d programs run", n)
	}
	if out, err := d.run(binary, "berth://chat/"+c.ID); err != nil || out != "" {
		t.Errorf("a second start with a link: %v %s", err, out)
	}
	if out, err := d.run(binary, "nonsense"); err == nil {
		t.Errorf("nonsense was taken for a link: %s", out)
	}
}

func TestClosingWhileWorkGoesOn(t *testing.T) {
	d, c := inChat(t)
	d.berth("send", c.ID, "/slow 600")
	closeWindow := func() {
		d.keys("alt+F4")
		d.wait("the question", func() bool {
			_, err := d.run("xdotool", "search", "--onlyvisible", "--name", "Work goes on")
			return err == nil
		})
	}
	closeWindow()
	d.screen("work-goes-on")
	d.keys("Escape")
	d.wait("the question to go", d.active)

	closeWindow()
	d.keys("alt+y")
	d.wait("the window to be hidden", func() bool { return !d.shown() })
	if len(d.processes()) == 0 {
		t.Fatal("the program ended although its work was to go on")
	}
	d.berth()
	d.wait("a second start to bring it back", d.active)

	closeWindow()
	d.keys("alt+n")
	d.gone()
	// Nothing is lost: the next start tells that the work was interrupted.
	d.open()
	got, err := d.backend().Chat(t.Context(), c.ID)
	if err != nil || got.Turn == nil || !got.Turn.State.Terminal() {
		t.Errorf("the turn is %+v, %v", got.Turn, err)
	}
}

func TestClosingWithoutWorkAsksNothing(t *testing.T) {
	d, _ := inChat(t)
	d.keys("alt+F4")
	d.gone()
}

func TestPlaceIsRemembered(t *testing.T) {
	d := newDesk(t)
	d.open()
	d.must("xdotool", "windowsize", "--sync", d.id(), "1100", "720")
	d.must("xdotool", "windowmove", "--sync", d.id(), "200", "120")
	want := d.geometry()
	d.quit()
	d.open()
	d.wait("the window to stand where it stood", func() bool { return d.geometry() == want })
	d.quit()
	// A place that no screen shows is not used.
	if err := os.WriteFile(filepath.Join(d.state, "window.json"), []byte(`{"x":9000,"y":9000,"width":1100,"height":720}`), 0o600); err != nil {
		t.Fatal(err)
	}
	d.open()
	if g := d.geometry(); g[0] > 1600 || g[1] > 1000 {
		t.Errorf("the window stands off the screen: %v", g)
	}
}

func TestANotificationBringsTheChat(t *testing.T) {
	d, c := inChat(t)
	other := d.other()
	defer other()
	d.berth("send", c.ID, "/edit")
	d.wait("a notification", func() bool { return strings.Contains(d.log(), "a notification was shown") })
	d.wait("it to be drawn", func() bool {
		_, err := d.run("xdotool", "search", "--onlyvisible", "--class", "Dunst")
		return err == nil
	})
	d.screen("notification")
	d.must("dunstctl", "action")
	d.wait("a click on it to bring the window", d.active)
	d.must("dunstctl", "close-all")
	d.wait("the notification service to know it", func() bool {
		return strings.Contains(strings.Join(d.notifications(), "\n"), "needs you")
	})
}

// other puts another window in front; the function takes it away.
func (d *desk) other() func() {
	d.t.Helper()
	stop := d.background("xmessage", "-center", "another program")
	d.wait("another window in front", func() bool { return !d.active() })
	return stop
}

func TestTheWindowIsAClientOfServe(t *testing.T) {
	d := newDesk(t)
	stop := d.background(binary, "serve")
	d.wait("serve", func() bool { _, err := d.backend().Health(t.Context()); return err == nil })
	d.open()
	d.keys("alt+F4")
	d.wait("the window to close", func() bool { return !d.shown() })
	<-d.ended
	d.window = nil
	if h, err := d.backend().Health(t.Context()); err != nil || h.Window {
		t.Errorf("serve after the window was closed: %+v, %v", h, err)
	}
	stop()
	d.wait("every process to be gone", func() bool { return len(d.processes()) == 0 })
}
