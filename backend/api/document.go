package api

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"berth/backend/chat"
	"berth/backend/event"
	"berth/backend/provider"
	"berth/backend/settings"
	"berth/backend/workspace"
)

// schemaNames are those of types whose own name says too little outside
// their package.
var schemaNames = map[reflect.Type]string{
	reflect.TypeFor[provider.Description]():    "Agent",
	reflect.TypeFor[chat.Change]():             "ChatChange",
	reflect.TypeFor[chat.Page]():               "ItemPage",
	reflect.TypeFor[settings.Change]():         "SettingsChange",
	reflect.TypeFor[workspace.File]():          "WorkspaceFile",
	reflect.TypeFor[workspace.Found]():         "FoundFiles",
	reflect.TypeFor[provider.BackgroundTask](): "BackgroundTask",
	reflect.TypeFor[event.File]():              "File",
}

func schemaName(t reflect.Type, hint string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if name, ok := schemaNames[t]; ok {
		return name
	}
	return huma.DefaultSchemaNamer(t, hint)
}

// OpenAPI is the OpenAPI description of the API, indented, the same for
// every build of the same sources. It needs no backend.
func OpenAPI() []byte {
	s := New(Features{})
	defer s.Close()
	return s.document()
}

func (s *Handler) document() []byte {
	raw, err := json.Marshal(s.operations.OpenAPI())
	if err != nil {
		panic("describe the API: " + err.Error())
	}
	var out bytes.Buffer
	if err := json.Indent(&out, raw, "", "  "); err != nil {
		panic("describe the API: " + err.Error())
	}
	out.WriteByte('\n')
	return out.Bytes()
}

func (s *Handler) registerDocument() {
	add(s, route{method: http.MethodGet, path: "/openapi.json", id: "get-openapi", tag: "backend",
		summary: "This description", access: toRead},
		func(context.Context, *struct{}) (*document, error) {
			return &document{Type: "application/openapi+json", Body: s.document()}, nil
		})
}

type document struct {
	Type string `header:"Content-Type"`
	Body []byte `contentType:"application/openapi+json"`
}

// isOperation tells the API's paths from those of pages.
func isOperation(path string) bool { return path == "/api" || strings.HasPrefix(path, "/api/") }
