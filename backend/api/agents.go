package api

import (
	"context"
	"net/http"

	"berth/backend/provider"
)

type agentList struct {
	Agents []provider.Description `json:"agents"`
}

type modelList struct {
	Models []provider.Model `json:"models" doc:"The first is the agent's own default."`
}

type agentName struct {
	Name string `path:"name" maxLength:"64"`
}

func (s *Handler) registerAgents() {
	add(s, route{method: http.MethodGet, path: "/agents", id: "list-agents", tag: "agents",
		summary: "The agents on this machine", access: toRead},
		func(ctx context.Context, in *struct {
			Refresh bool `query:"refresh" doc:"Look again first."`
			Seen    bool `query:"seen" doc:"What is known at once, without a look; status is unknown for agents not looked at yet."`
		}) (*body[agentList], error) {
			if in.Seen {
				return reply(agentList{s.features.Agents.Seen()}, nil)
			}
			return reply(agentList{s.features.Agents.List(ctx, in.Refresh)}, nil)
		})
	add(s, route{method: http.MethodGet, path: "/agents/{name}", id: "get-agent", tag: "agents",
		summary: "One agent", access: toRead},
		func(ctx context.Context, in *agentName) (*body[provider.Description], error) {
			return reply(s.agent(ctx, in.Name, false))
		})
	add(s, route{method: http.MethodGet, path: "/agents/{name}/models", id: "list-models", tag: "agents",
		summary: "The models of an agent", access: toRead},
		func(ctx context.Context, in *agentName) (*body[modelList], error) {
			d, err := s.agent(ctx, in.Name, false)
			return reply(modelList{d.Models}, err)
		})
	add(s, route{method: http.MethodPost, path: "/agents/{name}/check", id: "check-agent", tag: "agents",
		summary: "Look at an agent again", access: open(Operate, noBody)},
		func(ctx context.Context, in *agentName) (*body[provider.Description], error) {
			return reply(s.agent(ctx, in.Name, true))
		})
}

func (s *Handler) agent(ctx context.Context, name string, refresh bool) (provider.Description, error) {
	d, known := s.features.Agents.Describe(ctx, name, refresh)
	if !known {
		return d, problem(http.StatusNotFound, "unknown_agent", "There is no agent of that name.")
	}
	return d, nil
}
