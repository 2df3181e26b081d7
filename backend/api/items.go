package api

import (
	"context"
	"net/http"

	"berth/backend/chat"
	"berth/backend/event"
)

type requestList struct {
	Requests []event.Item `json:"requests" doc:"The items of kind approval and question, oldest first."`
}

func (s *Handler) registerItems() {
	chats := s.features.Chats
	add(s, route{method: http.MethodGet, path: "/chats/{id}/items", id: "list-items", tag: "items",
		summary: "A page of the timeline",
		about:   "Oldest first. Without before and after: the newest. Both name a seq, exclusive.",
		access:  toRead},
		func(ctx context.Context, in *struct {
			ByID
			Before int64 `query:"before" minimum:"1"`
			After  int64 `query:"after" minimum:"0"`
			Limit  int   `query:"limit" minimum:"1" maximum:"200" default:"50"`
		}) (*body[chat.Page], error) {
			if in.Before > 0 && in.After > 0 {
				p := problem(http.StatusUnprocessableEntity, "invalid", "A page lies either before or after a seq.")
				p.Errors = []FieldError{{Location: "query.after", Message: "not together with before"}}
				return nil, p
			}
			page, err := chats.Items(ctx, in.ID, in.Before, in.After, in.Limit)
			page.Items = present(page.Items)
			return reply(page, err)
		})
	add(s, route{method: http.MethodGet, path: "/items/{id}", id: "get-item", tag: "items",
		summary: "One item, whole", access: toRead},
		func(ctx context.Context, in *ByID) (*body[event.Item], error) {
			return reply(chats.Item(ctx, in.ID))
		})
	add(s, route{method: http.MethodGet, path: "/chats/{id}/requests", id: "list-requests", tag: "items",
		summary: "What the agent asks", access: toRead},
		func(ctx context.Context, in *struct {
			ByID
			All bool `query:"all" doc:"Also those that no longer wait."`
		}) (*body[requestList], error) {
			list, err := chats.Requests(ctx, in.ID, !in.All)
			return reply(requestList{present(list)}, err)
		})
	add(s, route{method: http.MethodPost, path: "/requests/{id}/answer", id: "answer-request", tag: "items",
		summary: "Answer an approval or question",
		about:   "A second answer is 409 already_answered and names the first as winner.",
		access:  toOperate},
		func(ctx context.Context, in *struct {
			ByID
			Body chat.GivenAnswer
		}) (*body[event.RequestAnswer], error) {
			p, _ := principalOf(ctx)
			return reply(chats.Answer(ctx, in.ID, in.Body, p.Name))
		})
}
