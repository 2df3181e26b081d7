//go:build desktop && !linux

package app

import "log/slog"

// speakLanguage: the web view asks the system, which always has a language.
func speakLanguage(*slog.Logger) {}
