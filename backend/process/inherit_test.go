//go:build unix

package process

import (
	"io"
	"os"
	"syscall"
	"testing"
	"time"
)

// The window's toolkit answers its page through pipes that are not marked as
// close-on-exec. An agent that began at the wrong moment held a copy, and the
// page waited for the end of an answer as long as that agent lived.
func TestChildrenKeepNoDescriptorOpen(t *testing.T) {
	s := newSupervisor(t)
	var fds [2]int
	if err := syscall.Pipe(fds[:]); err != nil { // without close-on-exec
		t.Fatal(err)
	}
	r, w := os.NewFile(uintptr(fds[0]), "reader"), os.NewFile(uintptr(fds[1]), "writer")
	defer r.Close()
	p, err := s.Start(t.Context(), shell("sleep 600"))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := io.ReadAll(r)
		ended <- err
	}()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-p.Done():
		t.Error("the child has ended; nothing is proven")
	case <-time.After(patience):
		t.Error("a child keeps the pipe open")
		_ = p.Stop(t.Context(), time.Second)
		<-ended
	}
	if err := p.Stop(t.Context(), time.Second); err != nil {
		t.Error(err)
	}
}
