package api

import (
	"context"
	"io/fs"
	"log/slog"
	"time"

	"berth/backend/artifact"
	"berth/backend/chat"
	"berth/backend/event"
	"berth/backend/process"
	"berth/backend/provider"
	"berth/backend/settings"
	"berth/backend/terminal"
	"berth/backend/workspace"
)

// Features is what the API is a door onto. All are needed, save those that
// say otherwise.
type Features struct {
	Backend   Backend
	Chats     chat.Chats
	Hub       *event.Hub
	Agents    Agents
	Files     *artifact.Files
	Settings  *settings.Store
	Phrases   *settings.Phrases
	Finder    Finder
	Terminals *terminal.Terminals
	Processes Processes
	Demo      Demo
	// Pages is the built frontend, index.html at its root. Without it no
	// pages are served.
	Pages fs.FS
	Log   *slog.Logger
}

// Backend tells how the whole is doing.
type Backend interface {
	Health() Health
}

// Agents is the catalogue of agents on this machine (see provider.Catalog).
// The lists in a description are present, if empty.
type Agents interface {
	// List gives what is known; refresh looks again first.
	List(ctx context.Context, refresh bool) []provider.Description
	// Seen gives what is known at once; Status Unknown is for those not
	// looked at yet.
	Seen() []provider.Description
	// Describe looks at one agent; known false means there is none of that
	// name. refresh looks again although it was looked at.
	Describe(ctx context.Context, name string, refresh bool) (d provider.Description, known bool)
}

// Finder looks for files in a folder (see workspace.Finder).
type Finder interface {
	Find(ctx context.Context, dir, query string, limit int) (workspace.Found, error)
}

// Demo sets up what a new user tries first.
type Demo interface {
	// Start makes the sample folder, if it is not there, and a chat with the
	// demo agent in it.
	Start(ctx context.Context) (chat.Chat, error)
}

// Processes is the registry of Berth's children (see process.Supervisor).
type Processes interface {
	List() []process.Live
}

// Window is the native window, when this backend has one.
type Window interface {
	// Focus brings it forward and, if link is not empty, opens that
	// berth:// link.
	Focus(link string)
}

// Health is the state of the whole backend.
type Health struct {
	Version   string    `json:"version"`
	Epoch     string    `json:"epoch" doc:"Of the event log; changes when a backup is restored."`
	Admission Admission `json:"admission"`
	OS        string    `json:"os" enum:"linux,darwin,windows"`
	Arch      string    `json:"arch"`
	Home      string    `json:"home" doc:"The user's home directory."`
	State     string    `json:"state" doc:"The state directory."`
	Window    bool      `json:"window" doc:"Whether this backend has a native window."`
	Root      bool      `json:"root" doc:"Whether this backend runs as root. Agents with full access then need a chat's root_bypass."`
	Pid       int       `json:"pid"`
	StartedAt time.Time `json:"started_at"`
}

// Admission says whether new work is accepted.
type Admission struct {
	State  string `json:"state" enum:"open,closed"`
	Reason string `json:"reason,omitempty" enum:"damaged,disk_full,closing" doc:"Why it is closed."`
	Detail string `json:"detail,omitempty" doc:"What to do, for the user."`
}
