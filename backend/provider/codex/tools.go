package codex

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"berth/backend/event"
	"berth/backend/provider"
)

// tool tells of a tool call as its item stands.
func (s *session) tool(e *entry, status event.Status) {
	it := &e.item
	t := &event.Tool{Name: it.Type, Kind: event.ToolOther, StartedAt: at(it.StartedAt), EndedAt: at(it.EndedAt)}
	var images []provider.Image
	switch it.Type {
	case "commandExecution":
		commandTool(t, it)
	case "fileChange":
		s.editTool(t, it.Changes)
	case "mcpToolCall":
		images = mcpTool(t, it)
	case "dynamicToolCall":
		images = dynamicTool(t, it)
	case "webSearch":
		searchTool(t, it)
	case "imageView":
		t.Kind, t.Name, t.Title = event.ToolRead, "view_image", s.relative(it.Path)
		t.Locations = []event.Location{{Path: s.relative(it.Path)}}
		images = []provider.Image{{Name: filepath.Base(it.Path), Path: it.Path}}
	case "imageGeneration":
		images = imageTool(t, it, status)
	case "sleep":
		t.Kind, t.Title = event.ToolThink, "Waits"
		if it.Duration != nil {
			t.Title = fmt.Sprintf("Waits %.1f s", float64(*it.Duration)/1000)
		}
	case "functionCallOutput":
		t.Name, t.Title, t.Output = it.Name, it.Name, clip(string(it.Output), maxOutput)
	default:
		t.Title = it.Type // a kind that came after this was written
	}
	if it.Status == "declined" {
		t.Error = "Not allowed."
	}
	if status == event.InProgress {
		t.EndedAt = nil
	}
	e.tool = t
	e.images = images
	s.emitTool(e, status)
}

// emitTool tells of a tool call.
func (s *session) emitTool(e *entry, status event.Status) {
	e.told = true
	s.dog.Working(e.key, status == event.InProgress && !e.tool.Background)
	tool := *e.tool
	s.emit(provider.Event{Item: &provider.Item{
		Key: e.key, Parent: s.parentOf(e.thread), Kind: event.ToolCall, Status: status, ProviderID: e.item.ID,
		Body: event.Body{Tool: &tool}, Images: e.images,
	}})
}

// toolText takes a piece of a tool's live output. The whole comes with its
// end.
func (s *session) toolText(n note) {
	e := s.entries[rawKey(n.TurnID, n.ItemID)]
	if e == nil || e.ended || e.tool == nil || n.Delta == "" {
		return
	}
	s.emit(provider.Event{Text: &provider.Text{Key: e.key, Parent: s.parentOf(e.thread), Kind: event.ToolCall, Text: n.Delta}})
}

func commandTool(t *event.Tool, it *item) {
	t.Kind, t.Name, t.Title = event.ToolExecute, "shell", clip(unwrap(it.Command), maxInput)
	t.Input = mustJSON(map[string]string{"command": clip(it.Command, maxInput), "cwd": clip(it.Cwd, maxText)})
	t.Output = clip(it.Aggregated, maxOutput)
	t.ExitCode = it.Exit
	if it.Exit != nil && *it.Exit < 0 {
		t.ExitCode = nil // it did not exit by itself
	}
	for _, a := range it.Actions {
		if a.Type == "read" && a.Path != "" && len(t.Locations) < maxLocations {
			t.Locations = append(t.Locations, event.Location{Path: clip(a.Path, maxText)})
		}
	}
}

// maxLocations bounds the places named of one tool call.
const maxLocations = 100

func mcpTool(t *event.Tool, it *item) []provider.Image {
	t.Name = clip(it.Server+"/"+it.Tool, maxText)
	t.Title = clip(it.Tool, maxText)
	t.Input = bounded(it.Arguments, maxInput)
	if it.Problem != nil {
		t.Error = clip(it.Problem.Message, maxText)
	}
	var result struct {
		Content []struct {
			Type     string `json:"type"`
			Text     string `json:"text"`
			Data     string `json:"data"`
			MimeType string `json:"mimeType"`
		} `json:"content"`
		Structured json.RawMessage `json:"structuredContent"`
	}
	_ = json.Unmarshal(it.Result, &result) // absent until the end
	var text []string
	var images []provider.Image
	for _, c := range result.Content {
		switch c.Type {
		case "text":
			text = append(text, c.Text)
		case "image":
			images = appendImage(images, c.MimeType, c.Data)
		}
	}
	if len(text) == 0 && len(result.Structured) > 0 && string(result.Structured) != "null" {
		text = []string{string(result.Structured)}
	}
	t.Output = clip(strings.Join(text, "\n"), maxOutput)
	return images
}

func dynamicTool(t *event.Tool, it *item) []provider.Image {
	t.Name = clip(it.Tool, maxText)
	if it.Namespace != "" {
		t.Name = clip(it.Namespace+"/"+it.Tool, maxText)
	}
	t.Title, t.Input = t.Name, bounded(it.Arguments, maxInput)
	var text []string
	var images []provider.Image
	for _, p := range it.Parts {
		switch p.Type {
		case "inputText":
			text = append(text, p.Text)
		case "inputImage":
			if kind, data, ok := dataURL(p.Image); ok {
				images = appendImage(images, kind, data)
			}
		}
	}
	t.Output = clip(strings.Join(text, "\n"), maxOutput)
	return images
}

func searchTool(t *event.Tool, it *item) {
	t.Kind, t.Name, t.Title = event.ToolFetch, "web_search", clip(it.Query, maxText)
	t.Output = clip(string(bounded(it.Results, maxOutput)), maxOutput)
	if it.Action == nil {
		return
	}
	switch it.Action.Type {
	case "search":
		t.Kind = event.ToolSearch
		if len(it.Action.Queries) > 0 {
			t.Title = clip(strings.Join(it.Action.Queries, ", "), maxText)
		}
	case "openPage":
		t.Name, t.Title = "open_page", clip(it.Action.URL, maxText)
	case "findInPage":
		t.Name, t.Title = "find_in_page", clip(fmt.Sprintf("%s in %s", it.Action.Pattern, it.Action.URL), maxText)
	}
}

func imageTool(t *event.Tool, it *item, status event.Status) []provider.Image {
	t.Name, t.Title = "image_generation", clip(cmp.Or(firstLine(it.Revised), "Makes an image"), maxText)
	if string(it.Failure) != "null" {
		t.Error = clip(string(it.Failure), maxText)
	}
	if status == event.InProgress {
		return nil
	}
	if it.Saved != "" {
		return []provider.Image{{Name: filepath.Base(it.Saved), Path: it.Saved}}
	}
	var data string
	_ = json.Unmarshal(it.Result, &data) // another kind of result is none
	return appendImage(nil, "image/png", data)
}

// appendImage adds a picture that came as base64, within bounds.
func appendImage(list []provider.Image, kind, data string) []provider.Image {
	if data == "" || base64.StdEncoding.DecodedLen(len(data)) > maxImage {
		return list
	}
	b, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return list
	}
	return append(list, provider.Image{Name: "image", Type: kind, Data: b})
}

// dataURL takes a base64 data URL apart.
func dataURL(url string) (kind, data string, ok bool) {
	rest, ok := strings.CutPrefix(url, "data:")
	if !ok {
		return "", "", false
	}
	head, data, ok := strings.Cut(rest, ",")
	kind, encoded := strings.CutSuffix(head, ";base64")
	return kind, data, ok && encoded
}

// mustJSON encodes what always can be.
func mustJSON(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return data
}
