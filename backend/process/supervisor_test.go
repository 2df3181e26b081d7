package process

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"berth/backend/store"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

func newDB(t *testing.T) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "berth.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func newTestSupervisor(t *testing.T) *Supervisor {
	t.Helper()
	s := NewSupervisor(newDB(t), slog.New(slog.NewTextHandler(t.Output(), nil)))
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

func shell(script string) Spec {
	return Spec{Path: "/bin/sh", Args: []string{"-c", script}, Label: "sh"}
}

func mustStart(t *testing.T, s *Supervisor, spec Spec) Process {
	t.Helper()
	p, err := s.Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func await(t *testing.T, p Process) Exit {
	t.Helper()
	select {
	case <-p.Done():
	case <-time.After(20 * time.Second):
		t.Fatal("the process did not end")
	}
	return p.Exit()
}

func readAll(t *testing.T, p Process) string {
	t.Helper()
	b, err := io.ReadAll(p.Stdout())
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// readLine reads what a script says first.
func readLine(t *testing.T, p Process) string {
	t.Helper()
	line, err := bufio.NewReader(p.Stdout()).ReadString('\n')
	if err != nil {
		t.Fatalf("read a line: %v (stderr: %s)", err, p.StderrTail())
	}
	return strings.TrimSpace(line)
}

func TestChildTalksOverItsPipes(t *testing.T) {
	s := newTestSupervisor(t)
	p := mustStart(t, s, shell("cat; echo problem >&2; exit 3"))
	if _, err := io.WriteString(p.Stdin(), "hello\n"); err != nil {
		t.Fatal(err)
	}
	if err := p.Stdin().Close(); err != nil {
		t.Fatal(err)
	}
	if got := readAll(t, p); got != "hello\n" {
		t.Errorf("stdout %q", got)
	}
	if exit := await(t, p); exit.Code != 3 || exit.Err != nil {
		t.Errorf("exit %+v", exit)
	}
	if got := p.StderrTail(); got != "problem\n" {
		t.Errorf("stderr %q", got)
	}
}

func BenchmarkStart(b *testing.B) {
	db, err := store.Open(b.Context(), filepath.Join(b.TempDir(), "berth.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	s := NewSupervisor(db, slog.New(slog.DiscardHandler))
	defer s.Close(context.Background())
	for b.Loop() {
		p, err := s.Start(b.Context(), Spec{Path: "/bin/true", Label: "true"})
		if err != nil {
			b.Fatal(err)
		}
		<-p.Done()
	}
}
