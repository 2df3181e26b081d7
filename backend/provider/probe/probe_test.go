package probe

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"berth/backend/process"
	"berth/backend/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func supervisor(t *testing.T) *process.Supervisor {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the commands of this test are those of a Unix shell")
	}
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "berth.db"))
	if err != nil {
		t.Fatal(err)
	}
	s := process.NewSupervisor(db, slog.New(slog.NewTextHandler(io.Discard, nil)))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Errorf("processes are left: %v", err)
		}
		_ = db.Close()
	})
	return s
}

func TestRun(t *testing.T) {
	s := supervisor(t)
	cases := []struct {
		name, script string
		want         Result
		last         string
	}{
		{"says", "echo one; echo two", Result{Stdout: "one\ntwo\n"}, "two"},
		{"fails", "echo half; echo why >&2; exit 3", Result{Stdout: "half\n", Stderr: "why\n", Code: 3}, "why"},
		{"reads nothing", "cat; echo end", Result{Stdout: "end\n"}, "end"},
		{"says what is no text", `printf '\377x'`, Result{Stdout: "\uFFFDx"}, "\uFFFDx"},
		{"leaves a process behind", "sleep 1000 & echo gone", Result{Stdout: "gone\n"}, "gone"},
		{"says nothing", ":", Result{}, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			got, err := Run(ctx, s, process.Spec{Path: "/bin/sh", Args: []string{"-c", c.script}, Label: "test"})
			if err != nil || got != c.want || got.LastLine() != c.last {
				t.Errorf("%+v, %v, last line %q", got, err, got.LastLine())
			}
		})
	}
}

func TestRunIsBounded(t *testing.T) {
	s := supervisor(t)
	got, err := Run(t.Context(), s, process.Spec{Path: "/bin/sh", Args: []string{"-c", "head -c 9000000 /dev/zero | tr '\\0' x"}, Label: "test"})
	if err != nil || len(got.Stdout) != MaxOutput {
		t.Errorf("%d bytes, %v", len(got.Stdout), err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := Run(ctx, s, process.Spec{Path: "/bin/sh", Args: []string{"-c", "trap '' TERM; sleep 1000"}, Label: "test"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a command that hangs: %v", err)
	}
	if _, err := Run(t.Context(), s, process.Spec{Path: "/nowhere/at/all", Label: "test"}); err == nil {
		t.Error("a command that is not there ran")
	}
}

func TestVersion(t *testing.T) {
	for in, want := range map[string]string{
		"2.1.332 (Claude Code)": "2.1.332", "v1.2": "1.2", "2026.03.01-abc123\n": "2026.03.01-abc123", "none": "", "7": "",
		"1." + strings.Repeat("9", 100): "1." + strings.Repeat("9", 100),
	} {
		if got := Version(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}

func TestOlder(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"2.1.99", "2.1.300", true}, {"2.1.300", "2.1.300", false}, {"2.2.0", "2.1.300", false}, {"2.1", "2.1.1", true},
		{"2.1.300-beta", "2.1.300", false}, {"", "1.0", true}, {"10.0", "9.9", false},
	} {
		if got := Older(c.a, c.b); got != c.want {
			t.Errorf("%s before %s: %v", c.a, c.b, got)
		}
	}
}
