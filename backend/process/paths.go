package process

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

type finder struct {
	login func(ctx context.Context) string
	once  sync.Once
}

func newFinder(login func(ctx context.Context) string) *finder { return &finder{login: login} }

func (f *finder) path(ctx context.Context) (string, error) { return os.Getenv("PATH"), nil }

func (f *finder) lookPath(ctx context.Context, name string) (string, error) {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		p := filepath.Join(dir, name)
		if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return p, nil
		}
	}
	return "", fmt.Errorf("%s was not found in %s", name, strings.ReplaceAll(os.Getenv("PATH"), ":", ", "))
}

func (s *Supervisor) loginPath(ctx context.Context) string { return "" }
