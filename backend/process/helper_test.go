//go:build unix

package process

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"berth/backend/store"
)

// helperName names what this test binary is to do instead of testing.
const helperName = "PROCESS_TEST_HELPER"

func TestMain(m *testing.M) {
	if helper := os.Getenv(helperName); helper != "" {
		if err := helpers[helper](os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// patience bounds waits for what happens within milliseconds on an idle
// machine.
const patience = 20 * time.Second

func newDB(t testing.TB) *store.DB {
	t.Helper()
	return openDB(t, filepath.Join(t.TempDir(), "berth.db"))
}

func openDB(t testing.TB, path string) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), path)
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

// supervisorOn makes a supervisor that is closed before db. It does not ask
// the login shell.
func supervisorOn(t testing.TB, db *store.DB) *Supervisor {
	t.Helper()
	s := NewSupervisor(db, slog.New(slog.NewTextHandler(t.Output(), nil)))
	s.finder.login = func(context.Context) string { return "" }
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

func newSupervisor(t testing.TB) *Supervisor {
	t.Helper()
	return supervisorOn(t, newDB(t))
}

func shell(script string) Spec {
	return Spec{Path: "/bin/sh", Args: []string{"-c", script}, Label: "sh"}
}

func mustStart(t testing.TB, s *Supervisor, spec Spec) Process {
	t.Helper()
	p, err := s.Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func awaitEnd(t testing.TB, p Process) Exit {
	t.Helper()
	select {
	case <-p.Done():
	case <-time.After(patience):
		t.Fatal("the process did not end")
	}
	return p.Exit()
}

func readAll(t testing.TB, p Process) string {
	t.Helper()
	b, err := io.ReadAll(p.Stdout())
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// readPids reads a line of numbers.
func readPids(t testing.TB, r io.Reader, n int) []int {
	t.Helper()
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatalf("read the pids: %v", err)
	}
	pids := make([]int, n)
	args := make([]any, n)
	for i := range pids {
		args[i] = &pids[i]
	}
	if _, err := fmt.Sscan(line, args...); err != nil {
		t.Fatalf("read the pids of %q: %v", line, err)
	}
	return pids
}

// row is a process in the registry.
type row struct {
	ended   bool
	outcome string
}

func rowOf(t testing.TB, db *store.DB, id string) row {
	t.Helper()
	var r row
	err := db.Read().QueryRow("select ended_at is not null, outcome from processes where id = ?", id).Scan(&r.ended, &r.outcome)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// eventually polls what has no event to wait for.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %v", what, patience)
		}
	}
}
