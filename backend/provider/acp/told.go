package acp

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
)

// The instructions of a chat are given once per conversation. That they were
// is kept as an empty file, named by the conversation and the text, so that a
// conversation taken up after a restart does not hear them twice and changed
// instructions are heard.

// recallTold looks up whether this conversation has the instructions.
func (s *session) recallTold() {
	if s.spec.Instructions == "" || s.spec.Resume == "" || s.spec.Fork {
		return
	}
	_, err := os.Stat(s.toldPath())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = err == nil
}

// rememberTold keeps that it has. A failure costs only the repetition.
func (s *session) rememberTold() {
	path := s.toldPath()
	if os.MkdirAll(filepath.Dir(path), 0o700) == nil {
		_ = os.WriteFile(path, nil, 0o600)
	}
}

func (s *session) toldPath() string {
	sum := sha256.Sum256([]byte(string(s.id) + "\x00" + s.spec.Instructions))
	return filepath.Join(s.host.Scratch, "instructed", s.entry.ID, hex.EncodeToString(sum[:16]))
}
