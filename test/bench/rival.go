package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"berth/test/clis"
	"berth/test/modelserver"
)

// rival is what a user would pick instead: opencode serve, with the model
// server behind it.
type rival struct {
	model     *modelserver.Server
	cmd       *exec.Cmd
	url       string
	path      string
	startedIn time.Duration
}

func startRival(ctx context.Context, dir string) (*rival, error) {
	path, err := clis.Find("opencode")
	if err != nil {
		return nil, err
	}
	model, err := modelserver.Start()
	if err != nil {
		return nil, err
	}
	home := filepath.Join(dir, "opencode")
	if err := os.Mkdir(home, 0o700); err != nil {
		return nil, err
	}
	env, err := model.OpenCode(home)
	if err != nil {
		return nil, errors.Join(err, model.Close())
	}
	r := &rival{model: model, path: path}
	// Twice: the first start makes its database and is no measure.
	for range 2 {
		if r.cmd != nil {
			if err := r.end(); err != nil {
				return nil, errors.Join(err, model.Close())
			}
		}
		if err := r.start(ctx, home, env); err != nil {
			return nil, errors.Join(err, model.Close())
		}
	}
	return r, nil
}

// listening is what opencode serve prints when it is ready, before its
// address.
const listening = "listening on "

func (r *rival) start(ctx context.Context, home string, env []string) error {
	r.cmd = exec.Command(r.path, "serve", "--hostname", "127.0.0.1", "--port", "0")
	r.cmd.Dir, r.cmd.Env = home, append(os.Environ(), env...)
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	began := time.Now()
	if err := r.cmd.Start(); err != nil {
		return err
	}
	ready := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if _, address, ok := strings.Cut(lines.Text(), listening); ok {
				ready <- strings.TrimSpace(address)
			}
		}
		close(ready)
	}()
	select {
	case url, ok := <-ready:
		if !ok {
			return errors.Join(errors.New("it ended before it was ready"), r.end())
		}
		r.url, r.startedIn = url, time.Since(began)
		return nil
	case <-time.After(time.Minute):
		return errors.Join(errors.New("it was not ready within a minute"), r.end())
	case <-ctx.Done():
		return errors.Join(ctx.Err(), r.end())
	}
}

func (r *rival) end() error {
	if err := r.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	_ = r.cmd.Wait() // killed: the error says so
	return nil
}

func (r *rival) close() error { return errors.Join(r.end(), r.model.Close()) }

// relay streams in so many sessions at once and gives how long each piece took
// from the model server to a reader of opencode's event stream.
func (r *rival) relay(ctx context.Context, sessions, pace int) ([]time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(relayWords*pace)*time.Millisecond+2*time.Minute)
	defer cancel()
	got := newTimes(relayWords * sessions)
	idle := make(chan struct{}, 4*sessions)
	if err := r.follow(ctx, got, idle); err != nil {
		return nil, err
	}
	var ids []string
	for range sessions {
		var made struct {
			ID string `json:"id"`
		}
		if err := r.post(ctx, "/session", map[string]any{}, &made); err != nil {
			return nil, err
		}
		ids = append(ids, made.ID)
	}
	// Each session answers once before it is measured, as Berth's chats do.
	for _, text := range []string{"Warm up.", modelserver.Directive(modelserver.Step{Scenario: "clock", Words: relayWords, MS: pace})} {
		for _, id := range ids {
			body := map[string]any{"parts": []any{map[string]any{"type": "text", "text": text}}}
			if err := r.post(ctx, "/session/"+id+"/prompt_async", body, nil); err != nil {
				return nil, err
			}
		}
		got.streaming()
		for range ids {
			select {
			case <-idle:
			case <-ctx.Done():
				return nil, fmt.Errorf("wait for the sessions: %w", ctx.Err())
			}
		}
	}
	return got.wait(ctx)
}

// follow reads opencode's event stream until ctx ends.
func (r *rival) follow(ctx context.Context, got *times, idle chan<- struct{}) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url+"/event", nil)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req) //nolint:bodyclose // by its reader
	if err != nil {
		return err
	}
	go func() {
		defer res.Body.Close()
		lines := bufio.NewScanner(res.Body)
		lines.Buffer(nil, 16<<20)
		for lines.Scan() {
			data, ok := strings.CutPrefix(lines.Text(), "data: ")
			if !ok {
				continue
			}
			var e struct {
				Type       string `json:"type"`
				Properties struct {
					Delta string `json:"delta"`
				} `json:"properties"`
			}
			if json.Unmarshal([]byte(data), &e) != nil {
				continue
			}
			switch e.Type {
			case "message.part.delta":
				got.text(e.Properties.Delta)
			case "session.idle":
				idle <- struct{}{}
			}
		}
	}()
	return nil
}

func (r *rival) post(ctx context.Context, path string, in, out any) error {
	data, err := json.Marshal(in)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url+path, bytes.NewReader(data))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode >= 300 {
		return fmt.Errorf("%s: %s", path, res.Status)
	}
	if out == nil {
		_, err = io.Copy(io.Discard, res.Body)
		return err
	}
	return json.NewDecoder(res.Body).Decode(out)
}
