// Package app is Berth's native window: one web view that shows the page,
// the menu, the dialogs, the notifications and the way a second start brings
// the first window back. It holds no product logic, and nothing else imports
// the toolkit (Wails), which is compiled only with the build tag desktop.
//
// The page is served in process by Options.Handler; no port is open. What is
// native by nature is asked below /window/ (docs/window.md). From here to the
// page goes a single kind of event, an action id, so nothing is lost when the
// page is not listening yet: what an action is about, the page fetches.
package app

import (
	"log/slog"
	"net/http"

	"berth/backend/api"
	"berth/backend/api/client"
)

// Options of a window.
type Options struct {
	// State is the state directory, where the window's place is kept.
	State string
	// Socket is the path at which further starts find this window.
	Socket  string
	Version string
	// Handler serves pages and API; every request is the owner's.
	Handler http.Handler
	// Backend is the same API, for what the window itself wants to know.
	Backend *client.Client
	// Attached says that another process holds the backend: closing the
	// window then ends nothing.
	Attached bool
	// Link is a deep link to open first.
	Link string
	// Opened is told of the window when it is there, and of nil when it is
	// gone.
	Opened func(api.Window)
	Log    *slog.Logger
}

// Size of a window that was never placed, and the least one the design is
// drawn for, in pixels.
const (
	defaultWidth  = 1440
	defaultHeight = 900
	leastWidth    = 1040
	leastHeight   = 680
)
