package app

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"time"
)

// The window of a state directory listens on a socket of its own: a window
// may be a mere client of another process's backend, so the backend's socket
// does not lead to it. The protocol is one line each way: a deep link,
// nothing or noLink, then windowReply. The socket's directory is open to the
// user alone, and all that can be asked for is to come forward.
const (
	windowReply = "berth window\n"
	// noLink asks nothing but whether there is a window.
	noLink = "?"
	// askPatience bounds one exchange.
	askPatience = 3 * time.Second
)

// onlyWindow listens for further starts.
type onlyWindow struct {
	listener net.Listener
	focus    func(link string)
	done     sync.WaitGroup
}

// beTheWindow listens at path for further starts. A socket that nobody
// answers is what a killed window left, and is replaced.
func beTheWindow(path string, focus func(link string)) (*onlyWindow, error) {
	l, err := net.Listen("unix", path)
	if err != nil {
		if Open(context.Background(), path) {
			return nil, errors.New("another window is open")
		}
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("replace the socket of an earlier window: %w", err)
		}
		if l, err = net.Listen("unix", path); err != nil {
			return nil, fmt.Errorf("listen for further starts: %w", err)
		}
	}
	o := &onlyWindow{listener: l, focus: focus}
	o.done.Go(o.serve)
	return o, nil
}

func (o *onlyWindow) serve() {
	for {
		conn, err := o.listener.Accept()
		if err != nil {
			return
		}
		o.done.Go(func() { o.answer(conn) })
	}
}

func (o *onlyWindow) answer(conn net.Conn) {
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(askPatience))
	line, err := bufio.NewReader(io.LimitReader(conn, maxLink+1)).ReadString('\n')
	if err != nil {
		return
	}
	if _, err := io.WriteString(conn, windowReply); err != nil {
		return
	}
	if link := strings.TrimSpace(line); link != noLink {
		o.focus(link)
	}
}

func (o *onlyWindow) close() {
	_ = o.listener.Close() // also removes the socket
	o.done.Wait()
}

// SocketBeside is where the window listens that goes with a backend's socket.
// The name is as long as the other, which is as long as the system takes.
func SocketBeside(backend string) string { return strings.TrimSuffix(backend, ".sock") + ".win" }

// Ask asks the window at socket to come forward and open link, if that is
// not empty. An error means that no window answered.
func Ask(ctx context.Context, socket, link string) error {
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	if err != nil {
		return err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(askPatience))
	if _, err := io.WriteString(conn, link+"\n"); err != nil {
		return err
	}
	line, err := bufio.NewReader(io.LimitReader(conn, 64)).ReadString('\n')
	if err != nil {
		return err
	}
	if line != windowReply {
		return errors.New("something else answers on the window's socket")
	}
	return nil
}

// Open says whether a window listens at socket.
func Open(ctx context.Context, socket string) bool { return Ask(ctx, socket, noLink) == nil }
