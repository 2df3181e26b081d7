package app

import (
	"strings"
	"testing"

	"berth/frontend"
)

func TestMenuHoldsTheTable(t *testing.T) {
	for _, mac := range []bool{false, true} {
		for lang := range words {
			bar, err := menuBar(frontend.Actions, lang, mac)
			if err != nil {
				t.Fatal(err)
			}
			seen := map[string]bool{}
			for _, m := range bar {
				if m.title == "" {
					t.Errorf("%s: a menu has no title", lang)
				}
				for _, e := range m.entries {
					if e.id != "" && e.label == "" {
						t.Errorf("%s: %s has no label", lang, e.id)
					}
					if e.id != "" && seen[e.id] {
						t.Errorf("%s: %s stands twice", lang, e.id)
					}
					seen[e.id] = true
				}
			}
			for _, id := range []string{"chat.new", "settings", "turn.stop", "view.sidebar", "docs"} {
				if !seen[id] {
					t.Errorf("%s, mac %v: %s is missing", lang, mac, id)
				}
			}
			if seen["edit.copy"] == mac || seen["quit"] == mac {
				t.Errorf("mac %v: what the system adds itself is ours elsewhere, and only there", mac)
			}
		}
	}
}

func TestWordsAreThereInEachLanguage(t *testing.T) {
	for id := range words["en"] {
		for lang := range words {
			if words[lang][id] == "" {
				t.Errorf("%s has no word for %s", lang, id)
			}
		}
	}
}

func TestGTKKeys(t *testing.T) {
	for keys, want := range map[string]string{
		"Mod+K": "<Control>K", "Mod+Shift+A": "<Control><Shift>A", "Ctrl+`": "<Control>grave", "Mod+\\": "<Control>backslash",
		"Alt+ArrowUp": "<Alt>Up", "?": "question", "Escape": "Escape", "Mod+.": "<Control>period", "Ctrl+Shift+Tab": "<Control><Shift>Tab",
	} {
		if got := gtkKeys(keys); got != want {
			t.Errorf("%s is %s, want %s", keys, got, want)
		}
	}
}

func TestNamelessLocales(t *testing.T) {
	for locale, want := range map[string]bool{"C": true, "C.UTF-8": true, "POSIX": true, "": false, "en_GB.UTF-8": false, "ca_ES": false} {
		if nameless(locale) != want {
			t.Errorf("%q: %v", locale, !want)
		}
	}
	t.Setenv("LC_ALL", "")
	t.Setenv("LC_MESSAGES", "zh_CN.UTF-8")
	t.Setenv("LANG", "en_GB.UTF-8")
	if got := systemLanguage(); !strings.HasPrefix(got, "zh") {
		t.Errorf("the system speaks %q", got)
	}
}
