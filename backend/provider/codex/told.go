package codex

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
)

// A thread takes developer instructions when it is started. Those given to
// thread/resume count only after its history was compacted, so that a thread
// taken up again is told of changed instructions by a developer message. What
// a thread was last told is kept as a hash, in a file named by the thread.

// withdrawn is what a thread is told when its chat has no instructions any
// more.
const withdrawn = "The earlier instructions of this chat no longer apply."

// instruct sees to it that the thread has the chat's instructions.
func (s *session) instruct(ctx context.Context) error {
	now := hashOf(s.spec.Instructions)
	before, known := s.lastTold()
	fresh := s.spec.Resume == ""
	unchanged := known && before == now || !known && s.spec.Instructions == ""
	if !fresh && !unchanged {
		text := s.spec.Instructions
		if text == "" {
			text = withdrawn
		}
		message := map[string]any{"type": "message", "role": "developer", "content": []any{map[string]any{"type": "input_text", "text": text}}}
		params := map[string]any{"threadId": s.thread, "items": []any{message}}
		if err := s.server.within(ctx, callLimit, "thread/inject_items", params, nil); err != nil {
			return err
		}
	}
	if !fresh && unchanged || fresh && s.spec.Instructions == "" {
		return nil
	}
	// A failure costs only that the thread is told once more.
	path := s.toldPath()
	if os.MkdirAll(filepath.Dir(path), 0o700) == nil {
		_ = os.WriteFile(path, []byte(now), 0o600)
	}
	return nil
}

// lastTold is the hash of what the thread was last told, if it is known.
func (s *session) lastTold() (string, bool) {
	data, err := os.ReadFile(s.toldPath())
	return string(data), err == nil
}

// toldPath hashes the thread's id, which is foreign.
func (s *session) toldPath() string {
	return filepath.Join(s.host.Scratch, "codex-instructed", hashOf(s.thread))
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}
