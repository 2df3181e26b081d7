package api

import (
	"context"
	"net/http"

	"berth/backend/chat"
)

type turnList struct {
	Turns []chat.Turn `json:"turns" doc:"In the order in which they run."`
}

func (s *Handler) registerTurns() {
	chats := s.features.Chats
	add(s, route{method: http.MethodPost, path: "/chats/{id}/turns", id: "send-turn", begins: true, tag: "turns",
		summary: "Send a message",
		about:   "Answered once the turn is on disk. The same client_id again gives the same turn; with another body it is refused (409 client_id_reused).",
		access:  open(Operate, textBody), status: http.StatusAccepted},
		func(ctx context.Context, in *struct {
			ByID
			Body chat.NewTurn
		}) (*body[chat.Accepted], error) {
			return reply(chats.Send(ctx, in.ID, in.Body))
		})
	add(s, route{method: http.MethodPost, path: "/chats/{id}/stop", id: "stop-chat", tag: "turns",
		summary: "Stop the running turn and hold the queue", access: open(Operate, noBody)},
		func(ctx context.Context, in *ByID) (*body[chat.StopResult], error) {
			return reply(chats.Stop(ctx, in.ID))
		})
	add(s, route{method: http.MethodGet, path: "/chats/{id}/queue", id: "list-queue", tag: "turns",
		summary: "The turns that wait", access: toRead},
		func(ctx context.Context, in *ByID) (*body[turnList], error) {
			list, err := chats.Queue(ctx, in.ID)
			return reply(turnList{present(list)}, err)
		})
	add(s, route{method: http.MethodDelete, path: "/queue/{row}", id: "remove-queued", tag: "turns",
		summary: "Take a turn out of the queue", access: open(Operate, noBody), status: noContent},
		func(ctx context.Context, in *struct {
			Row string `path:"row" maxLength:"64" doc:"Id of the turn."`
		}) (*none, error) {
			return nil, chats.Remove(ctx, in.Row)
		})
	add(s, route{method: http.MethodPost, path: "/chats/{id}/queue/release", id: "release-queue", tag: "turns",
		summary: "Let held turns go on", access: toOperate, status: noContent},
		func(ctx context.Context, in *struct {
			ByID
			Body struct {
				Turn string `json:"turn,omitempty" maxLength:"64" doc:"Only this one; without it, all."`
			} `nameHint:"Release"`
		}) (*none, error) {
			return nil, chats.Release(ctx, in.ID, in.Body.Turn)
		})
}
