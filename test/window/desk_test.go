//go:build windowtest

package window

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"berth/backend/api/client"
)

const (
	// patience bounds each wait; the machine may be busy with other tests.
	patience = 30 * time.Second
	// look is how often something outside of this program is looked at.
	look = 50 * time.Millisecond
	// binary is what make build leaves, and results where pictures go.
	binary  = "../../bin/berth"
	results = "../../test-results"
)

// TestMain has a window manager and a notification service for all tests.
func TestMain(m *testing.M) {
	code := 1
	defer func() { os.Exit(code) }()
	for _, needed := range []string{"DISPLAY", "DBUS_SESSION_BUS_ADDRESS"} {
		if os.Getenv(needed) == "" {
			fmt.Fprintln(os.Stderr, "run this by test/window.sh: there is no", needed)
			return
		}
	}
	for _, service := range [][]string{{"openbox", "--sm-disable"}, {"dunst", "-conf", "/dev/null"}} {
		c := exec.Command(service[0], service[1:]...)
		if err := c.Start(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return
		}
		defer func() {
			_ = c.Process.Kill()
			_ = c.Wait()
		}()
	}
	code = m.Run()
}

// desk is a user's machine: a home, a state directory, and perhaps a window.
type desk struct {
	t           *testing.T
	home, state string
	env         []string
	window      *exec.Cmd
	output      *bytes.Buffer
	ended       chan struct{}
}

func newDesk(t *testing.T) *desk {
	d := &desk{t: t, home: t.TempDir()}
	d.state = filepath.Join(d.home, "state")
	// C.UTF-8 names no language, which once broke every page in the window.
	d.env = append(os.Environ(), "HOME="+d.home, "BERTH_STATE="+d.state, "LANG=C.UTF-8", "LC_ALL=", "XDG_DATA_HOME=", "XDG_CACHE_HOME=", "XDG_CONFIG_HOME=")
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the window said:\n%s\nthe log:\n%s", d.output, d.log())
			d.screen("failed-" + strings.ReplaceAll(t.Name(), "/", "-"))
		}
		if d.window != nil {
			d.quit()
		}
	})
	return d
}

// open starts the window and waits until its page shows something.
func (d *desk) open(args ...string) {
	d.t.Helper()
	const ready = "the page is ready"
	before := strings.Count(d.log(), ready)
	d.output = &bytes.Buffer{}
	d.window = exec.Command(binary, args...)
	d.window.Env, d.window.Stdout, d.window.Stderr = d.env, d.output, d.output
	if err := d.window.Start(); err != nil {
		d.t.Fatal(err)
	}
	d.ended = make(chan struct{})
	go func() {
		_ = d.window.Wait()
		close(d.ended)
	}()
	d.wait("the page to be ready", func() bool { return strings.Count(d.log(), ready) > before })
	d.wait("the window to be shown", d.shown)
}

// quit ends the window as a session manager does, and proves that nothing of
// it is left.
func (d *desk) quit() {
	d.t.Helper()
	if err := d.window.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
		d.t.Error(err)
	}
	d.gone()
}

// gone waits for the end of the window and of all that it started.
func (d *desk) gone() {
	d.t.Helper()
	select {
	case <-d.ended:
	case <-time.After(patience):
		d.t.Error("the window does not end")
		_ = d.window.Process.Kill()
		<-d.ended
	}
	if code := d.window.ProcessState.ExitCode(); code != 0 {
		d.t.Errorf("the window ended with %d", code)
	}
	d.window = nil
	d.wait("every process to be gone", func() bool { return len(d.processes()) == 0 })
}

// processes of this desk, found by its home, which all inherit.
func (d *desk) processes() (found []string) {
	entries, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		d.t.Fatal(err)
	}
	for _, path := range entries {
		env, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(env, []byte("HOME="+d.home+"\x00")) {
			continue
		}
		name, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "comm"))
		found = append(found, strings.TrimSpace(string(name)))
	}
	return found
}

// log of the backend, and of a window that is the client of another.
func (d *desk) log() string {
	var all []byte
	for _, name := range []string{"berth.log", "window.log"} {
		data, _ := os.ReadFile(filepath.Join(d.state, "logs", name))
		all = append(all, data...)
	}
	return string(all)
}

// wait looks until ok.
func (d *desk) wait(what string, ok func() bool) {
	d.t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	again := time.NewTicker(look)
	defer again.Stop()
	for !ok() {
		select {
		case <-again.C:
		case <-deadline.C:
			d.t.Fatalf("waited in vain for %s", what)
		}
	}
}

// run runs a program on this desk and gives what it prints.
func (d *desk) run(name string, args ...string) (string, error) {
	// Not the test's context: pictures are also taken when it has ended.
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c := exec.CommandContext(ctx, name, args...)
	c.Env = d.env
	out, err := c.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func (d *desk) must(name string, args ...string) string {
	d.t.Helper()
	out, err := d.run(name, args...)
	if err != nil {
		d.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return out
}

// background starts a program; the function ends it.
func (d *desk) background(name string, args ...string) (stop func()) {
	d.t.Helper()
	c := exec.Command(name, args...)
	c.Env = d.env
	if err := c.Start(); err != nil {
		d.t.Fatal(err)
	}
	return func() {
		_ = c.Process.Signal(os.Interrupt)
		_ = c.Wait()
	}
}

// berth runs a command of the program.
func (d *desk) berth(args ...string) string {
	d.t.Helper()
	return d.must(binary, args...)
}

func (d *desk) backend() *client.Client {
	b := client.New(d.state)
	d.t.Cleanup(b.Close)
	return b
}

// id of the window that is to be seen, empty if there is none.
func (d *desk) id() string {
	out, err := d.run("xdotool", "search", "--onlyvisible", "--name", "^Berth$")
	if err != nil {
		return ""
	}
	lines := strings.Fields(out)
	return lines[len(lines)-1]
}

func (d *desk) shown() bool { return d.id() != "" }

func (d *desk) active() bool {
	out, err := d.run("xdotool", "getactivewindow")
	return err == nil && out == d.id()
}

// keys presses keys in the window.
func (d *desk) keys(keys ...string) {
	d.t.Helper()
	d.must("xdotool", append([]string{"key", "--delay", "40"}, keys...)...)
}

func (d *desk) write(text string) {
	d.t.Helper()
	d.must("xdotool", "type", "--delay", "15", text)
}

// geometry of the window's content: x, y, width, height.
func (d *desk) geometry() (g [4]int) {
	d.t.Helper()
	for line := range strings.Lines(d.must("xdotool", "getwindowgeometry", "--shell", d.id())) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		n, _ := strconv.Atoi(value)
		switch name {
		case "X":
			g[0] = n
		case "Y":
			g[1] = n
		case "WIDTH":
			g[2] = n
		case "HEIGHT":
			g[3] = n
		}
	}
	return g
}

// sight is what is to be seen in a picture: how bright it is, from 0 to 1, and
// how many colours.
type sight struct {
	bright  float64
	colours int
}

// picture keeps a picture of the window and tells what is to be seen in it.
func (d *desk) picture(name string) sight {
	d.t.Helper()
	return d.pictureOf(d.id(), name)
}

// screen keeps a picture of all that is shown.
func (d *desk) screen(name string) {
	d.t.Helper()
	d.pictureOf("root", name)
}

func (d *desk) pictureOf(target, name string) sight {
	d.t.Helper()
	if err := os.MkdirAll(results, 0o755); err != nil {
		d.t.Fatal(err)
	}
	path := filepath.Join(results, "window-"+name+".png")
	if out, err := d.run("import", "-window", target, path); err != nil {
		d.t.Logf("no picture: %v %s", err, out)
		return sight{}
	}
	f, err := os.Open(path)
	if err != nil {
		d.t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		d.t.Fatal(err)
	}
	seen := map[[3]uint32]bool{}
	var sum, n float64
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y++ {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x++ {
			r, g, b, _ := img.At(x, y).RGBA()
			seen[[3]uint32{r, g, b}] = true
			sum += float64(r+g+b) / (3 * 0xffff)
			n++
		}
	}
	return sight{sum / n, len(seen)}
}

// notifications asks the notification service for what it has shown.
func (d *desk) notifications() []string {
	d.t.Helper()
	var history struct {
		Data [][]struct {
			Summary struct{ Data string }
		}
	}
	out, err := d.run("dunstctl", "history")
	if err != nil || json.Unmarshal([]byte(out), &history) != nil {
		return nil
	}
	var titles []string
	for _, group := range history.Data {
		for _, n := range group {
			titles = append(titles, n.Summary.Data)
		}
	}
	return titles
}
