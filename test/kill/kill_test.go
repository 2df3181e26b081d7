package kill

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Texts that make the demo agent take its time, and ask for permission.
const (
	demoSlow = "/slow 3"
	demoAsk  = "/edit"
)

// TestDemo strikes every point with the demo agent.
func TestDemo(t *testing.T) {
	struck := map[string]bool{}
	points := sourcePoints(t)
	all := strikes(points)
	for _, s := range all {
		t.Run(s.name(), func(t *testing.T) {
			w := &world{t: t, state: newState(t), name: agentName, atAgent: true, slow: demoSlow, ask: demoAsk}
			w.agent = installRecorder(t, w.state)
			w.strike(s, sampleFolder(t))
			struck[s.point] = true
		})
	}
	t.Logf("%d points, %d deaths", len(struck), len(all))
	if filter := flag.Lookup("test.run").Value.String(); filter == "" && len(struck) < len(points) {
		t.Errorf("%d of %d points were struck", len(struck), len(points))
	}
}

// newState makes an empty state directory.
func newState(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "berth-kill-state-") // short: a socket lives in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// sampleFolder has a file for the demo agent to read and edit.
func sampleFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "README.md"), []byte("# Sample\n\nA text.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// strike plays a death and holds the rules against what is left.
func (w *world) strike(s strike, dir string) {
	armed := s.point + s.n
	if s.after != "" {
		armed = s.after
	}
	w.serve(armed)
	w.createChat(dir)
	w.follow()
	w.play(s.script)
	w.awaitDeath()
	w.unfollow()
	if s.after != "" {
		w.program = nil
		w.serve(s.point)
		w.awaitDeath()
	}
	before := w.follower.events

	began := time.Now()
	w.serve("")
	w.follow()
	for _, m := range w.messages { // as a page does that got no reply
		w.post(m)
	}
	w.settle()
	w.t.Logf("back and settled in %d ms", time.Since(began).Milliseconds())
	w.atMostOnce()
	w.goOn()
	w.caughtUp()
	w.unfollow()
	w.stop()
	w.checkLog(before)
}

// atMostOnce is rule 3, by what the agent received.
func (w *world) atMostOnce() {
	w.t.Helper()
	for _, m := range w.messages {
		if n, err := w.agent.received(m.text); err != nil || n > 1 {
			w.t.Errorf("the agent received %q %d times, %v", m.text, n, err)
		}
	}
}

// caughtUp waits until the follower has what the log has.
func (w *world) caughtUp() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	b, err := w.program.Follow("end", "").Next(ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(w.unfollow)
	w.eventually("the follower has caught up", func() (bool, error) {
		return w.follower.at() == b.Next, nil
	}, func() string { return "it is at " + w.follower.at() + ", the log at " + b.Next })
}
