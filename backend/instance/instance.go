// Package instance keeps one backend per state directory, and lets others
// find it.
//
// A locked file decides who the backend is; the lock goes with its process,
// however that ends. Its holder writes run/backend.json and listens on a
// local socket in a directory that nobody else can enter. A record or socket
// that an earlier backend left behind is replaced by the next holder, never
// by anybody else.
package instance

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Names below the state directory.
const (
	runDir     = "run"
	lockFile   = "backend.lock"
	recordFile = "backend.json"
	tokenFile  = "token"
	socketFile = "berth.sock"
)

// Errors a caller can tell apart.
var (
	// ErrHeld: another process is the backend of this state directory.
	ErrHeld = errors.New("another Berth holds this state directory")
	// ErrNone: no backend is to be reached.
	ErrNone = errors.New("no Berth runs for this state directory")
)

// maxRecord bounds what is read of a record, in bytes.
const maxRecord = 64 << 10

// Record tells who the backend is.
type Record struct {
	Pid       int       `json:"pid"`
	StartedAt time.Time `json:"started_at"`
	Version   string    `json:"version"`
	Kind      string    `json:"kind"` // window, serve or ask
	Socket    string    `json:"socket"`
	URL       string    `json:"url,omitempty"` // of the listener, if there is one
}

// Read gives the record of a state directory. It may be that of a backend
// that is gone; ErrNone means that there never was one.
func Read(state string) (Record, error) {
	var r Record
	f, err := os.Open(filepath.Join(state, runDir, recordFile))
	if errors.Is(err, fs.ErrNotExist) {
		return r, ErrNone
	}
	if err != nil {
		return r, fmt.Errorf("read who holds the state directory: %w", err)
	}
	defer f.Close()
	if err := json.NewDecoder(io.LimitReader(f, maxRecord)).Decode(&r); err != nil {
		return r, fmt.Errorf("read who holds the state directory: %w", err)
	}
	return r, nil
}

// Lock is the right to be the backend of a state directory.
type Lock struct {
	state string
	file  *os.File
}

// Acquire takes the lock of a state directory, making the directory if need
// be. ErrHeld means that another process has it; Read says which.
func Acquire(state string) (*Lock, error) {
	run := filepath.Join(state, runDir)
	if err := privateDir(run); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(run, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock of the state directory: %w", err)
	}
	if err := lock(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Lock{state: state, file: f}, nil
}

// Announce writes the record, whole or not at all.
func (l *Lock) Announce(r Record) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := replace(filepath.Join(l.state, runDir, recordFile), text); err != nil {
		return fmt.Errorf("say who holds the state directory: %w", err)
	}
	return nil
}

// Release takes the record away and gives the lock up.
func (l *Lock) Release() error {
	err := os.Remove(filepath.Join(l.state, runDir, recordFile))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, l.file.Close())
}

// replace writes a private file under its name only when it is whole.
func replace(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// privateDir makes a directory that only this user can enter, or refuses one
// that is not so.
func privateDir(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return fmt.Errorf("make %s: %w", path, err)
	}
	info, err := os.Lstat(path)
	if err != nil {
		return fmt.Errorf("look at %s: %w", path, err)
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a directory", path)
	}
	if err := ownedByUs(info); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := os.Chmod(path, 0o700); err != nil {
		return fmt.Errorf("make %s private: %w", path, err)
	}
	return nil
}
