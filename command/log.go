package command

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Logs: JSON lines in <state>/logs, apart from the database; one for the
// backend, and one for a window that is the client of another's.
const (
	backendLog = "berth.log"
	windowLog  = "window.log"
	// maxLog is the size at which a log is turned over, and keptLogs how many
	// older ones stay: 20 MiB at most hold days of work.
	maxLog   = 4 << 20
	keptLogs = 4
)

// openLog gives the log of that name. Lines of level and above also go to
// standard error. A log that cannot be written is set aside; diagnostics
// never keep Berth from starting.
func openLog(state, name string, stderr io.Writer, level slog.Level) (*slog.Logger, io.Closer) {
	screen := slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: level, ReplaceAttr: redact})
	file, err := openRotating(filepath.Join(state, "logs", name), maxLog, keptLogs)
	if err != nil {
		log := slog.New(screen)
		log.Warn("nothing is logged to a file", "error", err)
		return log, io.NopCloser(nil)
	}
	kept := slog.NewJSONHandler(file, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: redact})
	return slog.New(slog.NewMultiHandler(kept, screen)), file
}

// redact keeps secrets out of the log should one ever be given to it.
func redact(_ []string, a slog.Attr) slog.Attr {
	switch a.Key {
	case "token", "secret", "password", "authorization", "ticket", "key":
		return slog.String(a.Key, "(redacted)")
	}
	return a
}

// rotating is a file that is turned over when it grows. It may be used from
// any goroutine; a line is written whole.
type rotating struct {
	mu   sync.Mutex
	path string
	max  int64
	kept int
	file *os.File
	size int64
}

func openRotating(path string, max int64, kept int) (*rotating, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the log directory: %w", err)
	}
	r := &rotating{path: path, max: max, kept: kept}
	err := r.open()
	if err == nil {
		return r, nil
	}
	aside := path + ".damaged-" + time.Now().UTC().Format("20060102T150405")
	if moved := os.Rename(path, aside); moved != nil {
		return nil, errors.Join(err, moved)
	}
	if err := r.open(); err != nil {
		return nil, err
	}
	return r, nil
}

func (r *rotating) open() error {
	f, err := os.OpenFile(r.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("the log is not a file")
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	r.file, r.size = f, info.Size()
	return nil
}

func (r *rotating) Write(line []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil {
		return 0, os.ErrClosed
	}
	if r.size > 0 && r.size+int64(len(line)) > r.max {
		if err := r.turn(); err != nil {
			return 0, err
		}
	}
	n, err := r.file.Write(line)
	r.size += int64(n)
	return n, err
}

// turn names the log berth.log.1, that one berth.log.2, and so on; the last
// is dropped.
func (r *rotating) turn() error {
	if err := r.file.Close(); err != nil {
		return err
	}
	r.file = nil
	older := func(i int) string { return fmt.Sprintf("%s.%d", r.path, i) }
	for i := r.kept - 1; i > 0; i-- {
		if err := os.Rename(older(i), older(i+1)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	if err := os.Rename(r.path, older(1)); err != nil {
		return err
	}
	return r.open()
}

func (r *rotating) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil {
		return nil
	}
	err := r.file.Close()
	r.file = nil
	return err
}
