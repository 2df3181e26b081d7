package claude

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"berth/backend/event"
	"berth/backend/provider"
)

const (
	// maxTitle bounds what is shown of a tool's subject, in bytes.
	maxTitle = 400
	// maxImages and maxImage bound the pictures of one result; the API itself
	// takes no more than 100, of 5 MB each.
	maxImages = 100
	maxImage  = 16 << 20
)

// toolKind groups the CLI's own tools (sdk-tools.d.ts of its package).
func toolKind(name string) event.ToolKind {
	switch name {
	case "Read", "NotebookRead", "ReadMcpResource", "ReadMcpResourceDir", "ListMcpResources":
		return event.ToolRead
	case "Edit", "Write", "MultiEdit", "NotebookEdit":
		return event.ToolEdit
	case "Grep", "Glob", "LS", "ToolSearch", "WebSearch", "web_search":
		return event.ToolSearch
	case "Bash", "BashOutput", "KillShell", "PowerShell", "Monitor", "TaskStop":
		return event.ToolExecute
	case "WebFetch", "web_fetch":
		return event.ToolFetch
	case "Agent", "Task":
		return event.ToolAgent
	case "EnterPlanMode", "ExitPlanMode":
		return event.ToolThink
	}
	if planTool(name) {
		return event.ToolThink
	}
	return event.ToolOther
}

// toolInput holds the fields of inputs that say what a tool works on.
type toolInput struct {
	FilePath     string `json:"file_path"`
	NotebookPath string `json:"notebook_path"`
	Path         string `json:"path"`
	Command      string `json:"command"`
	Pattern      string `json:"pattern"`
	URL          string `json:"url"`
	Query        string `json:"query"`
	Description  string `json:"description"`
	Prompt       string `json:"prompt"`
	Skill        string `json:"skill"`
	Subject      string `json:"subject"`
	Offset       int    `json:"offset"`
	Plan         string `json:"plan"`
}

func readInput(raw json.RawMessage) toolInput {
	var in toolInput
	_ = json.Unmarshal(raw, &in) // a field of another type leaves its title empty
	return in
}

// title is what a tool works on.
func title(name string, in toolInput) string {
	var t string
	switch kind := toolKind(name); {
	case kind == event.ToolAgent:
		t = cmp.Or(in.Description, in.Prompt)
	case in.Command != "":
		t = in.Command
	default:
		t = cmp.Or(in.FilePath, in.NotebookPath, in.Pattern, in.URL, in.Query, in.Path, in.Skill, in.Subject, in.Description)
	}
	if server, tool, ok := mcpName(name); ok && t == "" {
		t = server + ": " + tool
	}
	return cut(strings.TrimSpace(t), maxTitle)
}

// mcpName reads the name of a tool of an MCP server, mcp__server__tool.
func mcpName(name string) (server, tool string, ok bool) {
	rest, ok := strings.CutPrefix(name, "mcp__")
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, "__")
}

// locations are the places a tool works on.
func locations(in toolInput) []event.Location {
	if path := cmp.Or(in.FilePath, in.NotebookPath, in.Path); path != "" {
		return []event.Location{{Path: path, Line: max(in.Offset, 0)}}
	}
	return nil
}

// newTool is a tool call as its input describes it.
func newTool(name string, raw json.RawMessage) *event.Tool {
	in := readInput(raw)
	if string(raw) == "{}" {
		raw = nil
	}
	return &event.Tool{Kind: toolKind(name), Name: name, Title: title(name, in), Locations: locations(in), Input: raw}
}

// output is what a tool gave back: its text, and the pictures in it.
func output(name string, raw json.RawMessage) (string, []provider.Image) {
	var c content
	if len(raw) == 0 || json.Unmarshal(raw, &c) != nil {
		return "", nil
	}
	var texts []string
	var images []provider.Image
	for _, b := range c {
		switch {
		case b.Type == "text":
			texts = append(texts, b.Text)
		case b.Type == "image" && b.Source != nil && b.Source.Type == "base64" && len(images) < maxImages:
			if base64.StdEncoding.DecodedLen(len(b.Source.Data)) > maxImage {
				continue
			}
			data, err := base64.StdEncoding.DecodeString(b.Source.Data)
			if err == nil && imageType(b.Source.MediaType) {
				images = append(images, provider.Image{Name: name, Type: b.Source.MediaType, Data: data})
			}
		}
	}
	return strings.Join(texts, "\n"), images
}

// imageName names a picture after the file it was read from.
func imageName(t *event.Tool) string {
	if len(t.Locations) > 0 {
		return filepath.Base(t.Locations[0].Path)
	}
	return t.Name
}

// exitCode finds the exit code in the CLI's own words: "Exit code N" begins
// the result of a command that failed.
var exitCode = regexp.MustCompile(`^Exit code (\d{1,10})\n?`)

// shellExit is the exit code of a Bash call, nil when it is not known.
func shellExit(text string, failed bool, result json.RawMessage) *int {
	code := 0
	if m := exitCode.FindStringSubmatch(text); m != nil {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			return nil
		}
		code = n
	} else if failed {
		return nil
	}
	var r struct {
		Interrupted bool   `json:"interrupted"`
		Background  string `json:"backgroundTaskId"`
		Stdout      *string
		Meaning     string `json:"returnCodeInterpretation"` // set for a code that is no failure
	}
	if !failed && (json.Unmarshal(result, &r) != nil || r.Stdout == nil || r.Interrupted || r.Background != "" || r.Meaning != "") {
		return nil
	}
	return &code
}

// failureText is why a tool failed, without the CLI's wrapping.
func failureText(text string) string {
	text = strings.TrimSpace(text)
	if inner, ok := strings.CutPrefix(text, "<tool_use_error>"); ok {
		text = strings.TrimSuffix(inner, "</tool_use_error>")
	}
	return cut(firstLine(text), maxTitle)
}

// agentReport is what a sub-agent reported, without what the CLI puts around
// it for the model.
func agentReport(result json.RawMessage) string {
	var r struct {
		Status  string  `json:"status"`
		Content content `json:"content"`
	}
	if len(result) == 0 || result[0] != '{' || json.Unmarshal(result, &r) != nil || r.Status != "completed" {
		return ""
	}
	var texts []string
	for _, b := range r.Content {
		if b.Type == "text" {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// inBackground says whether a call goes on after its result.
func inBackground(result json.RawMessage) bool {
	var r struct {
		Status     string `json:"status"`
		Async      bool   `json:"isAsync"`
		Background string `json:"backgroundTaskId"`
	}
	if len(result) == 0 || result[0] != '{' || json.Unmarshal(result, &r) != nil {
		return false
	}
	return r.Async || r.Status == "async_launched" || r.Background != ""
}
