package app

import (
	"strings"
	"testing"
)

func TestParseLink(t *testing.T) {
	for _, c := range []struct{ link, want string }{
		{"berth://chat/chat_01h2x", "chat/chat_01h2x"},
		{"berth://chat/chat_01h2x/", "chat/chat_01h2x"},
		{"berth://attention", "attention"},
		{"berth://settings/", "settings"},
		{"berth://chat/", ""},
		{"berth://chat/../../etc", ""},
		{"berth://chat/<script>", ""},
		{"berth://chat/chat_1%2f..", ""},
		{"berth://quit", ""},
		{"https://chat/chat_1", ""},
		{"berth:chat/chat_1", ""},
		{"", ""},
		{"berth://chat/chat_" + strings.Repeat("a", 3000), ""},
	} {
		got, err := ParseLink(c.link)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%q gives %q, %v; want %q", c.link, got, err, c.want)
		}
	}
}

func FuzzParseLink(f *testing.F) {
	f.Add("berth://chat/chat_01h2x")
	f.Add("berth://attention?x=1#y")
	f.Fuzz(func(t *testing.T, link string) {
		way, err := ParseLink(link)
		if err != nil {
			return
		}
		if way != "attention" && way != "settings" && !linkID.MatchString(strings.TrimPrefix(way, "chat/")) {
			t.Errorf("%q gives %q", link, way)
		}
	})
}

func TestOpenable(t *testing.T) {
	for _, c := range []struct{ raw, want string }{
		{"https://example.org/a?b=c#d", "https://example.org/a?b=c#d"},
		{"https://en.example.org/wiki/Go_(language)", "https://en.example.org/wiki/Go_%28language%29"},
		{"https://example.org/~me/a;b$c", "https://example.org/%7Eme/a%3Bb%24c"},
		{"https://example.org/日本", "https://example.org/%E6%97%A5%E6%9C%AC"},
		{"mailto:a@example.org", "mailto:a@example.org"},
		{"http://", ""},
		{"file:///etc/passwd", ""},
		{"javascript:alert(1)", ""},
		{"berth://chat/chat_1", ""},
		{"--help", ""},
		{"https://example.org/\x00", ""},
		{"https://example.org/" + strings.Repeat("a", maxURL), ""},
	} {
		got, err := openable(c.raw)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%q gives %q, %v; want %q", c.raw, got, err, c.want)
		}
	}
}

func TestPendingLinkIsTakenOnce(t *testing.T) {
	var p pendingLink
	p.put("chat/chat_1")
	p.put("chat/chat_2")
	if !p.waits() || p.take() != "chat/chat_2" || p.waits() || p.take() != "" {
		t.Error("the newest link is taken once")
	}
}
