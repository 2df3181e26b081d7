package instance

import (
	"bufio"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestMain lets the test binary be another process that holds a lock.
func TestMain(m *testing.M) {
	if state := os.Getenv("BERTH_TEST_HOLD"); state != "" {
		holdUntilStdinEnds(state)
		return
	}
	os.Exit(m.Run())
}

func holdUntilStdinEnds(state string) {
	l, err := Acquire(state)
	if err != nil {
		println(err.Error())
		os.Exit(1)
	}
	socket, path, err := l.Listen()
	if err != nil {
		println(err.Error())
		os.Exit(1)
	}
	if err := l.Announce(Record{Pid: os.Getpid(), StartedAt: time.Now().UTC(), Version: "test", Kind: "serve", Socket: path}); err != nil {
		println(err.Error())
		os.Exit(1)
	}
	go func() {
		for {
			c, err := socket.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	os.Stdout.WriteString("held\n")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
}

// holder starts another process that holds the lock of state, and returns a
// function that kills it.
func holder(t *testing.T, state string) (pid int, kill func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "BERTH_TEST_HOLD="+state)
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
	t.Cleanup(kill)
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("the other process did not hold the lock: %q, %v", line, err)
	}
	return cmd.Process.Pid, kill
}

func TestOneBackendForAStateDirectory(t *testing.T) {
	state := t.TempDir()
	pid, kill := holder(t, state)
	if _, err := Acquire(state); !errors.Is(err, ErrHeld) {
		t.Fatalf("acquired beside another backend: %v", err)
	}
	r, err := Read(state)
	if err != nil || r.Pid != pid || r.Kind != "serve" || r.StartedAt.IsZero() {
		t.Fatalf("the record names %+v, %v; want pid %d", r, err, pid)
	}
	c, err := Dial(context.Background(), state)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()

	// A killed backend leaves record and socket behind, and holds nothing up.
	kill()
	if _, err := Dial(context.Background(), state); !errors.Is(err, ErrNone) {
		t.Fatalf("a dead backend answers: %v", err)
	}
	l, err := Acquire(state)
	if err != nil {
		t.Fatal(err)
	}
	socket, path, err := l.Listen()
	if err != nil {
		t.Fatalf("the socket of a killed backend is in the way: %v", err)
	}
	socket.Close()
	if r.Socket != path {
		t.Errorf("the socket moved from %s to %s", r.Socket, path)
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(state); !errors.Is(err, ErrNone) {
		t.Errorf("a released state directory still names a backend: %v", err)
	}
	again, err := Acquire(state)
	if err != nil {
		t.Fatalf("released, but not to be had: %v", err)
	}
	if err := again.Release(); err != nil {
		t.Fatal(err)
	}
}

func acquire(t *testing.T, state string) *Lock {
	t.Helper()
	l, err := Acquire(state)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Release() })
	return l
}

func TestSocketOfALongPath(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the runtime directory is that of Unix systems")
	}
	runtimeDir := filepath.Join("/tmp", "berth-test-"+filepath.Base(t.TempDir())+strings.Repeat("r", 3))
	t.Cleanup(func() { os.RemoveAll(runtimeDir) })
	t.Setenv("XDG_RUNTIME_DIR", runtimeDir)
	state := filepath.Join(t.TempDir(), strings.Repeat("deep/", 30))
	socket, path, err := acquire(t, state).Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	if len(path) > maxSocketPath || !strings.HasPrefix(path, runtimeDir) {
		t.Fatalf("the socket is at %s (%d bytes)", path, len(path))
	}
	info, err := os.Stat(filepath.Dir(path))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("its directory is %v, %v; want 0700", info.Mode(), err)
	}
}

func TestSocketDirectoryIsPrivate(t *testing.T) {
	state := t.TempDir()
	if err := os.Mkdir(filepath.Join(state, runDir), 0o777); err != nil {
		t.Fatal(err)
	}
	l := acquire(t, state)
	socket, path, err := l.Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	if runtime.GOOS == "windows" {
		return // access lists of the profile directory
	}
	for p, want := range map[string]os.FileMode{filepath.Dir(path): 0o700, path: 0o600} {
		if info, err := os.Stat(p); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s is %v, %v; want %v", p, info.Mode().Perm(), err, want)
		}
	}
}

func TestSomethingElseInTheSocketsPlaceIsKept(t *testing.T) {
	state := t.TempDir()
	l := acquire(t, state)
	path := filepath.Join(state, runDir, socketFile)
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := l.Listen(); err == nil {
		t.Fatal("listened in place of a file")
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "precious" {
		t.Fatalf("the file is %q, %v", text, err)
	}
}

func TestToken(t *testing.T) {
	state := t.TempDir()
	l := acquire(t, state)
	first, err := l.Token(false)
	if err != nil || !validToken(first) {
		t.Fatalf("token %q, %v", first, err)
	}
	if same, err := l.Token(false); err != nil || same != first {
		t.Errorf("the token did not stay: %q, %v", same, err)
	}
	rotated, err := l.Token(true)
	if err != nil || rotated == first || !validToken(rotated) {
		t.Errorf("rotated to %q, %v", rotated, err)
	}
	path := filepath.Join(state, runDir, tokenFile)
	if err := os.WriteFile(path, []byte("cut of"), 0o644); err != nil {
		t.Fatal(err)
	}
	mended, err := l.Token(false)
	if err != nil || !validToken(mended) {
		t.Errorf("a cut off token became %q, %v", mended, err)
	}
	if info, err := os.Stat(path); runtime.GOOS != "windows" && (err != nil || info.Mode().Perm() != 0o600) {
		t.Errorf("the token file is %v, %v", info.Mode(), err)
	}
}

func TestPeerIsThisProcess(t *testing.T) {
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	served, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer served.Close()
	p, err := PeerOf(served)
	if err != nil || p.Pid != os.Getpid() || !p.SameUser {
		t.Fatalf("the peer is %+v, %v", p, err)
	}
	if _, err := PeerOf(nil); err == nil {
		t.Error("a connection that is not local has a peer")
	}
}
