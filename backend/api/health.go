package api

import (
	"context"
	"net/http"
	"sync"
)

// window holds the native window, which the shell sets once it is there.
type window struct {
	mu sync.Mutex
	w  Window
}

// SetWindow says which native window POST window/focus brings forward; nil
// says that there is none any more.
func (s *Handler) SetWindow(w Window) {
	s.window.mu.Lock()
	defer s.window.mu.Unlock()
	s.window.w = w
}

func (w *window) get() Window {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.w
}

type focusRequest struct {
	Body struct {
		Link string `json:"link,omitempty" maxLength:"2048" pattern:"^(berth://|$)" doc:"What to open in it."`
	} `nameHint:"WindowFocus"`
}

func (s *Handler) registerHealth() {
	asked := toRead
	asked.realms = []Realm{Owner, Device, Agent}
	add(s, route{method: http.MethodGet, path: "/health", id: "get-health", tag: "backend",
		summary: "How the backend is doing", access: asked},
		func(context.Context, *struct{}) (*body[Health], error) {
			h := s.features.Backend.Health()
			h.Window = s.window.get() != nil
			return reply(h, nil)
		})
	add(s, route{method: http.MethodPost, path: "/window/focus", id: "focus-window", tag: "backend",
		summary: "Bring the native window forward",
		about:   "A second start of the window asks this of the first. 409 `no_window` when this backend has none.",
		access:  ownerOnly, status: noContent},
		func(_ context.Context, in *focusRequest) (*none, error) {
			w := s.window.get()
			if w == nil {
				return nil, problem(http.StatusConflict, "no_window", "This Berth runs without a window.")
			}
			w.Focus(in.Body.Link)
			return nil, nil
		})
}
