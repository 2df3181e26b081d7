package api

import (
	"context"
	"net/http"

	"berth/backend/workspace"
)

func (s *Handler) registerFolders() {
	add(s, route{method: http.MethodGet, path: "/folders/complete", id: "complete-folder", tag: "folders",
		summary: "Folders that begin with what was typed",
		about:   "~ is the home directory. Hidden folders come when the last part begins with a dot, or when asked for.",
		access:  open(Operate, noBody)},
		func(_ context.Context, in *struct {
			Prefix string `query:"prefix" maxLength:"4096"`
			Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"24"`
			Hidden bool   `query:"hidden"`
		}) (*body[workspace.Folders], error) {
			return reply(workspace.CompleteFolder(in.Prefix, in.Limit, in.Hidden))
		})
	add(s, route{method: http.MethodPost, path: "/folders", id: "create-folder", tag: "folders",
		summary: "Make a folder", access: toOperate, status: http.StatusCreated},
		func(_ context.Context, in *struct {
			Body struct {
				Path string `json:"path" minLength:"1" maxLength:"4096" doc:"Absolute; its parent exists. ~ is the home directory."`
			} `nameHint:"NewFolder"`
		}) (*body[workspace.Folder], error) {
			return reply(workspace.CreateFolder(in.Body.Path))
		})
	add(s, route{method: http.MethodGet, path: "/chats/{id}/files", id: "find-files", tag: "folders",
		summary: "Files of the chat's folder that match", access: toRead},
		func(ctx context.Context, in *struct {
			ByID
			Query string `query:"query" maxLength:"500"`
			Limit int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
		}) (*body[workspace.Found], error) {
			c, err := s.features.Chats.Get(ctx, in.ID)
			if err != nil {
				return nil, err
			}
			return reply(s.features.Finder.Find(ctx, c.Cwd, in.Query, in.Limit))
		})
}
