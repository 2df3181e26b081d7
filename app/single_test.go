package app

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSecondStartReachesTheWindow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "b.win")
	links := make(chan string, 4)
	i, err := beTheWindow(path, func(link string) { links <- link })
	if err != nil {
		t.Fatal(err)
	}
	defer i.close()
	if !Open(t.Context(), path) {
		t.Error("the window is not found")
	}
	if _, err := beTheWindow(path, func(string) {}); err == nil {
		t.Error("a second window took the place of the first")
	}
	for _, link := range []string{"", "berth://chat/chat_1"} {
		if err := Ask(t.Context(), path, link); err != nil {
			t.Fatal(err)
		}
		select {
		case got := <-links:
			if got != link {
				t.Errorf("the window was told %q, want %q", got, link)
			}
		case <-time.After(5 * time.Second):
			t.Fatalf("the window was not told of %q", link)
		}
	}
	if len(links) != 0 {
		t.Error("looking whether a window is open brought it forward")
	}
}

func TestSocketOfAKilledWindowIsReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "b.win")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false) // as after SIGKILL
	l.Close()
	if Open(t.Context(), path) {
		t.Fatal("a dead window answers")
	}
	i, err := beTheWindow(path, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	i.close()
	if _, err := os.Stat(path); err == nil {
		t.Error("the socket stays behind")
	}
}

func TestStrangersAreDropped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "b.win")
	i, err := beTheWindow(path, func(link string) { t.Errorf("the window was told %q", link) })
	if err != nil {
		t.Fatal(err)
	}
	defer i.close()
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte(strings.Repeat("x", maxLink+1))); err != nil {
		t.Fatal(err)
	}
	_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
	if n, err := conn.Read(make([]byte, 1)); err == nil || n > 0 {
		t.Error("a line without an end was answered")
	}
}

func TestSocketBesideIsNoLonger(t *testing.T) {
	if got := SocketBeside("/s/run/berth.sock"); got != "/s/run/berth.win" {
		t.Errorf("got %s", got)
	}
}
