package alert

import (
	"strings"
	"unicode/utf8"

	"berth/backend/chat"
)

// Words of a notification.
type Words struct{ Title, Text string }

// Language picks the language of the words: the setting, or with "auto" what
// the system speaks.
func Language(setting, system string) string {
	if setting == "auto" || setting == "" {
		setting = system
	}
	if strings.HasPrefix(strings.ToLower(setting), "zh") {
		return "zh-CN"
	}
	return "en"
}

var phrases = map[string]map[string]string{
	"en": {
		"needs_you": "needs you", "completed": "finished", "failed": "failed",
		"interrupted": "was interrupted", "untitled": "A chat",
	},
	"zh-CN": {
		"needs_you": "等待你处理", "completed": "已完成", "failed": "失败",
		"interrupted": "被中断", "untitled": "会话",
	},
}

// words puts a notice into words; withText says whether what was asked or
// answered may be shown.
func (n Notice) words(setting, system string, withText bool) Words {
	p := phrases[Language(setting, system)]
	what := p["needs_you"]
	if !n.NeedsYou {
		what = p[string(outcome(n.Outcome))]
	}
	title := n.Title
	if title == "" || !withText {
		title = p["untitled"]
	}
	w := Words{Title: shorten(title, maxTextRunes/2) + " · " + what}
	if withText {
		w.Text = shorten(n.Text, maxTextRunes)
	}
	return w
}

// outcome is one of the words above; a state that is not known yet counts as
// an interruption: it ended, and not well.
func outcome(s chat.TurnState) chat.TurnState {
	switch s {
	case chat.TurnCompleted, chat.TurnFailed:
		return s
	}
	return chat.TurnInterrupted
}

// shorten makes one line of at most n characters.
func shorten(s string, n int) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "�")), " ")
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}
