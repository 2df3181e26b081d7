package backend

import (
	"os"
	"path/filepath"
)

// maxProtocol is how large a chat's file of protocol lines grows before it
// takes the place of the one before, in bytes.
const maxProtocol = 8 << 20

// protocolLog keeps the lines that agents send, one file a chat, for those
// who look into a fault and have switched it on. A line that cannot be
// written is dropped: diagnostics never endanger the product.
type protocolLog struct {
	dir    string
	wanted func() bool
}

// keep belongs to the goroutine of its chat; several chats may keep at once.
func (p protocolLog) keep(chat string, line []byte) {
	if !p.wanted() || os.MkdirAll(p.dir, 0o700) != nil {
		return
	}
	path := filepath.Join(p.dir, chat+".jsonl")
	if info, err := os.Stat(path); err == nil && info.Size() > maxProtocol {
		_ = os.Rename(path, path+".1")
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	_, _ = f.Write(append(line[:len(line):len(line)], '\n'))
}
