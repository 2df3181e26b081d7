package api

import (
	"net/http/httptest"
	"strings"
	"testing"
)

func TestPages(t *testing.T) {
	w := newWorld(t)
	const page = "<!doctype html><title>Berth</title>"
	for _, c := range []struct {
		method, path string
		status       int
		kind, cache  string
		body         string
	}{
		{"GET", "/", 200, "text/html; charset=utf-8", "no-cache", page},
		{"GET", "/index.html", 200, "text/html; charset=utf-8", "no-cache", page},
		{"GET", "/chat/chat_1", 200, "text/html; charset=utf-8", "no-cache", page},
		{"HEAD", "/settings", 200, "text/html; charset=utf-8", "no-cache", ""},
		{"GET", "/assets/index-abc.js", 200, "text/javascript; charset=utf-8", "public, max-age=31536000, immutable", "export {}"},
		{"GET", "/assets/a.woff2", 200, "font/woff2", "public, max-age=31536000, immutable", "font"},
		{"GET", "/favicon.svg", 200, "image/svg+xml", "no-cache", "<svg/>"},
		{"GET", "/assets/", 200, "text/html; charset=utf-8", "no-cache", page}, // no list of what is there
		{"GET", "/assets", 200, "text/html; charset=utf-8", "no-cache", page},
		{"GET", "/assets/deep", 404, "", "", ""},
		{"GET", "/assets/gone-123.js", 404, "", "", ""},
		{"GET", "/robots.txt", 404, "", "", ""},
		{"GET", "/../../etc/passwd.txt", 404, "", "", ""},
		{"GET", "/%00", 200, "text/html; charset=utf-8", "no-cache", page},
		{"GET", "/window/state", 404, "", "", ""},
		{"DELETE", "/", 405, "", "", ""},
	} {
		a := w.ask(w.Window(), httptest.NewRequest(c.method, c.path, nil))
		if c.status != 200 {
			a.problem(c.status, map[int]string{404: "not_found", 405: "method_not_allowed"}[c.status])
			continue
		}
		a.want(200)
		h := a.header
		if h.Get("Content-Type") != c.kind || h.Get("Cache-Control") != c.cache || c.method == "GET" && string(a.body) != c.body {
			t.Errorf("%s: %v %q", c.path, h, a.body)
		}
		if h.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(h.Get("Content-Security-Policy"), "script-src 'self'") ||
			strings.Contains(h.Get("Content-Security-Policy"), "'unsafe-eval'") {
			t.Errorf("%s is not confined: %v", c.path, h)
		}
	}
}

func TestWithoutAFrontendThereAreNoPages(t *testing.T) {
	s := New(Features{})
	defer s.Close()
	rec := httptest.NewRecorder()
	s.Window().ServeHTTP(rec, httptest.NewRequest("GET", "/", nil))
	answered{t, rec.Code, rec.Header(), rec.Body.Bytes()}.problem(404, "not_found")
}
