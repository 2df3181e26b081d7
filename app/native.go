package app

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// desktop is what the toolkit does for the page.
type desktop interface {
	// chooseFolder and chooseTarget show a dialog; an empty path means that
	// it was cancelled.
	chooseFolder(title, start string) (string, error)
	chooseTarget(name string) (string, error)
	openURL(url string)
	paint(c colour)
	quit()
}

// maxNativeBody bounds the body of a request below /window/, in bytes.
const maxNativeBody = 16 << 10

// native answers the requests below /window/ and hands all others on.
type native struct {
	opts    Options
	desktop desktop
	link    *pendingLink
	look    *presence
	drop    *drop
	// announce tells the page that a link waits.
	announce func()

	mux *http.ServeMux

	mu         sync.Mutex
	background string
	// dialog is held while a native dialog is open: the toolkit mixes up the
	// answers of two.
	dialog sync.Mutex
}

// presence is what the page last said of itself.
type presence struct {
	mu      sync.Mutex
	ready   bool
	focused bool
	chat    string
}

// focus says whether the user looks at the window. A page that has not said
// anything yet was just opened by the user.
func (p *presence) focus() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.focused || !p.ready
}

func (p *presence) set(focused bool, chat string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ready, p.focused, p.chat = true, focused, chat
}

func newNative(opts Options, d desktop, background string, announce func()) *native {
	n := &native{opts: opts, desktop: d, link: &pendingLink{}, look: &presence{}, drop: &drop{last: dropped{Items: []droppedItem{}}},
		announce: announce, background: background, mux: http.NewServeMux()}
	n.mux.HandleFunc("GET /window/state", n.state)
	n.mux.HandleFunc("POST /window/ready", n.ready)
	n.mux.HandleFunc("PUT /window/presence", n.presence)
	n.mux.HandleFunc("POST /window/link", n.takeLink)
	n.mux.HandleFunc("POST /window/choose-folder", n.chooseFolder)
	n.mux.HandleFunc("POST /window/save", n.save)
	n.mux.HandleFunc("POST /window/open-url", n.openURL)
	n.mux.HandleFunc("POST /window/dropped", n.takeDropped)
	n.mux.HandleFunc("POST /window/attach", n.attach)
	n.mux.HandleFunc("PUT /window/background", n.paint)
	n.mux.HandleFunc("POST /window/quit", n.quit)
	n.mux.HandleFunc("/window/", func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusNotFound, "not_found", "The window has nothing of that name.")
	})
	return n
}

func (n *native) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/window/") {
		n.mux.ServeHTTP(w, r)
		return
	}
	n.opts.Handler.ServeHTTP(w, r)
}

func (n *native) state(w http.ResponseWriter, _ *http.Request) {
	answer(w, map[string]any{"platform": runtime.GOOS, "version": n.opts.Version, "client": n.opts.Attached})
}

func (n *native) ready(w http.ResponseWriter, _ *http.Request) {
	n.opts.Log.Info("the page is ready")
	if n.link.waits() {
		n.announce()
	}
	w.WriteHeader(http.StatusNoContent)
}

func (n *native) presence(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Focused bool   `json:"focused"`
		Chat    string `json:"chat"`
	}
	if !read(w, r, &in) {
		return
	}
	n.look.set(in.Focused, in.Chat)
	w.WriteHeader(http.StatusNoContent)
}

func (n *native) takeLink(w http.ResponseWriter, _ *http.Request) {
	answer(w, map[string]string{"link": n.link.take()})
}

func (n *native) chooseFolder(w http.ResponseWriter, r *http.Request) {
	var in struct{ Title, Start string }
	if !read(w, r, &in) {
		return
	}
	if info, err := os.Stat(in.Start); err != nil || !info.IsDir() {
		in.Start = "" // the dialog refuses to open elsewhere than in a folder
	}
	n.dialog.Lock()
	defer n.dialog.Unlock()
	path, err := n.desktop.chooseFolder(in.Title, in.Start)
	if err != nil {
		refuse(w, http.StatusInternalServerError, "dialog_failed", err.Error())
		return
	}
	answer(w, map[string]string{"path": path})
}

func (n *native) save(w http.ResponseWriter, r *http.Request) {
	var in struct{ URL, Name string }
	if !read(w, r, &in) {
		return
	}
	if !strings.HasPrefix(in.URL, "/api/v1/") {
		refuse(w, http.StatusUnprocessableEntity, "invalid", "Only what lies below /api/v1/ can be saved.")
		return
	}
	n.dialog.Lock()
	defer n.dialog.Unlock()
	path, err := n.desktop.chooseTarget(filepath.Base(filepath.Clean("/" + in.Name)))
	if err != nil {
		refuse(w, http.StatusInternalServerError, "dialog_failed", err.Error())
		return
	}
	if path != "" {
		if err := n.fetch(r.Context(), in.URL, path); err != nil {
			n.opts.Log.Warn("a file was not saved", "error", err)
			refuse(w, http.StatusInternalServerError, "not_saved", err.Error())
			return
		}
	}
	answer(w, map[string]string{"path": path})
}

// fetch writes what the backend serves at url to path, which appears under
// its name only when it is whole.
func (n *native) fetch(ctx context.Context, url, path string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://berth"+url, nil)
	if err != nil {
		return err
	}
	res, err := n.opts.Backend.Transport().RoundTrip(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return errors.New("the file is not there any more")
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".berth-*.partial")
	if err != nil {
		return err
	}
	_, err = io.Copy(f, res.Body)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

func (n *native) openURL(w http.ResponseWriter, r *http.Request) {
	var in struct{ URL string }
	if !read(w, r, &in) {
		return
	}
	url, err := openable(in.URL)
	if err != nil {
		refuse(w, http.StatusUnprocessableEntity, "invalid", err.Error())
		return
	}
	n.desktop.openURL(url)
	w.WriteHeader(http.StatusNoContent)
}

func (n *native) paint(w http.ResponseWriter, r *http.Request) {
	var in struct{ Color string }
	if !read(w, r, &in) {
		return
	}
	c, ok := parseColour(in.Color)
	if !ok {
		refuse(w, http.StatusUnprocessableEntity, "invalid", "color is written #rrggbb.")
		return
	}
	n.mu.Lock()
	n.background = in.Color
	n.mu.Unlock()
	n.desktop.paint(c)
	w.WriteHeader(http.StatusNoContent)
}

func (n *native) painted() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.background
}

func (n *native) quit(w http.ResponseWriter, _ *http.Request) {
	w.WriteHeader(http.StatusNoContent)
	n.desktop.quit()
}

func read(w http.ResponseWriter, r *http.Request, into any) bool {
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxNativeBody)).Decode(into)
	if err != nil {
		refuse(w, http.StatusBadRequest, "invalid", "The request is not the JSON that was expected.")
		return false
	}
	return true
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		slog.Debug("an answer did not reach the page", "error", err)
	}
}

func refuse(w http.ResponseWriter, status int, code, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"status": status, "title": http.StatusText(status), "code": code, "detail": detail,
	})
}
