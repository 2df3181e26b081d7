package artifact

import (
	"image"
	_ "image/gif" // the formats whose size is told
	_ "image/jpeg"
	_ "image/png"
	"io"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"berth/backend/event"
)

// maxName is the longest file name that every file system takes, in bytes.
const maxName = 255

// cleanName makes a name that is one plain file name: without folders, and
// without characters that do not show or that turn the direction of text. The
// two joiners stay: they shape letters and emoji.
func cleanName(name string) string {
	name = strings.ToValidUTF8(name, "\uFFFD")
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && r != '\u200c' && r != '\u200d' {
			return -1
		}
		return r
	}, name)
	name = strings.TrimSpace(name)
	for len(name) > maxName {
		ext := filepath.Ext(name)
		if len(ext) > 16 {
			ext = ""
		}
		stem := name[:maxName-len(ext)]
		for !utf8.ValidString(stem) {
			stem = stem[:len(stem)-1]
		}
		name = stem + ext
	}
	if name == "" || name == "." || name == ".." {
		return "file"
	}
	return name
}

// imageTypes by extension: the system's own table may lack or change them.
var imageTypes = map[string]string{
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif",
	".webp": "image/webp", ".avif": "image/avif", ".svg": "image/svg+xml",
	".md": "text/markdown", ".txt": "text/plain", ".json": "application/json", ".pdf": "application/pdf",
}

// mediaType is the type that was declared, if it is one, else that of the
// name, else that of the first bytes.
func mediaType(declared, name string, beginning []byte) string {
	if kind, _, err := mime.ParseMediaType(declared); err == nil && strings.Contains(kind, "/") {
		return kind
	}
	ext := strings.ToLower(filepath.Ext(name))
	if kind, ok := imageTypes[ext]; ok {
		return kind
	}
	kind, _, err := mime.ParseMediaType(mime.TypeByExtension(ext))
	if err != nil && len(beginning) > 0 {
		kind, _, err = mime.ParseMediaType(http.DetectContentType(beginning))
	}
	if err != nil {
		return "application/octet-stream"
	}
	return kind
}

// beginning gives the first bytes of a file, from which its type is told.
func (f *Files) beginning(id string) []byte {
	r, err := os.Open(f.path(id))
	if err != nil {
		return nil
	}
	defer r.Close()
	first := make([]byte, 512) // all that http.DetectContentType looks at
	n, _ := io.ReadFull(r, first)
	return first[:n]
}

// dimensions of an image in pixels; 0 where they are not told by its header.
func (f *Files) dimensions(file event.File) (width, height int) {
	if !strings.HasPrefix(file.Type, "image/") {
		return 0, 0
	}
	r, err := os.Open(f.path(file.ID))
	if err != nil {
		return 0, 0
	}
	defer r.Close()
	c, _, err := image.DecodeConfig(r)
	if err != nil {
		return 0, 0
	}
	return c.Width, c.Height
}
