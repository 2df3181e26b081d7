package api

import (
	"context"
	"net/http"

	"berth/backend/chat"
	"berth/backend/provider"
)

type chatList struct {
	Chats []chat.Chat `json:"chats"`
}

type attentionList struct {
	Attention []chat.Attention `json:"attention" doc:"Oldest first."`
}

type commandList struct {
	Commands []provider.Command `json:"commands"`
}

func (s *Handler) registerChats() {
	chats := s.features.Chats
	add(s, route{method: http.MethodGet, path: "/chats", id: "list-chats", tag: "chats",
		summary: "All chats", access: toRead},
		func(ctx context.Context, in *struct {
			Archived bool `query:"archived" doc:"The archived ones instead."`
		}) (*body[chatList], error) {
			list, err := chats.List(ctx, in.Archived)
			return reply(chatList{present(list)}, err)
		})
	add(s, route{method: http.MethodPost, path: "/chats", id: "create-chat", begins: true, tag: "chats",
		summary: "Begin a chat", access: open(Operate, textBody), status: http.StatusCreated},
		func(ctx context.Context, in *body[chat.NewChat]) (*body[chat.Chat], error) {
			return reply(chats.Create(ctx, in.Body))
		})
	add(s, route{method: http.MethodGet, path: "/chats/{id}", id: "get-chat", tag: "chats",
		summary: "One chat", access: toRead},
		func(ctx context.Context, in *ByID) (*body[chat.Chat], error) {
			return reply(chats.Get(ctx, in.ID))
		})
	add(s, route{method: http.MethodPatch, path: "/chats/{id}", id: "update-chat", tag: "chats",
		summary: "Change a chat", about: "Absent fields stay as they are.", access: open(Operate, textBody)},
		func(ctx context.Context, in *struct {
			ByID
			Body chat.Change
		}) (*body[chat.Chat], error) {
			return reply(chats.Update(ctx, in.ID, in.Body))
		})
	add(s, route{method: http.MethodDelete, path: "/chats/{id}", id: "delete-chat", tag: "chats",
		summary: "Delete a chat and its timeline", access: open(Operate, noBody), status: noContent},
		func(ctx context.Context, in *ByID) (*none, error) {
			return nil, chats.Delete(ctx, in.ID)
		})
	add(s, route{method: http.MethodPost, path: "/chats/{id}/read", id: "mark-chat-read", tag: "chats",
		summary: "Mark items as seen, or the chat as unread", access: toOperate, status: noContent},
		func(ctx context.Context, in *struct {
			ByID
			Body struct {
				Seq    int64 `json:"seq,omitempty" minimum:"0" doc:"Items up to this one were seen."`
				Unread bool  `json:"unread,omitempty" doc:"Mark the chat unread by hand."`
			} `nameHint:"ReadMark"`
		}) (*none, error) {
			return nil, chats.Read(ctx, in.ID, in.Body.Seq, in.Body.Unread)
		})
	add(s, route{method: http.MethodGet, path: "/chats/{id}/commands", id: "list-commands", tag: "chats",
		summary: "What the agent offers after a slash", access: toRead},
		func(ctx context.Context, in *ByID) (*body[commandList], error) {
			list, err := chats.Commands(ctx, in.ID)
			return reply(commandList{present(list)}, err)
		})
	add(s, route{method: http.MethodGet, path: "/attention", id: "list-attention", tag: "chats",
		summary: "What waits for the human", access: toRead},
		func(ctx context.Context, _ *struct{}) (*body[attentionList], error) {
			list, err := chats.Attention(ctx)
			return reply(attentionList{present(list)}, err)
		})
	add(s, route{method: http.MethodPost, path: "/demo", id: "start-demo", begins: true, tag: "chats",
		summary: "Begin a chat with the demo agent in a sample folder",
		access:  open(Operate, noBody), status: http.StatusCreated},
		func(ctx context.Context, _ *struct{}) (*body[chat.Chat], error) {
			return reply(s.features.Demo.Start(ctx))
		})
	s.registerDrafts()
}

func (s *Handler) registerDrafts() {
	add(s, route{method: http.MethodGet, path: "/chats/{id}/draft", id: "get-draft", tag: "chats",
		summary: "What stands in the composer", access: toRead},
		func(ctx context.Context, in *ByID) (*body[chat.Draft], error) {
			return reply(s.features.Chats.Draft(ctx, in.ID))
		})
	add(s, route{method: http.MethodPut, path: "/chats/{id}/draft", id: "set-draft", tag: "chats",
		summary: "Keep what stands in the composer", access: open(Operate, textBody), status: noContent},
		func(ctx context.Context, in *struct {
			ByID
			Body chat.Draft
		}) (*none, error) {
			return nil, s.features.Chats.SetDraft(ctx, in.ID, in.Body)
		})
}
