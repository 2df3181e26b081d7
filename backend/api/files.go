package api

import (
	"context"
	"io"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"berth/backend/artifact"
)

func (s *Handler) registerFiles() {
	files := s.features.Files
	add(s, route{method: http.MethodPost, path: "/uploads", id: "create-upload", begins: true, tag: "files",
		summary: "Announce a file", access: toOperate, status: http.StatusCreated},
		func(ctx context.Context, in *body[artifact.NewUpload]) (*body[artifact.Upload], error) {
			return reply(files.Create(ctx, in.Body))
		})
	add(s, route{method: http.MethodGet, path: "/uploads/{id}", id: "get-upload", tag: "files",
		summary: "How far an upload has come", access: open(Operate, noBody)},
		func(ctx context.Context, in *ByID) (*body[artifact.Upload], error) {
			return reply(files.Upload(ctx, in.ID))
		})
	add(s, route{method: http.MethodPut, path: "/uploads/{id}", id: "append-upload", tag: "files",
		summary: "Send the next piece of a file",
		about:   "The body is octets, at most 8 MiB, and begins at offset, which must be what was received so far; else 409 conflict: ask again how far the upload has come. The file is whole once its announced size is reached.",
		access:  open(Operate, chunkBody), takes: "application/octet-stream"},
		func(ctx context.Context, in *piece) (*body[artifact.Upload], error) {
			return reply(files.Append(ctx, in.ID, in.Offset, in.octets))
		})
	add(s, route{method: http.MethodGet, path: "/files/{id}", id: "get-file", tag: "files",
		summary: "The bytes of a file",
		about:   "Honours Range. Images that cannot carry script come inline, everything else as an attachment; nothing comes as a document of this origin.",
		access:  toRead, gives: "application/octet-stream"},
		func(ctx context.Context, in *ByID) (*octets, error) {
			f, file, err := files.Open(ctx, in.ID)
			if err != nil {
				return nil, err
			}
			return &octets{Body: func(ctx huma.Context) { serveFile(ctx, f, file) }}, nil
		})
}

// octets is a body that is streamed.
type octets struct {
	Body func(huma.Context)
}

// piece takes the body of an upload as a stream: it is never held in memory.
type piece struct {
	ByID
	Offset int64 `query:"offset" minimum:"0" required:"true" doc:"Where this piece begins, in bytes."`
	octets io.Reader
}

// Resolve is called by Huma before the operation.
func (p *piece) Resolve(ctx huma.Context) []error {
	p.octets = &limitedBody{r: ctx.BodyReader(), left: chunkBody}
	return nil
}
