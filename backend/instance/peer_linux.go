package instance

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// PeerOf asks the kernel who connected (SO_PEERCRED, socket(7)).
func PeerOf(c net.Conn) (Peer, error) {
	conn, ok := c.(*net.UnixConn)
	if !ok {
		return Peer{}, errNotLocal
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return Peer{}, err
	}
	var cred *unix.Ucred
	var credErr error
	err = raw.Control(func(fd uintptr) {
		cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err == nil {
		err = credErr
	}
	if err != nil {
		return Peer{}, fmt.Errorf("ask who connected: %w", err)
	}
	return Peer{Pid: int(cred.Pid), SameUser: int(cred.Uid) == os.Geteuid()}, nil
}
