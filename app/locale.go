package app

import (
	"os"
	"strings"
)

// systemLanguage is what the environment asks for ("zh_CN.UTF-8"), empty
// where it does not say.
func systemLanguage() string {
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if v := os.Getenv(name); v != "" {
			return v
		}
	}
	return ""
}

// nameless says that a locale names no language. The web view would call the
// language of the page "C", and every Intl constructor would throw.
func nameless(locale string) bool {
	name, _, _ := strings.Cut(locale, ".")
	return name == "C" || name == "POSIX"
}
