package claude

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// cut shortens s to at most max bytes, at the border of a character.
func cut(s string, max int) string {
	if len(s) <= max {
		return s
	}
	for max > 0 && !utf8.RuneStart(s[max]) {
		max--
	}
	return s[:max]
}

// firstLine is the first line of s that says something.
func firstLine(s string) string {
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}

// lastLine is the last line of s that says something.
func lastLine(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.LastIndexAny(s, "\r\n"); i >= 0 {
		s = strings.TrimSpace(s[i+1:])
	}
	return s
}

// pieces joins the raw JSON strings of a streamed text. A character outside
// the basic plane may be split into its two escaped halves, of which the
// first is held back until the second has come.
type pieces struct {
	half []byte // `\ud83d`, or nothing
}

// next gives the text of the next piece.
func (p *pieces) next(raw json.RawMessage) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	body := raw[1 : len(raw)-1]
	if len(p.half) > 0 {
		body = append(bytes.Clone(p.half), body...)
		p.half = nil
	}
	if n := len(body) - len(`\ud83d`); n >= 0 && highSurrogate(body[n:]) && !escaped(body[:n]) {
		p.half = bytes.Clone(body[n:])
		body = body[:n]
	}
	var text string
	if json.Unmarshal(append(append([]byte{'"'}, body...), '"'), &text) != nil {
		return ""
	}
	return text
}

func highSurrogate(s []byte) bool {
	return s[0] == '\\' && s[1] == 'u' && (s[2]|0x20) == 'd' && strings.IndexByte("89abAB", s[3]) >= 0
}

// escaped says whether the character after s is escaped by it.
func escaped(s []byte) bool {
	n := 0
	for n < len(s) && s[len(s)-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}
