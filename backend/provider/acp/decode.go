package acp

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	sdk "github.com/coder/acp-go-sdk"
)

// The replies that hold unions are decoded here and not by the SDK's types:
// those refuse the whole reply, or take one kind for another, when a union
// has a kind that is newer than they are.

// greeting is the reply to initialize.
type greeting struct {
	ProtocolVersion   sdk.ProtocolVersion   `json:"protocolVersion"`
	AgentCapabilities sdk.AgentCapabilities `json:"agentCapabilities"`
	AgentInfo         *sdk.Implementation   `json:"agentInfo"`
	AuthMethods       []authMethod          `json:"authMethods"`
}

// authMethod is a way to sign in; what else a kind has is not needed.
type authMethod struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// opened is the reply to session/new, load, resume and fork.
type opened struct {
	SessionID     sdk.SessionId          `json:"sessionId"`
	Modes         *sdk.SessionModeState  `json:"modes"`
	Models        *sdk.SessionModelState `json:"models"`
	ConfigOptions []configOption         `json:"configOptions"`
}

// configOption is one option of a session; those that are not a choice of
// values have none.
type configOption struct {
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Category string          `json:"category"`
	Type     string          `json:"type"`
	Current  json.RawMessage `json:"currentValue"`
	Options  []configValue   `json:"options"`
}

// configValue is one value, or a named group of values.
type configValue struct {
	Value       string        `json:"value"`
	Name        string        `json:"name"`
	Description string        `json:"description"`
	Options     []configValue `json:"options"`
}

// update is a session/update with its kind looked at first.
type update struct {
	SessionID sdk.SessionId `json:"sessionId"`
	Raw       json.RawMessage
	Kind      string
}

func decodeUpdate(params json.RawMessage) (update, error) {
	var note struct {
		SessionID sdk.SessionId   `json:"sessionId"`
		Update    json.RawMessage `json:"update"`
	}
	if err := json.Unmarshal(params, &note); err != nil {
		return update{}, err
	}
	var head struct {
		Kind string `json:"sessionUpdate"`
	}
	if err := json.Unmarshal(note.Update, &head); err != nil {
		return update{}, err
	}
	return update{SessionID: note.SessionID, Raw: note.Update, Kind: head.Kind}, nil
}

// block is a content block with its kind looked at first. One that is not
// known has only Kind and Raw.
type block struct {
	Kind     string
	Text     string // of text, and of an embedded text
	Data     string // base64, of image, audio and an embedded blob
	MimeType string
	Name     string
	URI      string
	Raw      json.RawMessage
}

func decodeBlock(raw json.RawMessage) block {
	var in struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		Data     string `json:"data"`
		MimeType string `json:"mimeType"`
		Name     string `json:"name"`
		Title    string `json:"title"`
		URI      string `json:"uri"`
		Resource struct {
			URI      string `json:"uri"`
			MimeType string `json:"mimeType"`
			Text     string `json:"text"`
			Blob     string `json:"blob"`
		} `json:"resource"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return block{Raw: raw}
	}
	b := block{Kind: in.Type, Raw: raw}
	switch in.Type {
	case "text":
		b.Text = in.Text
	case "image", "audio":
		b.Data, b.MimeType, b.URI = in.Data, in.MimeType, in.URI
	case "resource_link":
		b.URI, b.Name, b.MimeType = in.URI, firstNonEmpty(in.Title, in.Name, in.URI), in.MimeType
	case "resource":
		b.URI, b.MimeType, b.Text, b.Data = in.Resource.URI, in.Resource.MimeType, in.Resource.Text, in.Resource.Blob
	}
	return b
}

// plain is a block as text, for places where only text is shown.
func (b block) plain() string {
	switch b.Kind {
	case "text":
		return b.Text
	case "resource":
		return firstNonEmpty(b.Text, "["+firstNonEmpty(b.URI, "resource")+"]")
	case "resource_link":
		return "[" + b.Name + "](" + b.URI + ")"
	case "image", "audio":
		return "[" + b.Kind + "]"
	}
	return "[content of an unknown kind: " + firstNonEmpty(firstBytes(b.Kind, 80), "none") + "]"
}

// maxDetail bounds a machine's line that is shown, in bytes.
const maxDetail = 500

// firstBytes cuts at a character's boundary.
func firstBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// lastLine is the last line that says something.
func lastLine(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.LastIndexByte(s, '\n'); i >= 0 {
		s = s[i+1:]
	}
	return firstBytes(strings.TrimSpace(s), maxDetail)
}

func firstNonEmpty(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}
