package api

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestHalfCharacters(t *testing.T) {
	for text, half := range map[string]bool{
		`"a"`: false, `"\n\\"`: false, `"\u0041"`: false, `"\ud83d\ude00"`: false, `"\uD83D\uDE00\u0041"`: false,
		`"\\ud83d"`: false, `"\\\\ud83d"`: false, `"\ud83d"`: true, `"\ud83dx"`: true, `"\ude00"`: true, `"\ude00\ud83d"`: true,
		`"\ud83d\ud83d\ude00"`: true, `"\\\ud83d"`: true, `"\ud83d\u0041"`: true, `"\ud83d\n"`: true, `"\u12`: false, `\`: false, ``: false,
	} {
		if halfCharacter([]byte(text)) != half {
			t.Errorf("%s: %v", text, !half)
		}
	}
}

// What is let through decodes without anything being replaced.
func FuzzHalfCharacter(f *testing.F) {
	for _, s := range []string{`"\ud83d\ude00"`, `"\\\ud83d"`, `"a"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var text string
		if !utf8.ValidString(s) || strings.ContainsRune(s, utf8.RuneError) || strings.Contains(strings.ToLower(s), "fffd") || json.Unmarshal([]byte(s), &text) != nil {
			return
		}
		if half := halfCharacter([]byte(s)); half != strings.ContainsRune(text, utf8.RuneError) {
			t.Errorf("%q: %v", s, half)
		}
	})
}
