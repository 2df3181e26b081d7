package codex

import (
	"cmp"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// clip shortens to at most limit bytes without splitting a character.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "…"
}

// bounded keeps foreign JSON up to a limit; what is larger is left out, for
// half of it would not be JSON.
func bounded(raw json.RawMessage, limit int) json.RawMessage {
	if len(raw) == 0 || len(raw) > limit || string(raw) == "null" {
		return nil
	}
	return raw
}

// shells are the programs that Codex wraps a command line into.
var shells = map[string]bool{"bash": true, "zsh": true, "sh": true, "dash": true, "ksh": true}

// unwrap gives the command line that the model wrote out of the one that
// Codex runs: "/bin/bash -lc '…'". Anything else stays as it is.
func unwrap(command string) string {
	shell, rest, ok := strings.Cut(command, " ")
	if !ok || !shells[shell[strings.LastIndexByte(shell, '/')+1:]] {
		return command
	}
	flag, word, ok := strings.Cut(rest, " ")
	if !ok || flag != "-lc" && flag != "-c" {
		return command
	}
	if line, ok := unquote(word); ok {
		return line
	}
	return command
}

// unquote reads one word of a POSIX shell; false when there is more than one,
// or something in it that a shell would expand.
func unquote(word string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(word); {
		switch c := word[i]; c {
		case '\'':
			end := strings.IndexByte(word[i+1:], '\'')
			if end < 0 {
				return "", false
			}
			b.WriteString(word[i+1 : i+1+end])
			i += end + 2
		case '"':
			n, ok := doubleQuoted(&b, word[i+1:])
			if !ok {
				return "", false
			}
			i += n + 1
		case ' ', '\t', '\n', '\\', '$', '`', '*', '?', '[', '~', '#', '&', '|', ';', '<', '>', '(', ')':
			return "", false
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String(), word != ""
}

// doubleQuoted reads up to the closing quote and says how many bytes that
// took.
func doubleQuoted(b *strings.Builder, s string) (int, bool) {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return i + 1, true
		case c == '\\' && i+1 < len(s) && strings.IndexByte("\\\"$`", s[i+1]) >= 0:
			i++
			b.WriteByte(s[i])
		case c == '$' || c == '`' || c == '\\':
			return 0, false
		default:
			b.WriteByte(c)
		}
	}
	return 0, false
}

// firstLine of a text, for a title.
func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return cmp.Or(line, s)
}
