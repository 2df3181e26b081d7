package api

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"berth/backend/instance"
)

// headerPatience is how long a client may take to send its header. Requests
// themselves have no deadline: long polls and uploads take their time.
const headerPatience = 10 * time.Second

var owner = Principal{Realm: Owner, Scope: Admin, Name: "owner"}

// Window is the door of the native window, which calls it in process: the
// caller is the owner by where the request comes from, whatever it says.
func (s *Handler) Window() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.serve(w, r.WithContext(withPrincipal(r.Context(), owner)))
	})
}

// LocalServer serves the local socket. The kernel names the process at the
// other end: another user is refused, and a process that descends from a
// child of Berth, or cannot be told, is an agent and never the owner.
func (s *Handler) LocalServer(descends func(pid int) bool) *http.Server {
	server := s.server(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, known := principalOf(r.Context()); !known {
			problem(http.StatusUnauthorized, "unauthorized", "Only the user of this Berth may connect.").write(w)
			return
		}
		s.serve(w, r)
	}))
	server.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		peer, err := instance.PeerOf(c)
		if err != nil {
			s.log.Warn("the peer of a local connection is not known", "error", err)
			return ctx
		}
		if !peer.SameUser {
			return ctx
		}
		if peer.Pid <= 0 || descends(peer.Pid) {
			return withPrincipal(ctx, Principal{Realm: Agent, Name: "agent"})
		}
		return withPrincipal(ctx, owner)
	}
	return server
}

func (s *Handler) server(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerPatience,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
}

// Listen opens a listener for ListenerServer. Only addresses of this machine
// are taken: reaching Berth from elsewhere is the user's tunnel.
func Listen(address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("listen on %q: %w", address, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("listen on %q: only 127.0.0.1, [::1] and localhost are allowed", address)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %q: %w", address, err)
	}
	return l, nil
}
