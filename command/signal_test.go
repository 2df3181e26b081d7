//go:build unix

package command

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience bounds waits for a program that starts or ends.
const patience = 30 * time.Second

// program is Berth as a process of its own.
type program struct {
	t      *testing.T
	cmd    *exec.Cmd
	stderr *bufio.Reader
	done   chan error
}

func start(t *testing.T, state string, args ...string) *program {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &program{t: t, cmd: exec.Command(self, args...), done: make(chan error, 1)}
	p.cmd.Env = append(os.Environ(), asProgram+"=1", StateEnv+"="+state)
	errs, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.stderr = bufio.NewReader(errs)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if p.cmd.ProcessState == nil {
			_ = p.cmd.Process.Kill()
			_ = p.cmd.Wait()
		}
	})
	return p
}

// says reads standard error until a line holds text.
func (p *program) says(text string) {
	p.t.Helper()
	deadline := time.AfterFunc(patience, func() { _ = p.cmd.Process.Kill() })
	defer deadline.Stop()
	for {
		line, err := p.stderr.ReadString('\n')
		if strings.Contains(line, text) {
			return
		}
		if err != nil {
			p.t.Fatalf("it never said %q: %v", text, err)
		}
	}
}

func (p *program) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// code waits for the end and gives the exit code.
func (p *program) code() int {
	p.t.Helper()
	deadline := time.AfterFunc(patience, func() { _ = p.cmd.Process.Kill() })
	defer deadline.Stop()
	if _, err := io.Copy(io.Discard, p.stderr); err != nil {
		p.t.Error(err)
	}
	var exit *exec.ExitError
	if err := p.cmd.Wait(); err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	return p.cmd.ProcessState.ExitCode()
}

// askSlowly asks for something that takes long and waits until it runs.
func askSlowly(t *testing.T, state string) *program {
	t.Helper()
	p := start(t, state, "ask", "--agent", "demo", "--cwd", t.TempDir(), "--approve", "none", "/slow 600")
	deadline := time.Now().Add(patience)
	for {
		if r := berth(t, state, "", "chats"); strings.Contains(r.out, "running") {
			return p
		}
		if time.Now().After(deadline) {
			t.Fatal("the turn does not run")
		}
	}
}

func TestCtrlCTwiceStopsTheTurn(t *testing.T) {
	state := t.TempDir()
	p := askSlowly(t, state)
	p.signal(os.Interrupt)
	p.says("Press Ctrl-C again")
	if r := berth(t, state, "", "chats"); !strings.Contains(r.out, "running") {
		t.Errorf("the first Ctrl-C stopped it: %s", r.out)
	}
	p.signal(os.Interrupt)
	if code := p.code(); code != exitStopped {
		t.Errorf("code %d, want %d", code, exitStopped)
	}
	if r := berth(t, state, "", "chats"); r.code != exitFailed {
		t.Error("the backend of ask stays although nothing needs it")
	}
}

func TestStopFromElsewhereEndsAsk(t *testing.T) {
	state := t.TempDir()
	p := askSlowly(t, state)
	id, _, _ := strings.Cut(berth(t, state, "", "chats").out, " ")
	if r := berth(t, state, "", "stop", id); r.code != 0 {
		t.Errorf("stop: code %d: %s", r.code, r.err)
	}
	if code := p.code(); code != exitStopped {
		t.Errorf("code %d, want %d", code, exitStopped)
	}
}

func TestAskStaysWhileItsBackendIsNeeded(t *testing.T) {
	state := t.TempDir()
	p := askSlowly(t, state)
	id, _, _ := strings.Cut(berth(t, state, "", "chats").out, " ")
	watching := start(t, state, "watch")
	if r := berth(t, state, "", "stop", id); r.code != 0 {
		t.Errorf("stop: code %d: %s", r.code, r.err)
	}
	// The turn has ended, but somebody is connected.
	if r := berth(t, state, "", "send", id, "/slow 1"); r.code != 0 {
		t.Errorf("the backend left a client alone: %s", r.err)
	}
	watching.signal(os.Interrupt)
	if code := watching.code(); code != 0 {
		t.Errorf("watch ended with %d", code)
	}
	if code := p.code(); code != exitStopped {
		t.Errorf("ask ended with %d, want that of its own turn", code)
	}
}

func TestServeEndsOnSIGTERM(t *testing.T) {
	state := t.TempDir()
	p := start(t, state, "serve")
	p.says("start")
	deadline := time.Now().Add(patience)
	for berth(t, state, "", "chats").code != 0 {
		if time.Now().After(deadline) {
			t.Fatal("serve is not ready")
		}
	}
	p.signal(syscall.SIGTERM)
	if code := p.code(); code != 0 {
		t.Errorf("code %d", code)
	}
}
