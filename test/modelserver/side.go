package modelserver

import (
	"encoding/json"
	"strings"
)

// sideMarks are parts of system prompts with which agents ask for something
// of their own (read from the requests of the pinned versions).
var sideMarks = map[string]string{
	"You are a title generator":               "title",   // OpenCode
	"Generate a concise, sentence-case title": "title",   // Claude Code
	"Analyze if this message indicates a new": "topic",   // Claude Code
	"You are a specialized Task Routing AI":   "routing", // Gemini CLI
}

// sideOf says why a request is no turn of the user, or "".
func sideOf(a *ask) string {
	if len(a.schema) > 0 {
		return "structured answer"
	}
	for mark, side := range sideMarks {
		if strings.Contains(a.system, mark) {
			return side
		}
	}
	return ""
}

// sideReply is harmless: a short text, or the smallest value of the schema
// asked for.
func sideReply(a *ask) *reply {
	if len(a.schema) == 0 {
		return textReply("A scripted chat")
	}
	var schema map[string]any
	if err := json.Unmarshal(a.schema, &schema); err != nil {
		return textReply("{}")
	}
	data, err := encode(smallest(schema, 0))
	if err != nil {
		return textReply("{}")
	}
	return textReply(string(data))
}

// maxSchemaDepth ends schemas that refer to themselves.
const maxSchemaDepth = 12

// smallest is a value that fits a JSON schema (the subset that agents send).
func smallest(schema map[string]any, depth int) any {
	if depth > maxSchemaDepth {
		return nil
	}
	if values, ok := schema["enum"].([]any); ok && len(values) > 0 {
		return values[0]
	}
	kind, _ := schema["type"].(string)
	switch strings.ToLower(kind) {
	case "string":
		return "A scripted chat"
	case "number", "integer":
		least, _ := schema["minimum"].(float64)
		return least
	case "boolean":
		return false
	case "array":
		return []any{}
	}
	value := map[string]any{}
	properties, _ := schema["properties"].(map[string]any)
	for name, p := range properties {
		if p, ok := p.(map[string]any); ok {
			value[name] = smallest(p, depth+1)
		}
	}
	return value
}
