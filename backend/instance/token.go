package instance

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// tokenBytes is the length of the owner token before it is encoded.
const tokenBytes = 32

// Token gives the owner token of the listener, made at the first start and
// kept across starts. rotate makes a new one. A file that holds none, of a
// write that was cut off say, is replaced.
func (l *Lock) Token(rotate bool) (string, error) {
	path := filepath.Join(l.state, runDir, tokenFile)
	if !rotate {
		text, err := os.ReadFile(path)
		token := strings.TrimSpace(string(text))
		if err == nil && validToken(token) {
			return token, os.Chmod(path, 0o600)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("read the owner token: %w", err)
		}
	}
	var secret [tokenBytes]byte
	if _, err := rand.Read(secret[:]); err != nil {
		return "", fmt.Errorf("make the owner token: %w", err)
	}
	token := base64.RawURLEncoding.EncodeToString(secret[:])
	if err := replace(path, []byte(token+"\n")); err != nil {
		return "", fmt.Errorf("keep the owner token: %w", err)
	}
	return token, nil
}

func validToken(s string) bool {
	b, err := base64.RawURLEncoding.DecodeString(s)
	return err == nil && len(b) == tokenBytes
}
