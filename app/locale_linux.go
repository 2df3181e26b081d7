//go:build desktop

package app

/*
#include <locale.h>
#include <stdlib.h>

static int has_locale(const char *name) {
	locale_t l = newlocale(LC_ALL_MASK, name, (locale_t)0);
	if (l == (locale_t)0) return 0;
	freelocale(l);
	return 1;
}
*/
import "C"

import (
	"log/slog"
	"os"
	"unsafe"
)

// speakLanguage gives the toolkit a language when the environment names none.
// It changes C's environment only: agents are started with Go's copy, and
// theirs stays as the user set it.
func speakLanguage(log *slog.Logger) {
	v := C.CString("en_US.UTF-8")
	defer func() { C.free(unsafe.Pointer(v)) }()
	if C.has_locale(v) == 0 {
		C.free(unsafe.Pointer(v))
		v = C.CString("C") // which the web view takes for American English
	}
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if !nameless(os.Getenv(name)) {
			continue
		}
		log.Debug("the locale names no language; the window speaks English", "variable", name)
		n := C.CString(name)
		C.setenv(n, v, 1)
		C.free(unsafe.Pointer(n))
	}
}
