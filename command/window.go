package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"berth/app"
	"berth/backend"
	"berth/backend/api"
	"berth/backend/api/client"
	"berth/backend/instance"
	"berth/build"
)

// openWindow is what berth does without a command: it brings the window of
// the state directory forward, or opens it, as the backend or, where one
// runs, as a client of that.
func (sh *shell) openWindow(c *cobra.Command, args []string) error {
	link := ""
	if len(args) == 1 {
		if link = args[0]; !strings.HasPrefix(link, app.LinkScheme+"://") {
			return usage("there is no command %q; berth --help lists them", link)
		}
	}
	state, err := sh.stateDir()
	if err != nil {
		return err
	}
	if r, err := instance.Read(state); err == nil && app.Ask(c.Context(), app.SocketBeside(r.Socket), link) == nil {
		return nil
	}
	if err := sh.canOpen(); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	h, err := sh.host(ctx, hosting{state: state, kind: "window", level: slog.LevelWarn})
	var held *backend.HeldError
	switch {
	case errors.As(err, &held):
		return sh.attach(ctx, state, link, held)
	case err != nil:
		return err
	}
	b := client.New(state)
	defer b.Close()
	r, err := instance.Read(state)
	if err == nil {
		err = sh.window(ctx, app.Options{
			State: state, Socket: app.SocketBeside(r.Socket), Version: build.Version,
			Handler: h.Handler.Window(), Backend: b, Link: link, Log: h.log, Opened: h.Handler.SetWindow,
		})
	}
	return errors.Join(err, h.close())
}

// canOpen says what to do where no window can be opened.
func (sh *shell) canOpen() error {
	if sh.window == nil {
		return errors.New("this Berth was built without a window; run: berth serve, and open the address that it prints")
	}
	if !hasDisplay() {
		return errors.New("there is no display; run: berth serve, and open the address that it prints")
	}
	return nil
}

func hasDisplay() bool {
	return runtime.GOOS != "linux" || os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != ""
}

// attach opens the window as a client of the backend that runs.
func (sh *shell) attach(ctx context.Context, state, link string, held *backend.HeldError) error {
	b := client.New(state)
	defer b.Close()
	if _, err := b.Health(ctx); err != nil {
		return fmt.Errorf("%w, and it does not answer: %w", held, err)
	}
	log, file := openLog(state, windowLog, sh.err, slog.LevelWarn)
	defer file.Close()
	return sh.window(ctx, app.Options{
		State: state, Socket: app.SocketBeside(held.By.Socket), Version: build.Version,
		Handler: through(b, log), Backend: b, Attached: true, Link: link, Log: log,
		Opened: func(api.Window) {},
	})
}

// through hands requests to a backend in another process as they are.
func through(b *client.Client, log *slog.Logger) http.Handler {
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = "http", "berth"
		},
		Transport:     b.Transport(),
		FlushInterval: -1, // downloads and batches go on as they come
		ErrorLog:      slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			log.Debug("the backend did not answer", "path", r.URL.Path, "error", err)
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusBadGateway)
			_, _ = io.WriteString(w, `{"title":"Bad Gateway","status":502,"code":"offline","detail":"Berth does not answer."}`+"\n")
		},
	}
}
