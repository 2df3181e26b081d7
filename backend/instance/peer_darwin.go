package instance

import (
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// PeerOf asks the kernel who connected (LOCAL_PEERCRED and LOCAL_PEERPID,
// sys/un.h).
func PeerOf(c net.Conn) (Peer, error) {
	conn, ok := c.(*net.UnixConn)
	if !ok {
		return Peer{}, errNotLocal
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return Peer{}, err
	}
	var cred *unix.Xucred
	var pid int
	var credErr, pidErr error
	err = raw.Control(func(fd uintptr) {
		cred, credErr = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
		pid, pidErr = unix.GetsockoptInt(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERPID)
	})
	if err := errors.Join(err, credErr, pidErr); err != nil {
		return Peer{}, fmt.Errorf("ask who connected: %w", err)
	}
	return Peer{Pid: pid, SameUser: int(cred.Uid) == os.Geteuid()}, nil
}
