package claude

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	"berth/backend/provider"
)

// Limits of the Messages API on pictures in a message: 5 MB each in base64,
// 32 MB for the whole request, and 20 in number before each is made smaller.
// A picture beyond them is named as a file, which the agent reads by itself
// and makes smaller.
const (
	maxPicture       = 3750 << 10 // bytes; base64 makes it 5 MB
	maxPictures      = 20
	maxPicturesTotal = 18 << 20 // bytes; 24 MB in base64
)

// imageType says whether the model can see pictures of that type.
func imageType(t string) bool {
	switch t {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	}
	return false
}

// outBlock is a content block that we send.
type outBlock struct {
	Type   string     `json:"type"`
	Text   *string    `json:"text,omitempty"`
	Source *outSource `json:"source,omitempty"`
}

type outSource struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      string `json:"data"`
}

func textBlock(s string) outBlock { return outBlock{Type: "text", Text: &s} }

// messageContent makes the content blocks of a message: files by their path
// and the user's name for them in a block of their own, then the user's text,
// unchanged, then pictures. Pictures come last because the CLI adds a line end
// to a text that follows one; but a slash command must be the last block to
// be seen as one.
func messageContent(in provider.Input) ([]outBlock, []string, error) {
	var files, pictures []outBlock
	var paths, named []string
	room := maxPicturesTotal
	for _, a := range in.Attachments {
		paths = append(paths, a.Path)
		picture, err := readPicture(a, min(maxPicture, room))
		if err != nil {
			return nil, nil, err
		}
		if picture == nil || len(pictures) == maxPictures {
			named = append(named, fmt.Sprintf("- %s (%q, %s, %d bytes)", a.Path, a.Name, cmp.Or(a.Type, "unknown type"), a.Size))
			continue
		}
		room -= base64.StdEncoding.DecodedLen(len(picture.Source.Data))
		pictures = append(pictures, *picture)
	}
	if len(named) > 0 {
		files = append(files, textBlock("<attached-files>\nThe user attached these files to the message that follows. Read them where they help.\n"+strings.Join(named, "\n")+"\n</attached-files>"))
	}
	if strings.HasPrefix(in.Text, "/") {
		return append(append(files, pictures...), textBlock(in.Text)), paths, nil
	}
	if in.Text == "" { // the API refuses an empty text
		return append(files, pictures...), paths, nil
	}
	return append(append(files, textBlock(in.Text)), pictures...), paths, nil
}

// readPicture gives a file as a picture block, nil when it is none that the
// model can see, or too large. What the bytes are decides, not the name.
func readPicture(a provider.Attachment, max int) (*outBlock, error) {
	f, err := os.Open(a.Path)
	if err != nil {
		return nil, fmt.Errorf("read the attachment %s: %w", a.Name, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, int64(max)+1))
	if err != nil {
		return nil, fmt.Errorf("read the attachment %s: %w", a.Name, err)
	}
	kind := http.DetectContentType(data)
	if len(data) > max || !imageType(kind) {
		return nil, nil
	}
	return &outBlock{Type: "image", Source: &outSource{Type: "base64", MediaType: kind, Data: base64.StdEncoding.EncodeToString(data)}}, nil
}

// hostOf is the host of a URL, empty where it has none.
func hostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return u.Host
}
