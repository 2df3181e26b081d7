package api

import (
	"context"
	"net/http"

	"berth/backend/settings"
)

type phraseList struct {
	Phrases []settings.Phrase `json:"phrases"`
}

func (s *Handler) registerSettings() {
	// The agents' environment may hold keys: it is shown only to those who may
	// set it.
	add(s, route{method: http.MethodGet, path: "/settings", id: "get-settings", tag: "settings",
		summary: "All settings", access: open(Admin, noBody)},
		func(context.Context, *struct{}) (*body[settings.Settings], error) {
			return reply(s.features.Settings.Get(), nil)
		})
	add(s, route{method: http.MethodPatch, path: "/settings", id: "update-settings", tag: "settings",
		summary: "Change settings", about: "Absent fields stay as they are; one wrong field changes nothing.",
		access: toAdmin},
		func(ctx context.Context, in *body[settings.Change]) (*body[settings.Settings], error) {
			return reply(s.features.Settings.Update(ctx, in.Body))
		})
	s.registerPhrases()
}

func (s *Handler) registerPhrases() {
	add(s, route{method: http.MethodGet, path: "/phrases", id: "list-phrases", tag: "settings",
		summary: "Saved phrases", access: toRead},
		func(ctx context.Context, _ *struct{}) (*body[phraseList], error) {
			list, err := s.features.Phrases.List(ctx)
			return reply(phraseList{present(list)}, err)
		})
	add(s, route{method: http.MethodPost, path: "/phrases", id: "create-phrase", tag: "settings",
		summary: "Save a phrase", access: open(Operate, phraseBody), status: http.StatusCreated},
		func(ctx context.Context, in *body[settings.NewPhrase]) (*body[settings.Phrase], error) {
			return reply(s.features.Phrases.Create(ctx, in.Body))
		})
	add(s, route{method: http.MethodPatch, path: "/phrases/{id}", id: "update-phrase", tag: "settings",
		summary: "Change a phrase or its place", access: open(Operate, phraseBody)},
		func(ctx context.Context, in *struct {
			ByID
			Body settings.PhraseChange
		}) (*body[settings.Phrase], error) {
			return reply(s.features.Phrases.Update(ctx, in.ID, in.Body))
		})
	add(s, route{method: http.MethodDelete, path: "/phrases/{id}", id: "delete-phrase", tag: "settings",
		summary: "Forget a phrase", access: open(Operate, noBody), status: noContent},
		func(ctx context.Context, in *ByID) (*none, error) {
			return nil, s.features.Phrases.Delete(ctx, in.ID)
		})
}

// phraseBody holds a phrase of 16 Ki characters of up to six bytes each.
const phraseBody = 128 << 10
