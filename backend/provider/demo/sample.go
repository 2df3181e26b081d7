package demo

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"berth/backend/process"
)

//go:embed sample
var sampleFiles embed.FS

// SampleFolder makes a small project for the demo to work on, under git where
// there is git. A folder that exists already is left as it is.
func SampleFolder(ctx context.Context, processes *process.Supervisor, dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("sample folder: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return fmt.Errorf("sample folder: %w", err)
	}
	// Made beside and moved, so that it is there whole or not at all.
	work, err := os.MkdirTemp(filepath.Dir(dir), ".sample-")
	if err != nil {
		return fmt.Errorf("sample folder: %w", err)
	}
	defer os.RemoveAll(work)
	if err := os.Chmod(work, 0o755); err != nil {
		return fmt.Errorf("sample folder: %w", err)
	}
	files, err := fs.Sub(sampleFiles, "sample")
	if err != nil {
		return err
	}
	if err := os.CopyFS(work, files); err != nil {
		return fmt.Errorf("sample folder: %w", err)
	}
	if git, err := processes.LookPath("git"); err == nil {
		for _, args := range [][]string{
			{"init", "-q", "-b", "main"}, {"add", "."},
			{"-c", "user.name=Berth", "-c", "user.email=demo@berth.invalid", "-c", "commit.gpgsign=false", "commit", "-q", "-m", "A sample project"},
		} {
			if err := runGit(ctx, processes, git, work, args); err != nil {
				return fmt.Errorf("sample folder: git %s: %w", args[0], err)
			}
		}
	}
	return os.Rename(work, dir)
}

// gitTimeout bounds one git command on a handful of files.
const gitTimeout = 20 * time.Second

func runGit(ctx context.Context, processes *process.Supervisor, git, dir string, args []string) error {
	ctx, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	p, err := processes.Start(ctx, process.Spec{Path: git, Args: args, Dir: dir, Label: "git"})
	if err != nil {
		return err
	}
	defer func() { _ = p.Stop(context.WithoutCancel(ctx), time.Second) }() // what it leaves, the next start ends
	select {
	case <-p.Done():
	case <-ctx.Done():
		return ctx.Err()
	}
	if exit := p.Exit(); exit.Code != 0 {
		return fmt.Errorf("exit code %d: %s", exit.Code, p.StderrTail())
	}
	return nil
}
