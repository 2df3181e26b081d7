package acp

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"berth/backend/provider"
)

func TestAgentsFile(t *testing.T) {
	good := `{"agents":[{"id":"my-agent","title":"My agent","mark":"MA","command":"my-agent","args":["--acp"],"env":{"X":"1"},
		"install":["npm i -g my-agent"],"login":["my-agent login"],"update":["npm update"],"modes":{"ask":"default"},"authenticate":{"method":"key","env":"MY_KEY"}}]}`
	file, err := ParseAgentsFile([]byte(good))
	want := Entry{ID: "my-agent", Title: "My agent", Mark: "MA", Command: "my-agent", Args: []string{"--acp"}, Env: map[string]string{"X": "1"},
		Install: []string{"npm i -g my-agent"}, Login: []string{"my-agent login"}, Update: []string{"npm update"},
		Modes: map[provider.Permission]string{provider.Ask: "default"}, Authenticate: &Authenticate{Method: "key", Env: "MY_KEY"}}
	if err != nil || len(file.Agents) != 1 || !reflect.DeepEqual(file.Agents[0], want) {
		t.Errorf("%+v, %v", file, err)
	}
	long := strings.Repeat("x", maxWord+1)
	for text, field := range map[string]string{
		`{"agents":[{"id":"My","title":"x","command":"x"}]}`:                                        "agents[0].id",
		`{"agents":[{"id":"claude","title":"x","command":"x"}]}`:                                    "agents[0].id",
		`{"agents":[{"id":"a","title":" ","command":"x"}]}`:                                         "agents[0].title",
		`{"agents":[{"id":"a","title":"x","mark":"LONG","command":"x"}]}`:                           "agents[0].mark",
		`{"agents":[{"id":"a","title":"x","command":""}]}`:                                          "agents[0].command",
		`{"agents":[{"id":"a","title":"x","command":"x","args":["` + long + `"]}]}`:                 "agents[0].args[0]",
		`{"agents":[{"id":"a","title":"x","command":"x","login":["\u0000"]}]}`:                      "agents[0].login[0]",
		`{"agents":[{"id":"a","title":"x","command":"x","env":{"A=B":""}}]}`:                        "agents[0].env.A=B",
		`{"agents":[{"id":"a","title":"x","command":"x","env":{"A":"\u0000"}}]}`:                    "agents[0].env.A",
		`{"agents":[{"id":"a","title":"x","command":"x","modes":{"yolo":"x"}}]}`:                    "agents[0].modes.yolo",
		`{"agents":[{"id":"a","title":"x","command":"x","modes":{"ask":""}}]}`:                      "agents[0].modes.ask",
		`{"agents":[{"id":"a","title":"x","command":"x","authenticate":{"env":"X"}}]}`:              "agents[0].authenticate.method",
		`{"agents":[{"id":"a","title":"x","command":"x","authenticate":{"method":"x","env":"1"}}]}`: "agents[0].authenticate.env",
		`{"agents":[{"id":"a","title":"x","command":"x"},{"id":"a","title":"y","command":"y"}]}`:    "agents[1].id",
		`{"agents":[{"id":"a","title":"x","command":"x","colour":"red"}]}`:                          "colour",
		`{"agents":[{"id":"a","title":"x","command":7}]}`:                                           "command",
		`{"agents":[]} {}`: "closing brace",
		`[]`:               "agents file",
		``:                 "agents file",
		`{"agents":[` + strings.TrimSuffix(strings.Repeat(`{"id":"a","title":"x","command":"x"},`, maxAgents+1), ",") + `]}`: "agents: at most",
	} {
		if _, err := ParseAgentsFile([]byte(text)); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%.90s: %v", text, err)
		}
	}
}

func TestLoadAgentsFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agents.json")
	if file, err := LoadAgentsFile(path); err != nil || len(file.Agents) != 0 {
		t.Errorf("no file: %+v, %v", file, err)
	}
	writeFile(t, path, `{"agents":[{"id":"a","title":"x","command":"x"}]}`)
	if file, err := LoadAgentsFile(path); err != nil || len(file.Agents) != 1 {
		t.Errorf("%+v, %v", file, err)
	}
	writeFile(t, path, strings.Repeat(" ", maxAgentsFile+1))
	if _, err := LoadAgentsFile(path); err == nil {
		t.Error("too large a file was taken")
	}
}

// A wrong entry does not cost the others, and one of the user's replaces the
// one known from the start.
func TestRegistry(t *testing.T) {
	file, err := ParseAgentsFile([]byte(`{"agents":[{"id":"a","title":"","command":"x"},{"id":"goose","title":"My Goose","command":"g"}]}`))
	if err == nil || len(file.Agents) != 1 {
		t.Fatalf("%+v, %v", file, err)
	}
	geese := 0
	list := file.Registry()
	for _, e := range list {
		if e.ID == "goose" {
			geese++
			if e.Title != "My Goose" {
				t.Errorf("%+v", e)
			}
		}
	}
	if geese != 1 || len(list) != len(Builtin()) {
		t.Errorf("%d of %d", geese, len(list))
	}
}

func TestBuiltinsAreValid(t *testing.T) {
	if err := (AgentsFile{Agents: Builtin()}).Validate(); err != nil {
		t.Error(err)
	}
	for _, e := range Builtin() {
		if len(e.Install) == 0 || len(e.Login) == 0 || len(e.mark()) != 2 {
			t.Errorf("%s lacks a way to install or sign in, or a mark", e.ID)
		}
		for _, command := range [][]string{e.Install, e.Login, e.Update} {
			if len(command) > 0 && strings.Contains(command[0], " ") {
				t.Errorf("%s: %q is a line for a shell, not a program and its arguments", e.ID, command)
			}
		}
	}
}

func TestGeminiAccount(t *testing.T) {
	home := t.TempDir()
	env := map[string]string{"GEMINI_CLI_HOME": home}
	check := func(name, account string, status provider.Status) {
		t.Helper()
		if a, s := geminiAccount(func(name string) string { return env[name] }); a != account || s != status {
			t.Errorf("%s: %q, %s", name, a, s)
		}
	}
	check("nothing", "", provider.Unauthenticated)
	if err := os.Mkdir(filepath.Join(home, ".gemini"), 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(home, ".gemini", "settings.json"), `{"security":{"auth":{"selectedType":"oauth-personal"}}}`)
	check("a method is chosen", "", provider.Ready)
	writeFile(t, filepath.Join(home, ".gemini", "google_accounts.json"), `{"active":"someone@example.org","old":[]}`)
	check("signed in", "someone@example.org", provider.Ready)
	env["GEMINI_API_KEY"] = "k"
	check("a key", "API key", provider.Ready)
}
