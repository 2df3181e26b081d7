package api

import (
	"crypto/rand"
	"encoding/base64"
	"sync"
	"time"
)

// Bounds of tickets.
const (
	ticketLife = 30 * time.Second
	maxTickets = 256 // unused ones; a page needs one or two
)

// tickets lets a page open a WebSocket, to which it can add no header: it
// asks for a ticket with its token and sends that as a subprotocol, once.
type tickets struct {
	now func() time.Time

	mu   sync.Mutex
	open map[string]ticket
}

type ticket struct {
	of      Principal
	expires time.Time
}

func newTickets() *tickets {
	return &tickets{now: time.Now, open: map[string]ticket{}}
}

// issue makes a ticket that speaks for p.
func (t *tickets) issue(p Principal) (string, time.Time, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	for secret, old := range t.open {
		if !old.expires.After(now) {
			delete(t.open, secret)
		}
	}
	if len(t.open) >= maxTickets {
		return "", time.Time{}, problem(429, "too_many_tickets", "Too many tickets are waiting to be used; try again in half a minute.")
	}
	secret := randomSecret()
	t.open[secret] = ticket{of: p, expires: now.Add(ticketLife)}
	return secret, now.Add(ticketLife), nil
}

// take uses a ticket up.
func (t *tickets) take(secret string) (Principal, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	got, ok := t.open[secret]
	delete(t.open, secret)
	if !ok || !got.expires.After(t.now()) {
		return Principal{}, false
	}
	return got.of, true
}

// randomSecret is 32 random bytes in a form that fits headers and
// subprotocols.
func randomSecret() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	return base64.RawURLEncoding.EncodeToString(b[:])
}
