//go:build desktop

package app

import (
	"log/slog"
	"os"
)

// toolkitLog writes the toolkit's messages into our log.
type toolkitLog struct{ log *slog.Logger }

func (l toolkitLog) Print(m string)   { l.log.Info(m, "from", "toolkit") }
func (l toolkitLog) Trace(m string)   { l.log.Debug(m, "from", "toolkit") }
func (l toolkitLog) Debug(m string)   { l.log.Debug(m, "from", "toolkit") }
func (l toolkitLog) Info(m string)    { l.log.Info(m, "from", "toolkit") }
func (l toolkitLog) Warning(m string) { l.log.Warn(m, "from", "toolkit") }
func (l toolkitLog) Error(m string)   { l.log.Error(m, "from", "toolkit") }

// Fatal ends the program, as the toolkit expects of it.
func (l toolkitLog) Fatal(m string) {
	l.log.Error(m, "from", "toolkit")
	os.Exit(1)
}
