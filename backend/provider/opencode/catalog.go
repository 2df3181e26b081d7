package opencode

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"berth/backend/provider"
)

// catalog is what OpenCode offers in a folder.
type catalog struct {
	models   []provider.Model
	windows  map[string]int64 // context window by model
	standard string           // the model of the settings, empty for OpenCode's choice
	commands []provider.Command
	agents   []string
	own      rules // of the agent that works when no other is named
}

// The shapes of GET /config/providers, /config, /command and /agent.
type (
	providerList struct {
		Providers []struct {
			ID     string               `json:"id"`
			Name   string               `json:"name"`
			Models map[string]modelInfo `json:"models"`
		} `json:"providers"`
	}
	modelInfo struct {
		Name  string `json:"name"`
		Limit struct {
			Context int64 `json:"context"`
		} `json:"limit"`
		Status   string                     `json:"status"`
		Variants map[string]json.RawMessage `json:"variants"`
	}
	configInfo struct {
		Model        string `json:"model"`
		DefaultAgent string `json:"default_agent"`
	}
	commandInfo struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Source      string `json:"source"`
	}
	agentInfo struct {
		Name       string `json:"name"`
		Mode       string `json:"mode"`
		Hidden     bool   `json:"hidden"`
		Permission rules  `json:"permission"`
	}
)

// The bounds of what is offered.
const (
	maxModels   = 5000
	maxCommands = 1000
	maxRules    = 2000
)

// catalog asks the server.
func (srv *server) catalog(ctx context.Context, dir string) (catalog, error) {
	var models providerList
	var config configInfo
	var commands []commandInfo
	var agents []agentInfo
	for path, into := range map[string]any{"/config/providers": &models, "/config": &config, "/command": &commands, "/agent": &agents} {
		if err := srv.get(ctx, path, dir, into); err != nil {
			return catalog{}, fmt.Errorf("ask for %s: %w", path, err)
		}
	}
	c := catalog{windows: map[string]int64{}}
	c.takeModels(models, config.Model)
	for _, info := range commands[:min(len(commands), maxCommands)] {
		kind := "command"
		if info.Source == "skill" {
			kind = "skill"
		}
		c.commands = append(c.commands, provider.Command{Name: firstBytes(info.Name, maxDetail), Description: firstBytes(info.Description, maxDetail), Kind: kind})
	}
	first := firstNonEmpty(config.DefaultAgent, "build")
	for _, info := range agents {
		if info.Mode == "primary" && !info.Hidden {
			c.agents = append(c.agents, info.Name)
		}
		if info.Name == first {
			c.own = info.Permission[:min(len(info.Permission), maxRules)]
		}
	}
	return c, saveModels(srv.dir(), c.models)
}

// efforts are the usual names of variants, least first; others follow.
var efforts = []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}

func (c *catalog) takeModels(list providerList, standard string) {
	for _, p := range list.Providers {
		for id, info := range p.Models {
			if len(c.models) == maxModels {
				break
			}
			m := provider.Model{Value: p.ID + "/" + id, Label: firstNonEmpty(info.Name, id), Note: p.Name, Efforts: slices.Collect(maps.Keys(info.Variants))}
			slices.SortFunc(m.Efforts, func(a, b string) int {
				return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a, b))
			})
			c.models = append(c.models, m)
			if info.Limit.Context > 0 {
				c.windows[m.Value] = info.Limit.Context
			}
			if m.Value == standard {
				c.standard = standard
			}
		}
	}
	slices.SortFunc(c.models, func(a, b provider.Model) int {
		return cmp.Or(strings.Compare(a.Note, b.Note), strings.Compare(a.Label, b.Label), strings.Compare(a.Value, b.Value))
	})
}

func rank(effort string) int {
	if i := slices.Index(efforts, effort); i >= 0 {
		return i
	}
	return len(efforts)
}

// check refuses a model or effort that is not offered.
func (c catalog) check(model, effort string) error {
	i := slices.IndexFunc(c.models, func(m provider.Model) bool { return m.Value == firstNonEmpty(model, c.standard) })
	if model != "" && i < 0 {
		return &provider.Error{Code: "unknown_model", Text: fmt.Sprintf("%s does not offer the model %q.", title, model)}
	}
	if effort != "" && (i < 0 || !slices.Contains(c.models[i].Efforts, effort)) {
		return &provider.Error{Code: "unknown_effort", Text: fmt.Sprintf("%s does not offer the effort %q for this model.", title, effort)}
	}
	return nil
}

// command takes a message apart that calls one of OpenCode's commands: it
// begins with a slash and the name.
func (c catalog) command(text string) (name, arguments string, ok bool) {
	rest, slash := strings.CutPrefix(text, "/")
	if !slash {
		return "", "", false
	}
	name, arguments = rest, ""
	if i := strings.IndexAny(rest, " \t\r\n"); i >= 0 {
		name, arguments = rest[:i], rest[i+1:]
	}
	return name, arguments, slices.ContainsFunc(c.commands, func(c provider.Command) bool { return c.Name == name })
}

// maxImage bounds a picture that travels in the message, in bytes.
const maxImage = 20 << 20

// filePart makes a part of a file: a picture by its bytes, anything else by
// its place, which OpenCode reads itself.
func filePart(a provider.Attachment) (map[string]any, error) {
	part := map[string]any{"type": "file", "mime": firstNonEmpty(a.Type, "application/octet-stream"), "filename": a.Name, "url": fileURI(a.Path)}
	if _, err := os.Stat(a.Path); err != nil {
		return nil, err
	}
	kind, _, _ := strings.Cut(a.Type, ";")
	part["mime"] = firstNonEmpty(kind, "application/octet-stream")
	if strings.HasPrefix(kind, "text/") {
		part["mime"] = "text/plain" // the kind whose text OpenCode puts into the message
	}
	if !strings.HasPrefix(kind, "image/") || kind == "image/svg+xml" || a.Size > maxImage {
		return part, nil
	}
	f, err := os.Open(a.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxImage+1))
	if err == nil && len(data) > maxImage {
		err = errors.New("the file has grown beyond what can be sent")
	}
	if err != nil {
		return nil, err
	}
	part["url"] = "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(data)
	return part, nil
}

// The models are kept for Describe, which starts no server.

func modelsFile(dir string) string { return filepath.Join(dir, "models.json") }

func saveModels(dir string, models []provider.Model) error {
	data, err := json.Marshal(models)
	if err != nil {
		return err
	}
	file := modelsFile(dir)
	if err := os.WriteFile(file+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

func loadModels(dir string) []provider.Model {
	data, err := os.ReadFile(modelsFile(dir))
	var models []provider.Model
	if err != nil || len(data) > maxReply || json.Unmarshal(data, &models) != nil {
		return nil
	}
	return models
}
