package modelserver

import (
	"encoding/json"
	"strings"
)

// ask is a request in a form common to all protocols.
type ask struct {
	model    string
	system   string
	stream   bool
	schema   json.RawMessage // of the answer, when structured output is asked for
	tools    []tool
	messages []message
	images   int
	side     string // why this is no turn of the user
	size     int    // of the body, in bytes
}

// tool is one that the agent offers.
type tool struct {
	name      string
	custom    bool   // takes plain text, not JSON (OpenAI's custom tools)
	namespace string // OpenAI's, if any
}

// message is one entry of the conversation, in order.
type message struct {
	role    string // user, assistant
	texts   []string
	calls   int
	results []result
}

// result is what a tool gave back.
type result struct {
	call string
	text string
}

// texts are all texts of the user as they came.
func (a *ask) texts() []string {
	var all []string
	for _, m := range a.messages {
		if m.role == "user" {
			all = append(all, m.texts...)
		}
	}
	return all
}

// place is where a conversation stands: the last prompt and what came after.
type place struct {
	text     string
	calls    int  // tool calls since
	answered bool // the model has said something since
	results  []result
}

// prompt finds the last text of the user that is not an agent's own wrapping.
func (a *ask) prompt() place {
	var at place
	for _, m := range a.messages {
		if m.role == "user" {
			at.results = append(at.results, m.results...)
			for _, text := range m.texts {
				if !wrapping(text) {
					at = place{text: text}
				}
			}
			continue
		}
		at.calls += m.calls
		at.answered = true
	}
	return at
}

// wrappings begin texts of role user that no user wrote: what the agents put
// around a message (read from the requests of the pinned versions).
var wrappings = []string{
	"<system-reminder>",            // Claude Code
	"[Request interrupted by user", // Claude Code, after an interrupt
	"[Image: source: ",             // Claude Code, after a picture
	"<environment_context>",        // Codex
	"<user_instructions>",          // Codex
	"<permissions instructions>",   // Codex
	"<turn_aborted>",               // Codex, after an interrupt
	"# AGENTS.md instructions",     // Codex
	"<session_context>",            // Gemini CLI
	"This is the Gemini CLI.",      // Gemini CLI
	"<command-name>",               // Claude Code, slash commands
	"<local-command-",              // Claude Code, slash commands
}

// toolLoaded is what Claude Code puts after the result of its ToolSearch.
const toolLoaded = "Tool loaded."

func wrapping(text string) bool {
	text = strings.TrimLeft(text, " \n")
	for _, w := range wrappings {
		if strings.HasPrefix(text, w) {
			return true
		}
	}
	text = strings.TrimSpace(text)
	return text == "" || text == toolLoaded
}

func (a *ask) offers(name string) bool {
	for _, t := range a.tools {
		if t.name == name {
			return true
		}
	}
	return false
}
