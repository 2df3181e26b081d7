package acp

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"

	"berth/backend/event"
	"berth/backend/provider"
)

// message is the answer or thought that streams. The protocol gives chunks,
// and an id only from some agents: chunks of one kind and id that follow each
// other without anything between are one message.
type message struct {
	key  string
	kind event.Kind
	id   string
}

// key makes a key for an item the agent has no id for.
func (s *session) key(t *turn) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.messages++
	return fmt.Sprintf("%s-t%d-%d", s.id, t.number, t.messages)
}

// modeNote is how gemini-cli 0.61.0 tells that its approval mode changed: as
// a chunk of an answer.
var modeNote = regexp.MustCompile(`^\[MODE_UPDATE\] (\S{1,64})$`)

// chunk takes a piece of an answer or thought.
func (s *session) chunk(kind event.Kind, u update) {
	var in struct {
		Content   json.RawMessage `json:"content"`
		MessageID string          `json:"messageId"`
	}
	if json.Unmarshal(u.Raw, &in) != nil {
		s.unknown(u)
		return
	}
	b := decodeBlock(in.Content)
	if note := modeNote.FindStringSubmatch(b.Text); note != nil && kind == event.Answer {
		s.modeChanged(note[1])
		return
	}
	t := s.accept()
	if t == nil {
		return
	}
	switch b.Kind {
	case "text", "resource", "resource_link":
		if text := b.plain(); text != "" {
			s.emit(provider.Event{Text: &provider.Text{Key: s.messageKey(t, kind, in.MessageID), Kind: kind, Text: text}})
			s.endStraggler(t)
			return
		}
		s.emit(provider.Event{Active: true})
	case "image":
		s.picture(t, b)
	default:
		s.notice(t, "unknown_content", "info", s.entry.Title+" said something Berth cannot show: "+b.plain(), b.Raw)
	}
}

// endStraggler completes at once what was said after its turn had ended:
// nothing would end it later.
func (s *session) endStraggler(t *turn) {
	s.mu.Lock()
	late := t != s.turn
	s.mu.Unlock()
	if late {
		s.endMessage(t)
	}
}

// messageKey gives the item that a chunk belongs to.
func (s *session) messageKey(t *turn, kind event.Kind, id string) string {
	if t.message.key != "" && t.message.kind == kind && t.message.id == id {
		return t.message.key
	}
	s.endMessage(t)
	t.message = message{key: s.key(t), kind: kind, id: id}
	return t.message.key
}

// endMessage completes the message that streams, if any.
func (s *session) endMessage(t *turn) {
	m := t.message
	if m.key == "" {
		return
	}
	t.message = message{}
	s.emit(provider.Event{Item: &provider.Item{Key: m.key, Kind: m.kind, Status: event.Completed, ProviderID: m.id}})
}

// picture shows an image of the answer as an artifact.
func (s *session) picture(t *turn, b block) {
	image, ok := b.image()
	if !ok {
		s.notice(t, "unknown_content", "warning", s.entry.Title+" sent an image that cannot be read.", nil)
		return
	}
	s.endMessage(t)
	s.emit(provider.Event{Item: &provider.Item{
		Key: s.key(t), Kind: event.Artifact, Status: event.Completed, Summary: image.Name, Images: []provider.Image{image},
	}})
}

// image decodes a block's picture.
func (b block) image() (provider.Image, bool) {
	data, err := base64.StdEncoding.DecodeString(b.Data)
	if err != nil || len(data) == 0 {
		return provider.Image{}, false
	}
	return provider.Image{Name: firstNonEmpty(baseName(b.URI), "image"+extension(b.MimeType)), Type: b.MimeType, Data: data}, true
}

func (s *session) plan(u update) {
	t := s.accept()
	if t == nil {
		return
	}
	var in struct {
		Entries []struct {
			Content  string `json:"content"`
			Status   string `json:"status"`
			Priority string `json:"priority"`
		} `json:"entries"`
	}
	if json.Unmarshal(u.Raw, &in) != nil {
		s.unknown(u)
		return
	}
	entries := make([]event.PlanEntry, 0, min(len(in.Entries), maxPlan))
	status := event.Completed
	for _, e := range in.Entries[:min(len(in.Entries), maxPlan)] {
		entries = append(entries, event.PlanEntry{Text: e.Content, Status: toolStatus(e.Status, event.Pending), Priority: e.Priority})
		if e.Status != string(event.Completed) {
			status = event.InProgress
		}
	}
	s.endMessage(t)
	s.emit(provider.Event{Item: &provider.Item{
		Key: fmt.Sprintf("%s-t%d-plan", s.id, t.number), Kind: event.Plan, Status: status, Body: event.Body{Plan: entries},
	}})
}

// maxPlan bounds the entries of a plan.
const maxPlan = 500
