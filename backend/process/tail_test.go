package process

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTailKeepsTheEnd(t *testing.T) {
	for _, c := range []struct {
		name   string
		max    int
		writes []string
		want   string
	}{
		{"nothing", 4, nil, ""},
		{"fits", 4, []string{"ab", "cd"}, "abcd"},
		{"too long", 4, []string{"abcd", "ef"}, "cdef"},
		{"one long write", 4, []string{"abcdefghijkl"}, "ijkl"},
		{"many", 3, strings.Split("abcdefghijklmnopqrstuvwxyz", ""), "xyz"},
		{"cut through a character", 4, []string{"日本"}, "本"},
		{"cut through an emoji", 3, []string{"a🚀"}, ""},
		{"whole characters", 6, []string{"日", "本"}, "日本"},
		{"broken bytes of its own", 8, []string{"a\xffb"}, "a\uFFFDb"},
		{"broken at the start, uncut", 8, []string{"\x80ab"}, "\uFFFDab"},
		{"end not yet complete", 8, []string{"ab\xe6\x97"}, "ab\uFFFD"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tl := tail{max: c.max}
			for _, w := range c.writes {
				if n, err := tl.Write([]byte(w)); n != len(w) || err != nil {
					t.Fatalf("wrote %d, %v", n, err)
				}
			}
			if got := tl.String(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func FuzzTail(f *testing.F) {
	f.Add([]byte("日本🚀"), 5, 2)
	f.Fuzz(func(t *testing.T, data []byte, limit, step int) {
		limit, step = 1+limit&0xff, 1+step&0xff
		tl := tail{max: limit}
		for rest := data; len(rest) > 0; rest = rest[min(step, len(rest)):] {
			_, _ = tl.Write(rest[:min(step, len(rest))])
		}
		got := tl.String()
		if !utf8.ValidString(got) {
			t.Errorf("not UTF-8: %q", got)
		}
		if len(tl.buf) > 2*limit {
			t.Errorf("keeps %d bytes of %d", len(tl.buf), limit)
		}
		if want := string(data[max(len(data)-limit, 0):]); utf8.Valid(data) && !strings.HasSuffix(want, got) {
			t.Errorf("got %q of %q", got, want)
		}
	})
}
