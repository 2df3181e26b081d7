package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// serve runs a server of a door until the test ends.
func (w *world) serveOn(server *http.Server, l net.Listener) {
	w.t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			w.t.Error(err)
		}
	}()
	w.t.Cleanup(func() {
		w.Handler.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			w.t.Error(err)
		}
		<-done
	})
}

const testToken = "the-owner-token"

// listen opens the listener and gives its address.
func (w *world) listen() string {
	w.t.Helper()
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		w.t.Fatal(err)
	}
	w.serveOn(w.ListenerServer(l.Addr(), testToken), l)
	return l.Addr().String()
}

// The listener answers under the address it was opened on.
func TestAnyLoopbackAddressAnswersUnderItsOwnName(t *testing.T) {
	w := newWorld(t)
	l, err := Listen("127.0.0.2:0")
	if err != nil {
		t.Skipf("this system has one loopback address: %v", err)
	}
	w.serveOn(w.ListenerServer(l.Addr(), testToken), l)
	w.fetch(w.web(), "GET", "http://"+l.Addr().String()+"/api/v1/chats", "Authorization", "Bearer "+testToken).want(200)
}

// A stranger who announces a body and never sends it is refused at once, and
// holds no connection.
func TestARefusalDoesNotWaitForTheBody(t *testing.T) {
	w := newWorld(t)
	address := w.listen()
	for name, host := range map[string]string{"no token": address, "another name": "evil.example"} {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := fmt.Fprintf(conn, "POST /api/v1/chats HTTP/1.1\r\nHost: %s\r\nContent-Length: 1000\r\n\r\n{", host); err != nil {
			t.Fatal(err)
		}
		if err := conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		said, err := io.ReadAll(conn)
		if err != nil || !strings.HasPrefix(string(said), "HTTP/1.1 40") {
			t.Errorf("%s: %q, %v", name, said, err)
		}
	}
}

// web is a client without a connection that outlives the test.
func (w *world) web() *http.Client {
	c := &http.Client{Transport: &http.Transport{}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	w.t.Cleanup(c.CloseIdleConnections)
	return c
}

func (w *world) fetch(c *http.Client, method, url string, headers ...string) answered {
	w.t.Helper()
	req, err := http.NewRequest(method, url, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		} else {
			req.Header.Set(headers[i], headers[i+1])
		}
	}
	res, err := c.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return answered{w.t, res.StatusCode, res.Header, body}
}

func TestListenerChecksItsCallers(t *testing.T) {
	w := newWorld(t)
	address := w.listen()
	_, port, _ := net.SplitHostPort(address)
	good := []string{"Authorization", "Bearer " + testToken}
	origin := "http://" + address
	for _, c := range []struct {
		name    string
		path    string
		headers []string
		status  int
		code    string
	}{
		{"a tool with the token", "/api/v1/chats", good, 200, ""},
		{"our page", "/api/v1/chats", append([]string{"Origin", origin, "Sec-Fetch-Site", "same-origin"}, good...), 200, ""},
		{"under localhost", "/api/v1/chats", append([]string{"Host", "LocalHost:" + port}, good...), 200, ""},
		{"under [::1]", "/api/v1/chats", append([]string{"Host", "[::1]:" + port}, good...), 200, ""},
		{"no token", "/api/v1/chats", nil, 401, "unauthorized"},
		{"no token, no operation", "/api/v1/nothing", nil, 401, "unauthorized"},
		{"another token", "/api/v1/chats", []string{"Authorization", "Bearer x"}, 401, "unauthorized"},
		{"no scheme", "/api/v1/chats", []string{"Authorization", testToken}, 401, "unauthorized"},
		{"token in the URL", "/api/v1/chats?token=" + testToken, nil, 401, "unauthorized"},
		{"token as cookie", "/api/v1/chats", []string{"Cookie", "token=" + testToken}, 401, "unauthorized"},
		{"another name", "/api/v1/chats", append([]string{"Host", "evil.example:" + port}, good...), 403, "bad_host"},
		{"another port", "/api/v1/chats", append([]string{"Host", "127.0.0.1:1"}, good...), 403, "bad_host"},
		{"no port", "/api/v1/chats", append([]string{"Host", "127.0.0.1"}, good...), 403, "bad_host"},
		{"another origin", "/api/v1/chats", append([]string{"Origin", "http://evil.example"}, good...), 403, "bad_origin"},
		{"another server of this machine", "/api/v1/chats", append([]string{"Origin", "http://127.0.0.1:3000"}, good...), 403, "bad_origin"},
		{"origin null", "/api/v1/chats", append([]string{"Origin", "null"}, good...), 403, "bad_origin"},
		{"https of the same name", "/api/v1/chats", append([]string{"Origin", "https://" + address}, good...), 403, "bad_origin"},
		{"same site", "/api/v1/chats", append([]string{"Sec-Fetch-Site", "same-site"}, good...), 403, "bad_origin"},
		{"cross site", "/api/v1/chats", append([]string{"Sec-Fetch-Site", "cross-site"}, good...), 403, "bad_origin"},
		{"typed into the address bar", "/api/v1/chats", append([]string{"Sec-Fetch-Site", "none"}, good...), 403, "bad_origin"},
		{"navigated to an operation", "/api/v1/chats", append([]string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, good...), 403, "bad_origin"},
		{"the page, typed", "/", []string{"Sec-Fetch-Site", "none"}, 200, ""},
		{"the page, by a link", "/", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, 200, ""},
		{"our script, from elsewhere", "/assets/index-abc.js", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"}, 403, "bad_origin"},
		{"the page under another name", "/", []string{"Host", "evil.example:" + port}, 403, "bad_host"},
		{"what a page may not", "/api/v1/window/focus", append([]string{"Origin", origin}, good...), 405, "method_not_allowed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.t = t
			a := w.fetch(w.web(), "GET", "http://"+address+c.path, c.headers...)
			if c.code == "" {
				a.want(c.status)
			} else {
				a.problem(c.status, c.code)
			}
			for name := range a.header {
				if strings.HasPrefix(name, "Access-Control-") || name == "Set-Cookie" {
					t.Errorf("%s is sent", name)
				}
			}
		})
	}
	w.t = t
	w.fetch(w.web(), "POST", "http://"+address+"/api/v1/window/focus", append([]string{"Origin", origin, "Content-Type", "application/json"}, good...)...).problem(403, "not_for_browsers")
}

func TestListenOnlyOnThisMachine(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", "[::]:0", ":0", "192.0.2.1:0", "example.com:0", "127.0.0.1", ""} {
		if l, err := Listen(address); err == nil {
			l.Close()
			t.Errorf("listens on %q", address)
		}
	}
	l, err := Listen("localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
}

// local opens the local socket; agent says what descends from Berth.
func (w *world) local(descends func(int) bool) *http.Client {
	w.t.Helper()
	dir, err := os.MkdirTemp("", "berth") // short: socket paths are bounded
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		w.t.Fatal(err)
	}
	w.serveOn(w.LocalServer(descends), l)
	c := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", l.Addr().String())
	}}}
	w.t.Cleanup(c.CloseIdleConnections)
	return c
}

func TestLocalSocket(t *testing.T) {
	w := newWorld(t)
	asked := make(chan int, 1)
	mine := w.local(func(pid int) bool { asked <- pid; return false })
	w.fetch(mine, "GET", "http://berth/api/v1/chats").want(200)
	if pid := <-asked; pid != os.Getpid() {
		t.Errorf("the process at the other end is %d, this is %d", pid, os.Getpid())
	}
	agents := w.local(func(int) bool { return true })
	w.fetch(agents, "GET", "http://berth/api/v1/chats").problem(403, "agent_not_allowed")
	w.fetch(agents, "GET", "http://berth/api/v1/health").want(200)
	// Nothing in a request makes an agent the owner.
	w.fetch(agents, "GET", "http://berth/api/v1/chats", "Authorization", "Bearer "+testToken, "X-Realm", "owner").problem(403, "agent_not_allowed")
}

func TestAnUnknownPeerIsNobody(t *testing.T) {
	w := newWorld(t)
	l, err := net.Listen("tcp", "127.0.0.1:0") // has no peer that the kernel names
	if err != nil {
		t.Fatal(err)
	}
	w.serveOn(w.LocalServer(func(int) bool { return false }), l)
	w.fetch(w.web(), "GET", "http://"+l.Addr().String()+"/api/v1/chats").problem(401, "unauthorized")
}

func TestTheWindowIsTheOwnerByItsDoorOnly(t *testing.T) {
	w := newWorld(t)
	req := httptest.NewRequest("GET", "/api/v1/chats", nil)
	w.ask(w.Window(), req).want(200)
	w.ask(http.HandlerFunc(w.serve), req).problem(401, "unauthorized")
}

type testWindow struct {
	mu    sync.Mutex
	links []string
}

func (x *testWindow) Focus(link string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.links = append(x.links, link)
}

func TestHealthAndWindow(t *testing.T) {
	w := newWorld(t)
	if h := decoded[Health](w.call("GET", "/api/v1/health", nil).want(200)); h.Version != "1.2.3" || h.Window || h.Admission.State != "open" {
		t.Errorf("%+v", h)
	}
	w.call("POST", "/api/v1/window/focus", `{}`).problem(409, "no_window")
	x := &testWindow{}
	w.SetWindow(x)
	if h := decoded[Health](w.call("GET", "/api/v1/health", nil).want(200)); !h.Window {
		t.Errorf("%+v", h)
	}
	w.call("POST", "/api/v1/window/focus", `{"link":"berth://chat/chat_1"}`).want(204)
	w.call("POST", "/api/v1/window/focus", `{"link":"https://example.com"}`).problem(422, "invalid", "body.link")
	if len(x.links) != 1 || x.links[0] != "berth://chat/chat_1" {
		t.Errorf("opened %v", x.links)
	}
	w.SetWindow(nil)
	w.call("POST", "/api/v1/window/focus", `{}`).problem(409, "no_window")
}

func TestNothingNewBeginsWhileAdmissionIsClosed(t *testing.T) {
	w := newWorld(t)
	id := w.newChat().ID
	w.state.closed = true
	for path, body := range map[string]string{
		"/chats": `{"agent":"echo","cwd":"/"}`, "/chats/" + id + "/turns": `{"text":"a","client_id":"a"}`, "/demo": "",
		"/uploads": `{"name":"a","size":1}`, "/terminals": `{}`,
	} {
		w.call("POST", "/api/v1"+path, body).problem(503, "admission_closed")
	}
	w.call("GET", "/api/v1/chats/"+id, nil).want(200)
	w.call("POST", "/api/v1/chats/"+id+"/stop", nil).want(200)
	if h := decoded[Health](w.call("GET", "/api/v1/health", nil)); h.Admission.Reason != "damaged" {
		t.Errorf("%+v", h)
	}
}

func TestOpenAPIIsServed(t *testing.T) {
	w := newWorld(t)
	a := w.call("GET", "/api/v1/openapi.json", nil).want(200)
	if string(a.body) != string(OpenAPI()) || a.header.Get("Content-Type") != "application/openapi+json" {
		t.Errorf("%s: %d bytes", a.header.Get("Content-Type"), len(a.body))
	}
	var any map[string]json.RawMessage
	if err := json.Unmarshal(a.body, &any); err != nil {
		t.Error(err)
	}
	if strings.Contains(string(w.call("GET", "/api/v1/health", nil).body), "$schema") {
		t.Error("answers carry $schema")
	}
}
