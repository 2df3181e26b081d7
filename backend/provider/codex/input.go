package codex

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"berth/backend/event"
	"berth/backend/provider"
)

// maxSkills bounds what is taken of the skills that Codex lists.
const maxSkills = 500

// skill is one of Codex's skills.
type skill struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Short       string `json:"shortDescription"`
	Path        string `json:"path"`
	Enabled     bool   `json:"enabled"`
	Interface   struct {
		Short string `json:"shortDescription"`
	} `json:"interface"`
}

// pictures are the media types that Codex takes as images.
var pictures = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// input makes the items of a message: the user's own words unchanged as one
// of them, the skill they name, and a further item for each file.
func (s *session) input(ctx context.Context, in provider.Input) ([]any, error) {
	var items []any
	if in.Text != "" {
		items = append(items, textItem(in.Text))
	}
	if skill, ok := s.named(ctx, in.Text); ok {
		items = append(items, map[string]any{"type": "skill", "name": skill.Name, "path": skill.Path})
	}
	for _, a := range in.Attachments {
		if _, err := os.Stat(a.Path); err != nil {
			return nil, &provider.Error{Code: "attachment", Text: "The file " + a.Name + " cannot be read.", Detail: err.Error(), Err: err}
		}
		if slices.Contains(pictures, a.Type) && a.Size <= maxImage {
			items = append(items, map[string]any{"type": "localImage", "path": a.Path})
			continue
		}
		// A mention alone does not reach the model.
		items = append(items, textItem(fmt.Sprintf("Attached file: %s (%s, %d bytes)\n%s", a.Name, a.Type, a.Size, a.Path)))
	}
	return items, nil
}

func textItem(text string) any {
	return map[string]any{"type": "text", "text": text, "text_elements": []any{}}
}

// named is the skill that a message begins with, as "/name" followed by white
// space or its end.
func (s *session) named(ctx context.Context, text string) (skill, bool) {
	rest, ok := strings.CutPrefix(text, "/")
	if !ok {
		return skill{}, false
	}
	name := rest
	if i := strings.IndexAny(rest, " \t\r\n"); i >= 0 {
		name = rest[:i]
	}
	s.mu.Lock()
	loaded := s.loaded
	s.mu.Unlock()
	if !loaded {
		_ = s.listSkills(ctx) // without the list the text goes as it is
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.skills, func(k skill) bool { return k.Name == name })
	if i < 0 {
		return skill{}, false
	}
	return s.skills[i], true
}

// loadSkills lists the skills and offers them as commands.
func (s *session) loadSkills() {
	if s.listSkills(context.Background()) != nil {
		return
	}
	s.mu.Lock()
	commands := make([]provider.Command, len(s.skills))
	for i, k := range s.skills {
		commands[i] = provider.Command{Name: k.Name, Description: clip(k.summary(), maxText), Kind: "skill"}
	}
	s.mu.Unlock()
	s.post(func() { s.emit(provider.Event{Commands: &commands}) })
}

func (k skill) summary() string {
	for _, text := range []string{k.Interface.Short, k.Short} {
		if text != "" {
			return text
		}
	}
	return k.Description
}

func (s *session) listSkills(ctx context.Context) error {
	var reply struct {
		Data []struct {
			Skills []skill `json:"skills"`
		} `json:"data"`
	}
	if err := s.server.within(ctx, lookLimit, "skills/list", map[string]any{"cwds": []string{s.spec.Cwd}}, &reply); err != nil {
		return err
	}
	var list []skill
	for _, entry := range reply.Data {
		for _, k := range entry.Skills {
			if k.Enabled && k.Name != "" && len(list) < maxSkills {
				list = append(list, k)
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.skills, s.loaded = list, true
	return nil
}

// noticeItem is a row that tells of something.
func noticeItem(key string, status event.Status, code, level, text, detail string) *provider.Item {
	return &provider.Item{
		Key: key, Kind: event.Notice, Status: status,
		Body: event.Body{Text: text, Notice: &event.NoticeFact{Code: code, Level: level, Detail: detail}},
	}
}
