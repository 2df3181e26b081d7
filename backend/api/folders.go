package api

import (
	"context"
	"encoding/base64"
	"net/http"

	"berth/backend/refusal"
	"berth/backend/workspace"
)

func (s *Handler) registerFolders() {
	add(s, route{method: http.MethodGet, path: "/folders/complete", id: "complete-folder", tag: "folders",
		summary: "Folders that begin with what was typed",
		about:   "~ is the home directory. Hidden folders come when the last part begins with a dot, or when asked for.",
		access:  open(Operate, noBody)},
		func(_ context.Context, in *struct {
			Prefix    string `query:"prefix" maxLength:"4096"`
			PrefixRaw string `query:"prefix_raw" maxLength:"8192" doc:"Goes before prefix: the bytes of a path that is not UTF-8, base64."`
			Limit     int    `query:"limit" minimum:"1" maximum:"100" default:"24"`
			Hidden    bool   `query:"hidden"`
		}) (*body[workspace.Folders], error) {
			raw, err := base64.StdEncoding.DecodeString(in.PrefixRaw)
			if err != nil {
				return nil, coded(refusalStatuses, refusal.Invalid, "query.prefix_raw", "must be base64")
			}
			return reply(workspace.CompleteFolder(either(in.Prefix, raw), in.Limit, in.Hidden))
		})
	add(s, route{method: http.MethodPost, path: "/folders", id: "create-folder", tag: "folders",
		summary: "Make a folder", access: toOperate, status: http.StatusCreated},
		func(_ context.Context, in *struct {
			Body struct {
				Path    string `json:"path" minLength:"1" maxLength:"4096" doc:"Absolute; its parent exists. ~ is the home directory."`
				PathRaw []byte `json:"path_raw,omitempty" doc:"Goes before path: the bytes of a path that is not UTF-8, base64."`
			} `nameHint:"NewFolder"`
		}) (*body[workspace.Folder], error) {
			return reply(workspace.CreateFolder(either(in.Body.Path, in.Body.PathRaw)))
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

// either gives a path by its bytes, if they are given, else by its text.
func either(path string, raw []byte) string {
	if len(raw) > 0 {
		return string(raw)
	}
	return path
}
