package acp

import (
	"encoding/json"
	"os"
	"path/filepath"

	"berth/backend/provider"
)

// Builtin lists the agents known from the start. OpenCode is not among them:
// it has a driver of its own.
func Builtin() []Entry {
	return []Entry{
		{
			ID: "gemini", Title: "Gemini CLI", Mark: "Ge", Command: "gemini", Args: []string{"--acp"},
			Install: []string{"npm", "install", "-g", "@google/gemini-cli"},
			Login:   []string{"gemini"},
			Update:  []string{"npm", "install", "-g", "@google/gemini-cli@latest"},
			Modes: map[provider.Permission]string{
				provider.Ask: "default", provider.AcceptEdits: "autoEdit", provider.PlanOnly: "plan", provider.Full: "yolo",
			},
			// session/load fails without a chosen method although the key is
			// there; session/new does not (gemini-cli 0.61.0).
			Authenticate: &Authenticate{Method: "gemini-api-key", Env: "GEMINI_API_KEY"},
			// It takes no error reply for "there is no such file" and so
			// cannot make new files through the protocol (0.61.0).
			OwnFiles: true,
			account:  geminiAccount,
			correct: func(c *provider.Capabilities) {
				c.Images, c.Resume, c.ModelPerTurn = true, true, true
				c.Questions, c.Plans = false, false // its tools for them are not offered over ACP (0.61.0)
			},
		},
		{
			ID: "qwen", Title: "Qwen Code", Mark: "Qw", Command: "qwen", Args: []string{"--acp"},
			Install: []string{"npm", "install", "-g", "@qwen-code/qwen-code"},
			Login:   []string{"qwen"},
			Update:  []string{"npm", "install", "-g", "@qwen-code/qwen-code@latest"},
		},
		{
			ID: "copilot", Title: "GitHub Copilot CLI", Mark: "Cp", Command: "copilot", Args: []string{"--acp"},
			Install: []string{"npm", "install", "-g", "@github/copilot"},
			Login:   []string{"copilot", "login"},
			Update:  []string{"npm", "install", "-g", "@github/copilot@latest"},
		},
		{
			ID: "goose", Title: "Goose", Mark: "Go", Command: "goose", Args: []string{"acp"},
			// Goose's own default never asks.
			Env:     map[string]string{"GOOSE_MODE": "approve"},
			Install: []string{"bash", "-c", "curl -fsSL https://github.com/block/goose/releases/download/stable/download_cli.sh | bash"},
			Login:   []string{"goose", "configure"},
			Update:  []string{"goose", "update"},
		},
	}
}

// geminiAccount reads what gemini-cli 0.61.0 keeps below ~/.gemini: the
// chosen sign-in method in settings.json, the signed-in address in
// google_accounts.json.
func geminiAccount(env func(string) string) (string, provider.Status) {
	if env("GEMINI_API_KEY") != "" || env("GOOGLE_API_KEY") != "" {
		return "API key", provider.Ready
	}
	home := env("GEMINI_CLI_HOME")
	if home == "" {
		home, _ = os.UserHomeDir()
	}
	var accounts struct{ Active string }
	if readJSON(filepath.Join(home, ".gemini", "google_accounts.json"), &accounts) && accounts.Active != "" {
		return accounts.Active, provider.Ready
	}
	var settings struct {
		Security struct{ Auth struct{ SelectedType string } }
	}
	if readJSON(filepath.Join(home, ".gemini", "settings.json"), &settings) && settings.Security.Auth.SelectedType != "" {
		return "", provider.Ready
	}
	return "", provider.Unauthenticated
}

// readJSON reads a small file of an agent; false when it is not there or not
// what it should be.
func readJSON(path string, into any) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxAgentsFile {
		return false
	}
	data, err := os.ReadFile(path)
	return err == nil && json.Unmarshal(data, into) == nil
}
