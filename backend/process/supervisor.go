package process

import (
	"context"
	"log/slog"

	"berth/backend/store"
)

// Supervisor starts, records and ends children. Its methods may be called
// from any goroutine.
type Supervisor struct {
	db  *store.DB
	log *slog.Logger
}

// Start starts a child (see the package comment for the gate).
func (s *Supervisor) Start(ctx context.Context, spec Spec) (Process, error) {
	panic("contract")
}

// LookPath finds an executable by name on the completed PATH; the error says
// where it looked.
func (s *Supervisor) LookPath(name string) (string, error) {
	panic("contract")
}
