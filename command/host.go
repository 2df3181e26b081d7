package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"berth/backend"
	"berth/build"
	"berth/frontend"
)

const (
	// closePatience bounds the end of a backend: agents are asked, then
	// killed, then what is left is written down.
	closePatience = 30 * time.Second
	// lingerCheck is how often a backend inside ask looks whether it is still
	// needed.
	lingerCheck = 50 * time.Millisecond
)

// hosting says what backend to start.
type hosting struct {
	state string
	kind  string     // window, serve or ask
	level slog.Level // of log lines that go to standard error
}

// host is a backend in this process.
type host struct {
	*backend.Backend
	log     *slog.Logger
	logFile io.Closer
}

func (sh *shell) host(ctx context.Context, o hosting) (*host, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find Berth's own program: %w", err)
	}
	log, file := openLog(o.state, backendLog, sh.err, o.level)
	log.Info("start", "version", version(), "kind", o.kind, "pid", os.Getpid())
	b, err := backend.Open(ctx, backend.Options{
		State: o.state, Version: build.Version, Kind: o.kind, Pages: frontend.Files(), Self: self, Log: log,
	})
	if err != nil {
		// The command says it on the screen.
		log.Debug("the start failed", "error", err)
		return nil, errors.Join(err, file.Close())
	}
	return &host{b, log, file}, nil
}

func (h *host) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closePatience)
	defer cancel()
	err := h.Close(ctx)
	if err != nil {
		h.log.Error("the end was not clean", "error", err)
	}
	h.log.Info("end")
	return errors.Join(err, h.logFile.Close())
}

// linger keeps the backend of ask until no turn lives and no client is
// connected, then ends it. A signal ends it at once.
func (h *host) linger(ctx context.Context) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	tick := time.NewTicker(lingerCheck)
	defer tick.Stop()
	for ctx.Err() == nil {
		if needed, err := h.Needed(ctx); err != nil || !needed {
			break
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
	return h.close()
}
