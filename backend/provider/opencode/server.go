package opencode

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"berth/backend/process"
	"berth/backend/provider"
	"berth/backend/provider/wire"
)

// server is one `opencode serve`. It is used by sessions, and ends when it
// has had none for a while.
type server struct {
	host provider.Host
	path string
	gone func(*server) // the driver forgets it

	starting context.Context // ends when the start is given up
	giveUp   context.CancelFunc
	ready    chan struct{} // closed when started or failed
	failure  *provider.Error
	proc     process.Process
	url      string
	password string
	http     *http.Client

	mu     sync.Mutex
	users  int
	ending bool
	timer  func() bool
}

func newServer(host provider.Host, path string, gone func(*server)) *server {
	starting, giveUp := context.WithCancel(context.Background())
	return &server{
		host: host, path: path, gone: gone, ready: make(chan struct{}), starting: starting, giveUp: giveUp,
		// Straight to loopback, whatever proxy the environment names.
		http: &http.Client{Transport: &http.Transport{Proxy: nil, MaxIdleConnsPerHost: 4}},
	}
}

// serverKey tells servers apart that must not be shared.
func serverKey(path string, env []string) string { return path + "\x00" + strings.Join(env, "\x00") }

// use counts one more user; false when the server is ending.
func (srv *server) use() bool {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	if srv.ending || srv.dead() {
		return false
	}
	srv.users++
	if srv.timer != nil {
		srv.timer()
		srv.timer = nil
	}
	return true
}

// dead says whether the process has ended.
func (srv *server) dead() bool {
	select {
	case <-srv.ready:
	default:
		return false // it is starting
	}
	if srv.proc == nil {
		return true
	}
	select {
	case <-srv.proc.Done():
		return true
	default:
		return false
	}
}

// release counts one less; the last one lets the server end soon.
func (srv *server) release() {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	srv.users--
	if srv.users > 0 || srv.ending {
		return
	}
	srv.timer = srv.host.Clock.AfterFunc(linger, func() {
		srv.mu.Lock()
		unused := srv.users == 0 && !srv.ending
		srv.ending = srv.ending || unused
		srv.mu.Unlock()
		if unused {
			srv.end()
		}
	})
}

// stop ends the server now.
func (srv *server) stop(ctx context.Context) error {
	srv.mu.Lock()
	srv.ending = true
	if srv.timer != nil {
		srv.timer()
		srv.timer = nil
	}
	srv.mu.Unlock()
	srv.giveUp()
	select {
	case <-srv.ready:
	case <-ctx.Done():
		return ctx.Err()
	}
	srv.gone(srv)
	srv.http.CloseIdleConnections()
	if srv.proc == nil {
		return nil
	}
	return srv.proc.Stop(ctx, stopGrace)
}

func (srv *server) end() {
	ctx, cancel := context.WithTimeout(context.Background(), 3*stopGrace)
	defer cancel()
	_ = srv.stop(ctx)
}

// start starts the process and waits for its address.
func (srv *server) start() {
	defer close(srv.ready)
	ctx := srv.starting
	timeout := srv.host.Clock.AfterFunc(startTimeout, srv.giveUp)
	defer timeout()
	env, err := srv.environment()
	if err == nil {
		srv.proc, err = srv.host.Processes.Start(ctx, process.Spec{
			Path: srv.path, Args: []string{"serve", "--hostname", "127.0.0.1", "--port", "0"},
			Dir: srv.dir(), Env: env, Label: Name,
		})
	}
	if err != nil {
		srv.failed(&provider.Error{Code: "start_failed", Text: title + " could not be started.", Detail: err.Error(), Err: err})
		return
	}
	said := make(chan string, 1)
	go srv.listen(said)
	go func() {
		<-srv.proc.Done()
		srv.mu.Lock()
		srv.ending = true
		srv.mu.Unlock()
		srv.gone(srv)
	}()
	select {
	case srv.url = <-said:
	case <-srv.proc.Done():
	case <-ctx.Done():
	}
	if srv.url != "" {
		return // what follows the start is ended by stop
	}
	e := &provider.Error{Code: "start_failed", Text: title + " ended while it was starting.", Detail: lastLine(srv.proc.StderrTail())}
	if ctx.Err() != nil {
		e.Code, e.Text = "no_answer", title+" did not answer while it was starting."
	}
	srv.failed(e)
}

func (srv *server) failed(e *provider.Error) {
	srv.failure = e
	srv.mu.Lock()
	srv.ending = true
	srv.mu.Unlock()
	srv.gone(srv)
	if srv.proc != nil {
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), 3*stopGrace)
			defer cancel()
			_ = srv.proc.Stop(ctx, stopGrace)
		}()
	}
}

var listening = regexp.MustCompile(`http://127\.0\.0\.1:\d{1,5}`)

// listen reads the server's output to its end; the first address in it is
// its own.
func (srv *server) listen(said chan<- string) {
	lines := wire.NewLines(srv.proc.Stdout(), nil, maxRaw)
	for told := false; ; {
		line, err := lines.Next()
		if err != nil {
			return
		}
		if url := listening.Find(line); url != nil && !told {
			told = true
			said <- string(url)
		}
	}
}

// dir holds the driver's own files; the server runs in it, so that no
// project's settings are the server's.
func (srv *server) dir() string { return filepath.Join(srv.host.Scratch, Name) }

// environment is what the server needs: its password, rules that ask (the
// package comment says why), a shell that does not pass the password on, and
// no update under its feet.
func (srv *server) environment() ([]string, error) {
	var secret [32]byte
	if _, err := rand.Read(secret[:]); err != nil {
		return nil, err
	}
	srv.password = hex.EncodeToString(secret[:])
	if err := os.MkdirAll(srv.dir(), 0o700); err != nil {
		return nil, err
	}
	rules, err := json.Marshal(asking.config())
	if err != nil {
		return nil, err
	}
	env := slices.Concat(srv.host.Env, []string{
		passwordVariable + "=" + srv.password, "OPENCODE_SERVER_USERNAME=" + username,
		"OPENCODE_PERMISSION=" + string(rules), "OPENCODE_DISABLE_AUTOUPDATE=1"})
	shell, err := srv.shell()
	if err != nil {
		return nil, err
	}
	if shell != "" {
		env = append(env, "SHELL="+shell)
	}
	return env, nil
}

// passwordVariable is the only way in which the server takes its password.
const passwordVariable = "OPENCODE_SERVER_PASSWORD"

// lookup gives a variable as the agent sees it.
func lookup(host provider.Host, name string) string {
	for i := len(host.Env) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(host.Env[i], name+"="); ok {
			return value
		}
	}
	return os.Getenv(name)
}

// executable finds OpenCode: the setting, PATH, or where its installer puts
// it.
func executable(host provider.Host) (string, error) {
	if host.Executable != "" {
		_, err := os.Stat(host.Executable)
		return host.Executable, err
	}
	path, err := host.Processes.LookPath("opencode")
	if err == nil {
		return path, nil
	}
	if home, herr := os.UserHomeDir(); herr == nil {
		own := filepath.Join(home, ".opencode", "bin", "opencode")
		if info, serr := os.Stat(own); serr == nil && info.Mode().IsRegular() {
			return own, nil
		}
	}
	return "", err
}
