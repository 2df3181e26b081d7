package codex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	"berth/backend/process"
	"berth/backend/provider"
	"berth/backend/provider/wire"
)

// server is one app-server process and the conversations on it.
type server struct {
	host       provider.Host
	path       string
	generation int

	ready    chan struct{} // closed when it can be used, or startErr is set
	startErr error
	ended    chan struct{} // closed when its output has ended
	gone     chan struct{} // closed when nothing of it is left

	refs int         // of the Driver
	idle func() bool // of the Driver: stops the timer of an unused process

	rpc *wire.RPC

	mu       sync.Mutex
	proc     process.Process
	over     bool                // ended, or about to
	reason   *provider.Error     // why we ended it
	sessions map[string]*session // by thread, those of sub-agents too
	garbage  int                 // lines in a row that are not of the protocol
	lastLine string              // of them
	limits   rateLimits
}

func newServer(host provider.Host, path string, generation int) *server {
	return &server{
		host: host, path: path, generation: generation,
		ready: make(chan struct{}), ended: make(chan struct{}), gone: make(chan struct{}),
		sessions: map[string]*session{},
	}
}

// run is the life of the process, from its start until nothing is left of it.
func (s *server) run() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stop := s.host.Clock.AfterFunc(startLimit, cancel)
	err := s.start(ctx)
	stop()
	if err != nil {
		s.startErr = err
		s.retire(nil)
		close(s.ready)
		s.finish()
		return
	}
	close(s.ready)
	<-s.ended
	s.markOver(nil)
	s.finish() // before conversations are told: they may be opened anew at once
	end := s.closed()
	for _, session := range s.all() {
		session.end(end)
	}
}

// finish ends what is left of the process and waits for the end of reading.
func (s *server) finish() {
	s.mu.Lock()
	proc := s.proc
	s.mu.Unlock()
	if proc != nil {
		stopProcess(proc)
		<-s.ended
	}
}

// stopProcess ends a process within bounds.
func stopProcess(p process.Process) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*signalGrace)
	defer cancel()
	_ = p.Stop(ctx, signalGrace) // the supervisor keeps what it could not end on record
}

// start starts the process and shakes hands.
func (s *server) start(ctx context.Context) error {
	proc, err := s.host.Processes.Start(ctx, process.Spec{
		Path: s.path,
		// Goals would let Codex begin turns that nobody sent.
		Args: []string{"app-server", "--disable", "goals"},
		Dir:  workingDir(), Env: s.host.Env, Label: Name,
	})
	if err != nil {
		return startError(err, "")
	}
	s.rpc = wire.NewRPC(wire.NewLines(proc.Stdout(), proc.Stdin(), 0), "")
	s.mu.Lock()
	s.proc = proc
	over := s.over
	s.mu.Unlock()
	go func() {
		defer close(s.ended)
		_ = s.rpc.Run(s.dispatch, s.stray) // the process's own last words say more than the reading error
	}()
	if over {
		return startError(errors.New("the backend is ending"), "")
	}
	if err := s.call(ctx, "initialize", initializeParams(s.host.Version), nil); err != nil {
		return startError(err, s.lastWords())
	}
	if err := s.rpc.Notify(ctx, "initialized", struct{}{}); err != nil {
		return startError(err, s.lastWords())
	}
	return nil
}

// workingDir is a folder that belongs to no project: Codex reads settings
// from the one it is started in.
func workingDir() string {
	if home, err := os.UserHomeDir(); err == nil {
		return home
	}
	return os.TempDir()
}

// unheard are notifications that no conversation here uses; the diff of the
// whole turn is large and sent anew with each edit.
var unheard = []string{
	"turn/diff/updated", "thread/settings/updated", "thread/readState/changed", "remoteControl/status/changed",
	"app/list/updated", "thread/name/updated", "turn/moderationMetadata",
}

func initializeParams(version string) any {
	return map[string]any{
		"clientInfo":   map[string]any{"name": "berth", "title": "Berth", "version": version},
		"capabilities": map[string]any{"experimentalApi": true, "requestAttestation": false, "optOutNotificationMethods": unheard},
	}
}

func startError(err error, lastWords string) *provider.Error {
	detail := lastWords
	if detail == "" {
		detail = err.Error()
	}
	return &provider.Error{Code: "start_failed", Text: "Codex could not be started.", Detail: clip(detail, maxText), Err: err}
}

// isOver says whether the process has ended or is about to.
func (s *server) isOver() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.over
}

// markOver keeps new conversations away; the first reason counts.
func (s *server) markOver(reason *provider.Error) process.Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.over, s.reason = true, reason
	}
	return s.proc
}

// retire ends the process. Conversations on it are told the reason, or that
// it was closed for nil.
func (s *server) retire(reason *provider.Error) {
	if proc := s.markOver(reason); proc != nil {
		go stopProcess(proc)
	}
}

// closed says why the process ended.
func (s *server) closed() *provider.Closed {
	s.mu.Lock()
	proc, reason := s.proc, s.reason
	s.mu.Unlock()
	end := &provider.Closed{Stderr: plain(proc.StderrTail()), Err: reason}
	select {
	case <-proc.Done():
		if exit := proc.Exit(); exit.Code >= 0 {
			end.ExitCode = &exit.Code
		}
	default:
	}
	if end.Err == nil {
		end.Err = &provider.Error{Code: "agent_ended", Text: "Codex ended unexpectedly.", Detail: s.lastWords(), Action: "send_again"}
	}
	return end
}

// lastWords are the process's own: of stderr, else what it printed instead of
// the protocol, else how it exited.
func (s *server) lastWords() string {
	s.mu.Lock()
	proc, garbage := s.proc, s.lastLine
	s.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(plain(proc.StderrTail())), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		// Warnings of the start are there each time.
		if line := strings.TrimSpace(lines[i]); line != "" && !strings.HasPrefix(line, "WARNING:") {
			return clip(line, maxText)
		}
	}
	if garbage != "" {
		return garbage
	}
	select {
	case <-proc.Done():
		exit := proc.Exit()
		if exit.Signal != "" {
			return "signal " + exit.Signal
		}
		return fmt.Sprintf("exit code %d", exit.Code)
	default:
		return ""
	}
}

// escapes are terminal colours.
var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

// plain is text without colours.
func plain(s string) string { return escapes.ReplaceAllString(s, "") }

// stray takes a line that is not of the protocol. Many in a row mean that
// this is not Codex.
func (s *server) stray(line []byte) {
	s.mu.Lock()
	s.garbage++
	s.lastLine = clip(string(line), maxText)
	tooMany := s.garbage == maxGarbage
	s.mu.Unlock()
	if tooMany {
		s.retire(&provider.Error{
			Code: "protocol", Text: fmt.Sprintf("Codex does not speak its protocol: %d lines in a row were something else.", maxGarbage),
			Detail: clip(string(line), maxText),
		})
	}
}

// call sends a request and waits for the reply, at most until ctx ends: a
// write that a stuck process holds up goes on and may yet arrive. result must
// not be read when there was an error.
func (s *server) call(ctx context.Context, method string, params, result any) error {
	done := make(chan error, 1)
	go func() {
		_, err := s.rpc.Call(ctx, method, params, result)
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// within calls with a limit of its own.
func (s *server) within(ctx context.Context, limit time.Duration, method string, params, result any) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := s.host.Clock.AfterFunc(limit, cancel)
	defer stop()
	if err := s.call(ctx, method, params, result); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	return nil
}

// reply answers a request of Codex without holding up the caller.
func (s *server) reply(id json.RawMessage, result any) {
	go func() { _ = s.rpc.Reply(context.Background(), id, result) }() // it fails only when the process has ended
}
