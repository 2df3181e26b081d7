package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ListenerServer serves a loopback listener to browsers and tools. A caller
// shows the owner token as bearer, or on a WebSocket a ticket. Requests under
// another name of this machine (DNS rebinding), of another origin, or that a
// browser says another site caused, are refused. There is no CORS and no
// cookie.
func (s *Handler) ListenerServer(at net.Addr, token string) *http.Server {
	d := &listenerDoor{s: s, hosts: hostsOf(at), token: sha256.Sum256([]byte(token))}
	return s.server(d)
}

type listenerDoor struct {
	s     *Handler
	hosts []string
	// token is hashed so that comparing takes the same time for any length.
	token [sha256.Size]byte
}

// hostsOf are the names under which a loopback listener may be called.
func hostsOf(at net.Addr) []string {
	tcp, ok := at.(*net.TCPAddr)
	if !ok {
		return nil
	}
	port := strconv.Itoa(tcp.Port)
	own := net.JoinHostPort(tcp.IP.String(), port) // any of 127.0.0.0/8
	return []string{"127.0.0.1:" + port, "localhost:" + port, "[::1]:" + port, own}
}

func (d *listenerDoor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if refused := d.checkOrigin(r); refused != nil {
		hangUp(w, r)
		refused.write(w)
		return
	}
	if !isOperation(r.URL.Path) {
		d.s.serve(w, r)
		return
	}
	p, ok := d.identify(r)
	if !ok {
		hangUp(w, r)
		w.Header().Set("WWW-Authenticate", "Bearer")
		problem(http.StatusUnauthorized, "unauthorized", "A valid token is needed.").write(w)
		return
	}
	p.Browser = fromBrowser(r)
	d.s.serve(w, r.WithContext(withPrincipal(r.Context(), p)))
}

// refusedPatience is how long the rest of a refused request is read, so that
// a client which sends it first gets to read the answer.
const refusedPatience = time.Second

// hangUp has a request that is refused answered without its body, for which
// the server would wait as long as a stranger likes.
func hangUp(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength == 0 {
		return
	}
	w.Header().Set("Connection", "close")
	// A writer without deadlines (of a test) has no connection to hold.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(refusedPatience))
}

func fromBrowser(r *http.Request) bool {
	return r.Header.Get("Sec-Fetch-Site") != "" || r.Header.Get("Origin") != ""
}

// checkOrigin refuses what a page of another origin, or under another name,
// sends. Tools send none of these headers and pass.
func (d *listenerDoor) checkOrigin(r *http.Request) *Problem {
	if !slices.Contains(d.hosts, strings.ToLower(r.Host)) {
		return problem(http.StatusForbidden, "bad_host", "Berth does not answer under this name.")
	}
	if origin := r.Header.Get("Origin"); origin != "" && origin != "http://"+strings.ToLower(r.Host) {
		return problem(http.StatusForbidden, "bad_origin", "Berth does not answer pages of another origin.")
	}
	switch site := r.Header.Get("Sec-Fetch-Site"); {
	case site == "", site == "same-origin":
		return nil
	case !isOperation(r.URL.Path) && (site == "none" || r.Header.Get("Sec-Fetch-Mode") == "navigate"):
		return nil // the user opened the page, or followed a link to it
	}
	return problem(http.StatusForbidden, "bad_origin", "Berth does not answer pages of another origin.")
}

// identify tells who sent the request by its token or ticket.
func (d *listenerDoor) identify(r *http.Request) (Principal, bool) {
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		sum := sha256.Sum256([]byte(token))
		return owner, subtle.ConstantTimeCompare(sum[:], d.token[:]) == 1
	}
	if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		if secret, ok := ticketOf(r.Header); ok {
			return d.s.tickets.take(secret)
		}
	}
	return Principal{}, false
}

// ticketOf finds the ticket among the subprotocols that a page offers.
func ticketOf(h http.Header) (string, bool) {
	for _, line := range h.Values("Sec-WebSocket-Protocol") {
		for name := range strings.SplitSeq(line, ",") {
			if secret, ok := strings.CutPrefix(strings.TrimSpace(name), ticketProtocol); ok {
				return secret, true
			}
		}
	}
	return "", false
}
