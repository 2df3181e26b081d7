// Package program runs the real Berth for tests: it builds the headless
// program, serves a state directory, and gives the typed client of its local
// socket. Everything a test starts here it can find again by its state
// directory, also what outlived the program.
package program

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"berth/backend/api/client"
)

// Binary names a Berth that is to be tested instead of one built from the
// sources.
const Binary = "BERTH_BINARY"

// logTail bounds what is kept of a program's log, in bytes.
const logTail = 64 << 10

// Build gives the path of a headless Berth: BERTH_BINARY, or one built into
// dir from the module that the test is part of.
func Build(ctx context.Context, dir string) (string, error) {
	if path := os.Getenv(Binary); path != "" {
		return filepath.Abs(path)
	}
	path := filepath.Join(dir, "berth")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", path, "berth")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build Berth: %w\n%s", err, out)
	}
	return path, nil
}

// Ready is the line that berth serve prints.
type Ready struct {
	URL     string `json:"url"`
	Token   string `json:"token"`
	State   string `json:"state"`
	Pid     int    `json:"pid"`
	Version string `json:"version"`
}

// Program is a running berth serve, with its typed client.
type Program struct {
	*client.Client
	Ready
	// StartedIn is the time from the start to the ready line.
	StartedIn time.Duration

	cmd  *exec.Cmd
	log  *tail
	done chan struct{}
	err  error // of Wait, once done is closed
}

// Serve starts berth serve for a state directory and waits until it is ready.
// env is added to this program's environment.
func Serve(ctx context.Context, binary, state string, env ...string) (*Program, error) {
	p := &Program{cmd: exec.Command(binary, "serve"), log: &tail{}, done: make(chan struct{})}
	p.cmd.Env = append(append(os.Environ(), "BERTH_STATE="+state), env...)
	p.cmd.Stderr = p.log
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start Berth: %w", err)
	}
	type first struct {
		line []byte
		err  error
	}
	line := make(chan first, 1)
	go func() {
		r := bufio.NewReader(stdout)
		data, err := r.ReadBytes('\n')
		line <- first{data, err}
		_, _ = io.Copy(io.Discard, r) // until the program ends
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	select {
	case l := <-line:
		p.StartedIn = time.Since(began)
		if l.err == nil {
			l.err = json.Unmarshal(l.line, &p.Ready)
		}
		if l.err != nil {
			return nil, errors.Join(fmt.Errorf("start Berth: it did not become ready: %w\n%s", l.err, p.Log()), p.Kill())
		}
	case <-ctx.Done():
		return nil, errors.Join(fmt.Errorf("start Berth: it did not become ready: %w\n%s", ctx.Err(), p.Log()), p.Kill())
	}
	p.Client = client.New(state)
	return p, nil
}

// Log is the end of what the program wrote to its log.
func (p *Program) Log() string { return p.log.String() }

// Done is closed once the program has ended.
func (p *Program) Done() <-chan struct{} { return p.done }

// Kill ends the program as by SIGKILL and waits until it is gone.
func (p *Program) Kill() error {
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill Berth: %w", err)
	}
	<-p.done
	p.closeClient()
	return nil
}

// End asks the program to end and waits until it has. An exit code other
// than 0 is an error.
func (p *Program) End(ctx context.Context) error {
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop Berth: %w", err)
	}
	select {
	case <-p.done:
	case <-ctx.Done():
		return errors.Join(fmt.Errorf("end Berth: it still runs: %w", ctx.Err()), p.Kill())
	}
	p.closeClient()
	if p.err != nil {
		return fmt.Errorf("end Berth: it ended badly: %w\n%s", p.err, p.Log())
	}
	return nil
}

func (p *Program) closeClient() {
	if p.Client != nil {
		p.Client.Close()
	}
}

// tail keeps the end of what is written to it. It is safe for concurrent use.
type tail struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, err := t.buf.Write(p)
	if over := t.buf.Len() - logTail; over > 0 {
		t.buf.Next(over)
	}
	return n, err
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(t.buf.String(), "?")
}
