package instance

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// maxSocketPath is the longest path that every system takes: sun_path holds
// 104 bytes on macOS, with its ending.
const maxSocketPath = 100

// dialPatience is how long a backend may take to accept a connection.
const dialPatience = 2 * time.Second

// socketPath is where the backend of a state directory listens: below it, or
// in the user's runtime directory where that path would be too long.
func socketPath(state string) (string, error) {
	abs, err := filepath.Abs(state)
	if err != nil {
		return "", fmt.Errorf("find the state directory: %w", err)
	}
	path := filepath.Join(abs, runDir, socketFile)
	if len(path) <= maxSocketPath {
		return path, nil
	}
	sum := sha256.Sum256([]byte(abs))
	name := hex.EncodeToString(sum[:8]) + ".sock"
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		if path := filepath.Join(dir, "berth", name); len(path) <= maxSocketPath {
			return path, nil
		}
	}
	path = filepath.Join(os.TempDir(), "berth-"+strconv.Itoa(os.Getuid()), name)
	if len(path) > maxSocketPath {
		return "", fmt.Errorf("no place for the local socket: both %s and %s are too long", abs, os.TempDir())
	}
	return path, nil
}

// Listen opens the local socket. What lies in its place was left by an
// earlier holder of the lock and is removed, if it is a socket.
func (l *Lock) Listen() (net.Listener, string, error) {
	path, err := socketPath(l.state)
	if err != nil {
		return nil, "", err
	}
	if err := privateDir(filepath.Dir(path)); err != nil {
		return nil, "", err
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, "", fmt.Errorf("look at the local socket: %w", err)
	case info.Mode().IsRegular() || info.IsDir():
		return nil, "", fmt.Errorf("%s is in the way of the local socket", path)
	default:
		if err := os.Remove(path); err != nil {
			return nil, "", fmt.Errorf("remove the socket of an earlier Berth: %w", err)
		}
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, "", fmt.Errorf("open the local socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, "", errors.Join(fmt.Errorf("make the local socket private: %w", err), listener.Close())
	}
	return listener, path, nil
}

// Dial connects to the backend of a state directory; ErrNone means that none
// answers.
func Dial(ctx context.Context, state string) (net.Conn, error) {
	r, err := Read(state)
	if err != nil {
		return nil, err
	}
	d := net.Dialer{Timeout: dialPatience}
	conn, err := d.DialContext(ctx, "unix", r.Socket)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%w (%w)", ErrNone, err)
	}
	return conn, nil
}
