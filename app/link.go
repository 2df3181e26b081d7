package app

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"sync"
)

// LinkScheme is the scheme of deep links.
const LinkScheme = "berth"

// maxLink bounds a deep link, and maxURL a link that is opened outside, in
// bytes.
const (
	maxLink = 2 << 10
	maxURL  = 8 << 10
)

var linkID = regexp.MustCompile(`^[a-z]+_[0-9A-Za-z]{1,60}$`)

// ParseLink reads a deep link: berth://chat/<id>, berth://attention or
// berth://settings. It gives the way within the page ("chat/chat_…"). Links
// come from anywhere on the machine, so anything else is refused.
func ParseLink(link string) (string, error) {
	if len(link) > maxLink {
		return "", fmt.Errorf("the link is longer than %d bytes", maxLink)
	}
	u, err := url.Parse(link)
	if err != nil {
		return "", fmt.Errorf("read the link: %w", err)
	}
	if u.Scheme != LinkScheme {
		return "", fmt.Errorf("the link does not begin with %s://", LinkScheme)
	}
	id := strings.Trim(u.Path, "/")
	switch {
	case u.Host == "chat" && linkID.MatchString(id):
		return "chat/" + id, nil
	case (u.Host == "attention" || u.Host == "settings") && id == "":
		return u.Host, nil
	}
	return "", fmt.Errorf("the link names nothing that can be opened")
}

// openable checks a URL that the page wants to open outside and writes it so
// that the toolkit takes it: it refuses punctuation that shells read, which
// ordinary addresses contain, so that is percent-encoded.
func openable(raw string) (string, error) {
	if len(raw) > maxURL {
		return "", fmt.Errorf("the address is longer than %d bytes", maxURL)
	}
	u, err := url.Parse(raw)
	if err != nil {
		return "", fmt.Errorf("read the address: %w", err)
	}
	switch u.Scheme {
	case "http", "https":
		if u.Host == "" {
			return "", fmt.Errorf("the address names no host")
		}
	case "mailto":
	default:
		return "", fmt.Errorf("only http, https and mailto addresses are opened")
	}
	var b strings.Builder
	for _, c := range []byte(u.String()) {
		if strings.IndexByte("`;|$\\<>*{}()~! \"'^", c) >= 0 || c < 0x21 || c > 0x7e {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String(), nil
}

// pendingLink holds the newest deep link until the page takes it.
type pendingLink struct {
	mu   sync.Mutex
	link string
}

func (p *pendingLink) put(link string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.link = link
}

func (p *pendingLink) take() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	link := p.link
	p.link = ""
	return link
}

func (p *pendingLink) waits() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.link != ""
}
