package demo

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"

	sdk "github.com/coder/acp-go-sdk"
)

// memory keeps each conversation as a small file, so that it can be taken up
// after a restart. Without a folder nothing is kept.
type memory struct{ dir string }

// kept is what is remembered of a conversation: its answers depend on nothing
// else.
type kept struct {
	Count int    `json:"count"`
	Mode  string `json:"mode"`
	Model string `json:"model"`
}

var conversationID = regexp.MustCompile(`^demo-[0-9a-f]{16}$`)

func (m memory) save(c *conversation) error {
	if m.dir == "" {
		return nil
	}
	if err := os.MkdirAll(m.dir, 0o700); err != nil {
		return err
	}
	data, err := json.Marshal(kept{c.count, c.mode, c.model})
	if err != nil {
		return err
	}
	path := filepath.Join(m.dir, string(c.id)+".json")
	if err := os.WriteFile(path+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

func (m memory) load(id sdk.SessionId) (*conversation, error) {
	if m.dir == "" || !conversationID.MatchString(string(id)) {
		return nil, errors.New("no such conversation")
	}
	data, err := os.ReadFile(filepath.Join(m.dir, string(id)+".json"))
	if err != nil {
		return nil, err
	}
	var k kept
	if err := json.Unmarshal(data, &k); err != nil {
		return nil, err
	}
	return &conversation{id: id, mode: k.Mode, model: k.Model, count: k.Count, always: map[string]bool{}}, nil
}
