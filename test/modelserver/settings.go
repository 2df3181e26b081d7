package modelserver

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The functions below prepare a private home directory in which an agent of
// the pinned version talks to this server and to nothing else: no updates, no
// telemetry. They write the agent's configuration and return the environment
// it is started with (to be added to a scrubbed one).

// key stands for an account; the server asks for none.
const key = "scripted-key"

// Models as the agents name them.
const (
	// CodexModel is one that the pinned Codex knows and that calls tools
	// directly; newer ones only run scripts ("code mode").
	CodexModel = "gpt-5.5"
	// GeminiModel is one for which Gemini CLI asks no other model first.
	GeminiModel = "gemini-2.5-flash"
	// OpenCodeModel is this server's, as provider/model.
	OpenCodeModel = "scripted/" + ModelName
)

// Claude prepares home for Claude Code.
func (s *Server) Claude(home string) ([]string, error) {
	state, err := json.Marshal(object{"hasCompletedOnboarding": true, "autoUpdates": false})
	if err != nil {
		return nil, err
	}
	if err := writeConfig(home, ".claude.json", state); err != nil {
		return nil, err
	}
	return append(homeEnv(home),
		"ANTHROPIC_BASE_URL="+s.URL(),
		"ANTHROPIC_API_KEY="+key,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"DISABLE_AUTOUPDATER=1",
		"DISABLE_TELEMETRY=1",
		"DISABLE_ERROR_REPORTING=1",
		"CLAUDE_CODE_ENABLE_TODO_TOOLS=1", // else its newest models have no plan
	), nil
}

// Codex prepares home for Codex.
func (s *Server) Codex(home string) ([]string, error) {
	config := strings.Join([]string{
		`model = "` + CodexModel + `"`,
		`model_provider = "scripted"`,
		`model_reasoning_summary = "detailed"`,
		`check_for_update_on_startup = false`,
		`[analytics]`,
		`enabled = false`,
		`[features]`,
		`default_mode_request_user_input = true`, // else Codex asks questions in plan mode only
		`multi_agent_v2 = true`,                  // else this model has no sub-agents
		`[tools.update_plan]`,
		`enabled = true`,
		`[model_providers.scripted]`,
		`name = "Scripted"`,
		`base_url = "` + s.URL() + `/v1"`,
		`wire_api = "responses"`,
		`env_key = "SCRIPTED_KEY"`,
		``,
	}, "\n")
	if err := writeConfig(home, filepath.Join(".codex", "config.toml"), []byte(config)); err != nil {
		return nil, err
	}
	// Codex makes no helper programs below the temporary directory, and its
	// sandbox does not work without them.
	temp := filepath.Join(home, "tmp")
	if err := os.MkdirAll(temp, 0o700); err != nil {
		return nil, fmt.Errorf("prepare the agent's home: %w", err)
	}
	return append(homeEnv(home), "CODEX_HOME="+filepath.Join(home, ".codex"), "TMPDIR="+temp, "SCRIPTED_KEY="+key), nil
}

// OpenCode prepares home for OpenCode.
func (s *Server) OpenCode(home string) ([]string, error) {
	config, err := json.MarshalIndent(object{
		"$schema": "https://opencode.ai/config.json", "autoupdate": false, "share": "disabled",
		"model": OpenCodeModel, "small_model": OpenCodeModel,
		"provider": object{"scripted": object{
			"npm": "@ai-sdk/openai-compatible", "name": "Scripted",
			"options": object{"baseURL": s.URL() + "/v1", "apiKey": key},
			"models": object{ModelName: object{
				"name": "Scripted", "tool_call": true, "reasoning": true, "attachment": true,
				"modalities": object{"input": []string{"text", "image"}, "output": []string{"text"}},
				"limit":      object{"context": 200000, "output": 32000},
			}},
		}},
	}, "", "  ")
	if err != nil {
		return nil, err
	}
	if err := writeConfig(home, filepath.Join(".config", "opencode", "opencode.json"), config); err != nil {
		return nil, err
	}
	return append(homeEnv(home), "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1"), nil
}

// Gemini prepares home for Gemini CLI.
func (s *Server) Gemini(home string) ([]string, error) {
	config, err := json.MarshalIndent(object{
		"general": object{"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
		"model":   object{"name": GeminiModel},
		"privacy": object{"usageStatisticsEnabled": false},
		"security": object{
			"auth":        object{"selectedType": "gemini-api-key"},
			"folderTrust": object{"enabled": false},
		},
		"telemetry": object{"enabled": false},
	}, "", "  ")
	if err != nil {
		return nil, err
	}
	if err := writeConfig(home, filepath.Join(".gemini", "settings.json"), config); err != nil {
		return nil, err
	}
	return append(homeEnv(home), "GEMINI_API_KEY="+key, "GOOGLE_GEMINI_BASE_URL="+s.URL()), nil
}

// homeEnv makes home the place of all settings, state and caches.
func homeEnv(home string) []string {
	return []string{
		"HOME=" + home,
		"USERPROFILE=" + home,
		"XDG_CONFIG_HOME=" + filepath.Join(home, ".config"),
		"XDG_DATA_HOME=" + filepath.Join(home, ".local", "share"),
		"XDG_STATE_HOME=" + filepath.Join(home, ".local", "state"),
		"XDG_CACHE_HOME=" + filepath.Join(home, ".cache"),
	}
}

// writeConfig writes one file below home, readable by its owner only.
func writeConfig(home, name string, content []byte) error {
	path := filepath.Join(home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("prepare the home of an agent: %w", err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return fmt.Errorf("prepare the home of an agent: %w", err)
	}
	return nil
}
