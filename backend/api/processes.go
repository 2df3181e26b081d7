package api

import (
	"context"
	"net/http"
	"time"
)

// Process is one running child of Berth.
type Process struct {
	ID          string    `json:"id"`
	Pid         int       `json:"pid"`
	Label       string    `json:"label" doc:"For people: claude, git."`
	Executable  string    `json:"executable"`
	Chat        string    `json:"chat,omitempty" doc:"Chat it works for."`
	Execution   string    `json:"execution,omitempty"`
	StartedAt   time.Time `json:"started_at"`
	MemoryBytes int64     `json:"memory_bytes,omitempty" doc:"Resident, of the process itself; absent when unknown."`
}

type processList struct {
	Processes []Process `json:"processes" doc:"Oldest first."`
}

func (s *Handler) registerProcesses() {
	add(s, route{method: http.MethodGet, path: "/processes", id: "list-processes", tag: "backend",
		summary: "The running children of Berth", access: toRead},
		func(context.Context, *struct{}) (*body[processList], error) {
			list := []Process{}
			for _, p := range s.features.Processes.List() {
				list = append(list, Process{ID: p.ID, Pid: p.Pid, Label: p.Label, Executable: p.Executable,
					Chat: p.Chat, Execution: p.Execution, StartedAt: p.StartedAt.UTC().Truncate(time.Millisecond), MemoryBytes: p.Memory})
			}
			return reply(processList{list}, nil)
		})
}
