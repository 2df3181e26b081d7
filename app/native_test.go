package app

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/backend/api/client"
	"berth/backend/instance"
)

// recorder is a desktop that answers as a user would.
type recorder struct {
	folder, target string
	err            error
	opened         []string
	painted        colour
	quits          int
}

func (r *recorder) chooseFolder(string, string) (string, error) { return r.folder, r.err }
func (r *recorder) chooseTarget(string) (string, error)         { return r.target, r.err }
func (r *recorder) openURL(url string)                          { r.opened = append(r.opened, url) }
func (r *recorder) paint(c colour)                              { r.painted = c }
func (r *recorder) quit()                                       { r.quits++ }

// page is a window's page, without the window.
type page struct {
	t        *testing.T
	native   *native
	desktop  *recorder
	announce int
}

func newPage(t *testing.T) *page {
	p := &page{t: t, desktop: &recorder{}}
	opts := Options{
		State: t.TempDir(), Version: "1.2.3", Log: slog.New(slog.DiscardHandler),
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }),
	}
	opts.Backend = client.New(opts.State)
	t.Cleanup(opts.Backend.Close)
	p.native = newNative(opts, p.desktop, "#112233", func() { p.announce++ })
	return p
}

// does sends a request and expects a status; it gives the body.
func (p *page) does(method, path, body string, status int) string {
	p.t.Helper()
	w := httptest.NewRecorder()
	p.native.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
	if w.Code != status {
		p.t.Errorf("%s %s %s: %d %s, want %d", method, path, body, w.Code, w.Body, status)
	}
	if status >= 400 && status != http.StatusTeapot && w.Header().Get("Content-Type") != "application/problem+json" && status != http.StatusMethodNotAllowed {
		p.t.Errorf("%s %s: the refusal is no problem document", method, path)
	}
	return w.Body.String()
}

func TestOtherPathsAreTheBackends(t *testing.T) {
	p := newPage(t)
	p.does("GET", "/api/v1/health", "", http.StatusTeapot)
	p.does("GET", "/windows", "", http.StatusTeapot)
	p.does("GET", "/window/nothing", "", http.StatusNotFound)
}

func TestStateTellsThatThereIsAWindow(t *testing.T) {
	p := newPage(t)
	if got := p.does("GET", "/window/state", "", 200); !strings.Contains(got, `"version":"1.2.3"`) || !strings.Contains(got, `"client":false`) {
		t.Errorf("got %s", got)
	}
}

func TestLinkWaitsForThePage(t *testing.T) {
	p := newPage(t)
	p.native.link.put("chat/chat_1")
	p.does("POST", "/window/ready", "{}", 204)
	if p.announce != 1 {
		t.Error("a page that became ready was not told of the link that waits")
	}
	if got := p.does("POST", "/window/link", "{}", 200); !strings.Contains(got, "chat/chat_1") {
		t.Errorf("got %s", got)
	}
	if got := p.does("POST", "/window/link", "{}", 200); strings.Contains(got, "chat_1") {
		t.Error("a link was given twice")
	}
}

func TestPresence(t *testing.T) {
	p := newPage(t)
	if !p.native.look.focus() {
		t.Error("a window that was just opened counts as looked at")
	}
	p.does("PUT", "/window/presence", `{"focused":false}`, 204)
	if p.native.look.focus() {
		t.Error("the page said that it has lost the focus")
	}
	p.does("PUT", "/window/presence", `{"focused":true,"chat":"chat_1"}`, 204)
	if !p.native.look.focus() {
		t.Error("the page said that it has the focus")
	}
	p.does("PUT", "/window/presence", `{"focused":`, http.StatusBadRequest)
	p.does("PUT", "/window/presence", `{"chat":"`+strings.Repeat("x", maxNativeBody)+`"}`, http.StatusBadRequest)
}

func TestChooseFolder(t *testing.T) {
	p := newPage(t)
	p.desktop.folder = "/home/me/code"
	if got := p.does("POST", "/window/choose-folder", `{"title":"Where","start":"/nowhere"}`, 200); !strings.Contains(got, "/home/me/code") {
		t.Errorf("got %s", got)
	}
	p.desktop.err = errors.New("no portal")
	p.does("POST", "/window/choose-folder", `{}`, http.StatusInternalServerError)
}

func TestOpenURL(t *testing.T) {
	p := newPage(t)
	p.does("POST", "/window/open-url", `{"url":"https://example.org/a(b)"}`, 204)
	p.does("POST", "/window/open-url", `{"url":"file:///etc/passwd"}`, http.StatusUnprocessableEntity)
	if len(p.desktop.opened) != 1 || p.desktop.opened[0] != "https://example.org/a%28b%29" {
		t.Errorf("opened %q", p.desktop.opened)
	}
}

func TestBackgroundIsKept(t *testing.T) {
	p := newPage(t)
	if p.native.painted() != "#112233" {
		t.Error("the colour of the last time is lost before the page says another")
	}
	p.does("PUT", "/window/background", `{"color":"#0a6882"}`, 204)
	p.does("PUT", "/window/background", `{"color":"blue"}`, http.StatusUnprocessableEntity)
	if p.native.painted() != "#0a6882" || (p.desktop.painted != colour{0x0a, 0x68, 0x82}) {
		t.Errorf("painted %v, kept %s", p.desktop.painted, p.native.painted())
	}
}

func TestDroppedFiles(t *testing.T) {
	p := newPage(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "ein ü.txt")
	if err := os.WriteFile(file, []byte("four"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := p.does("POST", "/window/dropped", "{}", 200); !strings.Contains(got, `"items":[]`) {
		t.Errorf("before a drop: %s", got)
	}
	p.native.drop.put(3, 4, []string{file, dir, filepath.Join(dir, "gone"), "relative"})
	got := p.does("POST", "/window/dropped", "{}", 200)
	for _, want := range []string{`"x":3`, `"y":4`, `"name":"ein ü.txt","folder":false,"size":4`, `"folder":true`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in %s", want, got)
		}
	}
	if strings.Contains(got, "gone") || strings.Contains(got, "relative") {
		t.Errorf("what is not there was dropped: %s", got)
	}
	p.does("POST", "/window/attach", `{"path":"/etc/passwd"}`, http.StatusForbidden)
	p.does("POST", "/window/attach", `{"path":"`+filepath.ToSlash(dir)+`"}`, http.StatusUnprocessableEntity)
	// Without a backend the upload fails, and says so.
	p.does("POST", "/window/attach", `{"path":"`+filepath.ToSlash(file)+`"}`, http.StatusUnprocessableEntity)
}

func TestQuit(t *testing.T) {
	p := newPage(t)
	p.does("POST", "/window/quit", "{}", 204)
	if p.desktop.quits != 1 {
		t.Error("the window was not told to quit")
	}
}

// serveFile is a backend that serves one file.
func serveFile(t *testing.T, state string) {
	lock, err := instance.Acquire(state)
	if err != nil {
		t.Fatal(err)
	}
	l, socket, err := lock.Listen()
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Announce(instance.Record{Socket: socket}); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/files/file_1", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("content")) })
	mux.HandleFunc("GET /api/v1/files/file_2", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte("half"))
	})
	server := &http.Server{Handler: mux, BaseContext: func(net.Listener) context.Context { return t.Context() }}
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(l) }()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
		_ = lock.Release()
	})
}

func TestSave(t *testing.T) {
	p := newPage(t)
	serveFile(t, p.native.opts.State)
	dir := t.TempDir()
	p.does("POST", "/window/save", `{"url":"/etc/passwd","name":"x"}`, http.StatusUnprocessableEntity)
	if got := p.does("POST", "/window/save", `{"url":"/api/v1/files/file_1","name":"x"}`, 200); !strings.Contains(got, `"path":""`) {
		t.Errorf("a cancelled dialog gives %s", got)
	}
	p.desktop.target = filepath.Join(dir, "x.txt")
	p.does("POST", "/window/save", `{"url":"/api/v1/files/file_1","name":"x.txt"}`, 200)
	if data, err := os.ReadFile(p.desktop.target); err != nil || string(data) != "content" {
		t.Errorf("saved %q, %v", data, err)
	}
	// What cannot be had whole leaves what was there.
	p.does("POST", "/window/save", `{"url":"/api/v1/files/file_2","name":"x.txt"}`, http.StatusInternalServerError)
	p.does("POST", "/window/save", `{"url":"/api/v1/files/file_3","name":"x.txt"}`, http.StatusInternalServerError)
	if data, err := os.ReadFile(p.desktop.target); err != nil || string(data) != "content" {
		t.Errorf("a failed save left %q, %v", data, err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("a failed save left %v, %v", left, err)
	}
}
