package client

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"go.uber.org/goleak"

	"berth/backend/api"
	"berth/backend/artifact"
	"berth/backend/event"
	"berth/backend/instance"
	"berth/backend/settings"
	"berth/backend/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// backend serves the features that need no agent on the local socket of a
// state directory, until stop is called.
type backend struct {
	state   string
	phrases *settings.Phrases
	stop    func()
}

func (b *backend) Health() api.Health {
	return api.Health{Version: "1.2.3", State: b.state, Admission: api.Admission{State: "open"}}
}

func start(t *testing.T) *backend {
	t.Helper()
	ctx := context.Background()
	b := &backend{state: t.TempDir()}
	lock, err := instance.Acquire(b.state)
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(ctx, filepath.Join(b.state, "berth.db"))
	if err != nil {
		t.Fatal(err)
	}
	hub, err := event.NewHub(ctx, db)
	if err != nil {
		t.Fatal(err)
	}
	files, err := artifact.Open(ctx, db, filepath.Join(b.state, "files"))
	if err != nil {
		t.Fatal(err)
	}
	b.phrases = settings.NewPhrases(db, event.NewLog(db, hub))
	handler := api.New(api.Features{Backend: b, Hub: hub, Files: files, Phrases: b.phrases})
	listener, path, err := lock.Listen()
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Announce(instance.Record{Socket: path}); err != nil {
		t.Fatal(err)
	}
	server := handler.LocalServer(func(int) bool { return false })
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	}()
	var stopped bool
	b.stop = func() {
		if stopped {
			return
		}
		stopped = true
		handler.Close()
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		if err := errors.Join(server.Shutdown(ctx), db.Close(), lock.Release()); err != nil {
			t.Error(err)
		}
		<-done
	}
	t.Cleanup(b.stop)
	return b
}

func (b *backend) client(t *testing.T) *Client {
	c := New(b.state)
	t.Cleanup(c.Close)
	return c
}

func TestNoBackend(t *testing.T) {
	c := New(t.TempDir())
	defer c.Close()
	if _, err := c.Health(context.Background()); !errors.Is(err, instance.ErrNone) {
		t.Errorf("%v", err)
	}
	b := start(t)
	c = b.client(t)
	if h, err := c.Health(context.Background()); err != nil || h.Version != "1.2.3" {
		t.Errorf("%+v, %v", h, err)
	}
	b.stop()
	if _, err := c.Health(context.Background()); !errors.Is(err, instance.ErrNone) {
		t.Errorf("after its end: %v", err)
	}
}

func TestProblemsAreErrors(t *testing.T) {
	c := start(t).client(t)
	var p *api.Problem
	if err := c.FocusWindow(context.Background(), ""); !errors.As(err, &p) || p.Code != "no_window" || p.Status != 409 {
		t.Errorf("%v", err)
	}
	if err := c.Download(context.Background(), "../../health", io.Discard); !errors.As(err, &p) || p.Status != 404 {
		t.Errorf("an id with slashes: %v", err)
	}
}

func TestUploadAndDownload(t *testing.T) {
	c, ctx := start(t).client(t), context.Background()
	content := bytes.Repeat([]byte("0123456789abcdef"), (2*pieceSize+1000)/16)
	u, err := c.Upload(ctx, "notes.md", "", int64(len(content)), bytes.NewReader(content))
	if err != nil || !u.Complete || u.Type != "text/markdown" {
		t.Fatalf("%+v, %v", u, err)
	}
	var got bytes.Buffer
	if err := c.Download(ctx, u.ID, &got); err != nil || !bytes.Equal(got.Bytes(), content) {
		t.Errorf("%d bytes came back of %d, %v", got.Len(), len(content), err)
	}
	if _, err := c.Upload(ctx, "short", "", 10, strings.NewReader("abc")); err == nil || !strings.Contains(err.Error(), "3 of 10") {
		t.Errorf("a file that ends early: %v", err)
	}
	if _, err := c.Upload(ctx, "broken", "", 10, iotest.ErrReader(io.ErrNoProgress)); err == nil {
		t.Error("a file that cannot be read: no error")
	}
}

func TestStream(t *testing.T) {
	b := start(t)
	c, ctx := b.client(t), context.Background()
	s := c.Follow("test", "", "chat_none")
	first, err := s.Next(ctx)
	if err != nil || first.Next == "" {
		t.Fatalf("%+v, %v", first, err)
	}
	if _, err := b.phrases.Create(ctx, settings.NewPhrase{Text: "a"}); err != nil {
		t.Fatal(err)
	}
	var got []event.Type
	for len(got) == 0 {
		batch, err := s.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range batch.Events {
			got = append(got, e.Type)
		}
	}
	if len(got) != 1 || got[0] != event.TypePhrases {
		t.Errorf("told %v", got)
	}
	ending, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := s.Next(ending); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
