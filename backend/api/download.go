package api

import (
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"berth/backend/event"
	"berth/backend/refusal"
)

// inlineImages are images without a way to carry script. SVG is not one.
var inlineImages = map[string]bool{
	"image/png": true, "image/jpeg": true, "image/gif": true,
	"image/webp": true, "image/avif": true, "image/bmp": true,
}

// fileCSP confines a file that a browser opens as a document after all.
const fileCSP = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src 'self'"

// serveFile sends a file's bytes. Whatever made them is not trusted: only
// types that cannot act keep their name, and only images are shown inline.
func serveFile(hc huma.Context, f *os.File, file event.File) {
	defer f.Close()
	r, w := humago.Unwrap(hc)
	h := w.Header()
	served, inline := servedType(file.Type)
	h.Set("Content-Type", served)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", fileCSP)
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "private, no-cache")
	h.Set("ETag", `"`+file.ID+`"`) // a file never changes once it is whole
	disposition := "attachment"
	if inline {
		disposition = "inline"
	}
	h.Set("Content-Disposition", mime.FormatMediaType(disposition, map[string]string{"filename": file.Name}))
	http.ServeContent(&plainRefusals{ResponseWriter: w}, r, "", time.Time{}, f)
}

// servedType is the media type under which a file of that type is sent.
func servedType(declared string) (served string, inline bool) {
	kind, _, err := mime.ParseMediaType(declared)
	switch {
	case err != nil:
		return "application/octet-stream", false
	case inlineImages[kind]:
		return kind, true
	case strings.HasPrefix(kind, "audio/"), strings.HasPrefix(kind, "video/"), kind == "application/pdf":
		return kind, false
	case strings.HasPrefix(kind, "text/"), kind == "application/json":
		return "text/plain; charset=utf-8", false
	}
	return "application/octet-stream", false
}

// plainRefusals turns the one failure that http.ServeContent tells in plain
// text, a range that the file does not have, into a problem.
type plainRefusals struct {
	http.ResponseWriter
	refused bool
}

func (w *plainRefusals) WriteHeader(status int) {
	if status == http.StatusRequestedRangeNotSatisfiable {
		w.refused = true
		w.Header().Del("Content-Length")
		problem(status, "bad_range", "The file has no such range.").write(w.ResponseWriter)
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *plainRefusals) Write(p []byte) (int, error) {
	if w.refused {
		return len(p), nil
	}
	return w.ResponseWriter.Write(p)
}

// errBodyTooLarge ends a body that passes its limit.
var errBodyTooLarge = refusal.New(refusal.TooLarge, "", "The body is too large.")

// limitedBody reads at most left bytes and fails if there are more.
type limitedBody struct {
	r    io.Reader
	left int64
}

func (b *limitedBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, errBodyTooLarge
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.r.Read(p)
	b.left -= int64(n)
	if b.left < 0 {
		return n + int(b.left), errBodyTooLarge
	}
	return n, err
}
