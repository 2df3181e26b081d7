package codex

import (
	"cmp"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"berth/backend/provider"
	"berth/backend/provider/probe"
)

// judge says from what was found whether Codex can be used.
func judge(d *provider.Description, f findings) {
	d.Models = choices(f)
	if f.version.err != nil {
		d.Status, d.Message, d.Detail = provider.Broken, "Codex does not start.", clip(f.version.err.Error(), maxText)
		if f.version.late {
			d.Status, d.Message = provider.Unknown, "Codex did not answer in time."
		}
		return
	}
	d.Version = probe.Version(f.version.Stdout)
	switch {
	case d.Version == "":
		d.Status, d.Message, d.Detail = provider.Broken, "This program does not answer as Codex does.", clip(f.version.LastLine(), maxText)
	case probe.Older(d.Version, minVersion):
		d.Status, d.Message = provider.TooOld, "Codex "+d.Version+" is too old for Berth, which needs "+minVersion+" or newer."
	case f.config.err != nil:
		d.Status, d.Message, d.Detail = provider.Broken, "Codex's configuration cannot be read.", clip(f.config.err.Error(), maxText)
	default:
		d.Status, d.Account, d.Message = signedIn(f)
	}
}

// signedIn reads the login state. A model provider of the user's own that
// wants no OpenAI account counts as signed in.
func signedIn(f findings) (status provider.Status, account, message string) {
	if name, ok := f.config.ownProvider(); ok {
		return provider.Ready, name, ""
	}
	said := f.login.Stdout + f.login.Stderr
	switch {
	case f.login.err != nil:
		return provider.Unknown, "", "Codex did not tell whether it is signed in."
	case strings.Contains(said, "Not logged in"):
		return provider.Unauthenticated, "", "Codex is not signed in."
	case f.login.Code != 0:
		return provider.Unknown, "", "Codex did not tell whether it is signed in: " + clip(f.login.LastLine(), maxText)
	case strings.Contains(said, "API key"):
		return provider.Ready, "API key", "" // never the line itself: it has a part of the key
	case strings.Contains(said, "ChatGPT"):
		return provider.Ready, "ChatGPT", ""
	}
	return provider.Ready, "", ""
}

// catalogModel is a model of `codex debug models`.
type catalogModel struct {
	Slug        string `json:"slug"`
	Name        string `json:"display_name"`
	Description string `json:"description"`
	Visibility  string `json:"visibility"`
	InAPI       *bool  `json:"supported_in_api"`
	Priority    int    `json:"priority"`
	Effort      string `json:"default_reasoning_level"`
	Efforts     []struct {
		Effort string `json:"effort"`
	} `json:"supported_reasoning_levels"`
}

// models reads a catalogue: what is to be listed, best first.
func models(a answer) []catalogModel {
	if a.err != nil || a.Code != 0 {
		return nil
	}
	var catalog struct {
		Models []catalogModel `json:"models"`
	}
	if json.Unmarshal([]byte(a.Stdout), &catalog) != nil {
		return nil
	}
	list := slices.DeleteFunc(catalog.Models, func(m catalogModel) bool {
		return m.Slug == "" || m.Visibility != "list" || m.InAPI != nil && !*m.InAPI
	})
	slices.SortStableFunc(list, func(a, b catalogModel) int { return cmp.Compare(a.Priority, b.Priority) })
	return list[:min(len(list), maxModels)]
}

// choices are the models as Berth offers them; the first is what Codex takes
// when nothing is chosen, with the name of what that is.
func choices(f findings) []provider.Model {
	own := provider.Model{Label: "Default", DefaultEffort: f.config.Effort}
	name := f.config.Model
	if name == "" && len(f.models) > 0 {
		name = f.models[0].Slug
	}
	list := []provider.Model{own}
	for _, m := range f.models {
		c := provider.Model{Value: m.Slug, Label: cmp.Or(m.Name, m.Slug), Note: clip(m.Description, maxText), DefaultEffort: m.Effort}
		for _, e := range m.Efforts {
			c.Efforts = append(c.Efforts, e.Effort)
		}
		if m.Slug == name {
			list[0].Efforts, list[0].DefaultEffort = c.Efforts, cmp.Or(f.config.Effort, c.DefaultEffort)
		}
		list = append(list, c)
	}
	if name != "" {
		list[0].Label, list[0].Note = "Default", name
	}
	return list
}

// config is what of config.toml says where answers come from.
type config struct {
	Model     string `toml:"model"`
	Effort    string `toml:"model_reasoning_effort"`
	Provider  string `toml:"model_provider"`
	Providers map[string]struct {
		Name         string `toml:"name"`
		RequiresAuth bool   `toml:"requires_openai_auth"`
	} `toml:"model_providers"`

	err error
}

// builtIn are the model providers that want an OpenAI account.
var builtIn = map[string]bool{"": true, "openai": true}

// ownProvider is the user's own model provider, if it is the one in use.
func (c config) ownProvider() (string, bool) {
	if builtIn[c.Provider] {
		return "", false
	}
	p, ok := c.Providers[c.Provider]
	if ok && p.RequiresAuth {
		return "", false
	}
	return cmp.Or(p.Name, c.Provider), true
}

// maxConfig bounds what is read of config.toml, in bytes.
const maxConfig = 1 << 20

// readConfig reads the user's configuration file; one that is not there says
// nothing.
func readConfig(host provider.Host) config {
	dir := variable(host, "CODEX_HOME")
	if dir == "" {
		home := variable(host, "HOME")
		if home == "" {
			home, _ = os.UserHomeDir() // then there is no file either
		}
		dir = filepath.Join(home, ".codex")
	}
	f, err := os.Open(filepath.Join(dir, "config.toml"))
	if err != nil {
		return config{}
	}
	defer f.Close()
	var c config
	if _, err := toml.NewDecoder(io.LimitReader(f, maxConfig)).Decode(&c); err != nil {
		return config{err: err}
	}
	return c
}

// variable is one of the environment that Codex is started with.
func variable(host provider.Host, name string) string {
	for i := len(host.Env) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(host.Env[i], name+"="); ok {
			return value
		}
	}
	return os.Getenv(name)
}
