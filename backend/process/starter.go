package process

import "runtime"

// starter runs functions one after the other on one thread of the system. A
// child is killed by Linux when the thread that started it ends, not when the
// program does: so all are started on a thread that lives as long as the
// supervisor.
type starter struct {
	work chan func()
	done chan struct{}
}

func newStarter() *starter {
	s := &starter{work: make(chan func()), done: make(chan struct{})}
	go func() {
		defer close(s.done)
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		for f := range s.work {
			f()
		}
	}()
	return s
}

// do runs f on the thread and returns when it has.
func (s *starter) do(f func()) {
	ran := make(chan struct{})
	s.work <- func() { defer close(ran); f() }
	<-ran
}

// close ends the thread. Nothing may be started any more.
func (s *starter) close() {
	close(s.work)
	<-s.done
}
