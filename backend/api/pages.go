package api

import (
	"bytes"
	"errors"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"
)

// pageCSP confines the pages (CONTRACTS, Tokens). Scripts are ours alone;
// WebAssembly is needed by the highlighter.
const pageCSP = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; " +
	"img-src 'self' blob: data:; media-src 'self' blob:; font-src 'self' data:; worker-src 'self' blob:; connect-src 'self'; " +
	"object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// pageTypes are the media types of what a build of the frontend holds; those
// of the operating system may be missing or wrong (the registry of Windows).
var pageTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".mjs": "text/javascript; charset=utf-8",
	".css": "text/css; charset=utf-8", ".json": "application/json", ".map": "application/json", ".svg": "image/svg+xml",
	".png": "image/png", ".ico": "image/x-icon", ".webp": "image/webp", ".woff2": "font/woff2", ".woff": "font/woff",
	".ttf": "font/ttf", ".wasm": "application/wasm", ".txt": "text/plain; charset=utf-8", ".webmanifest": "application/manifest+json",
}

// pages serves the built frontend: its files, and index.html for every other
// path, which the page routes by itself. Files below assets/ carry the hash
// of their content in their name and never change.
type pages struct{ root fs.FS }

func newPages(root fs.FS) http.Handler { return pages{root} }

func (p pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		problem(http.StatusMethodNotAllowed, "method_not_allowed", "Pages can only be read.").write(w)
		return
	}
	name := strings.TrimPrefix(path.Clean("/"+r.URL.Path), "/")
	content, err := p.read(name)
	asset := strings.HasPrefix(name, "assets/")
	if errors.Is(err, fs.ErrNotExist) && !asset && path.Ext(name) == "" && !strings.HasPrefix(name, native) {
		name = "index.html"
		content, err = p.read(name)
	}
	if err != nil {
		problem(http.StatusNotFound, "not_found", "There is no such page.").write(w)
		return
	}
	h := w.Header()
	h.Set("Content-Type", pageType(name))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", pageCSP)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-cache")
	if asset {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

// native are paths that only the shell around the window answers: a page
// finds out by a 404 that it lives in a browser.
const native = "window/"

// read gives a file of the frontend; a directory counts as not there.
func (p pages) read(name string) ([]byte, error) {
	if p.root == nil || !fs.ValidPath(name) {
		return nil, fs.ErrNotExist
	}
	if info, err := fs.Stat(p.root, name); err != nil || info.IsDir() {
		return nil, fs.ErrNotExist
	}
	return fs.ReadFile(p.root, name)
}

func pageType(name string) string {
	ext := strings.ToLower(path.Ext(name))
	if t, ok := pageTypes[ext]; ok {
		return t
	}
	if t := mime.TypeByExtension(ext); t != "" {
		return t
	}
	return "application/octet-stream"
}
