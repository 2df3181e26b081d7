package instance

import (
	"fmt"
	"net"
	"unsafe"

	"golang.org/x/sys/windows"
)

// sioAFUnixGetPeerPid is SIO_AF_UNIX_GETPEERPID of afunix.h: _WSAIOR(IOC_VENDOR, 256).
const sioAFUnixGetPeerPid = 0x58000100

// PeerOf asks the kernel for the process that connected, and compares its
// user with ours.
func PeerOf(c net.Conn) (Peer, error) {
	conn, ok := c.(*net.UnixConn)
	if !ok {
		return Peer{}, errNotLocal
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return Peer{}, err
	}
	var pid, got uint32
	var askErr error
	err = raw.Control(func(fd uintptr) {
		askErr = windows.WSAIoctl(windows.Handle(fd), sioAFUnixGetPeerPid, nil, 0,
			(*byte)(unsafe.Pointer(&pid)), uint32(unsafe.Sizeof(pid)), &got, nil, 0)
	})
	if err == nil {
		err = askErr
	}
	if err != nil {
		return Peer{}, fmt.Errorf("ask who connected: %w", err)
	}
	same, err := sameUser(pid)
	if err != nil {
		return Peer{}, fmt.Errorf("ask who connected: %w", err)
	}
	return Peer{Pid: int(pid), SameUser: same}, nil
}

func sameUser(pid uint32) (bool, error) {
	process, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, pid)
	if err != nil {
		return false, err
	}
	defer windows.CloseHandle(process)
	var token windows.Token
	if err := windows.OpenProcessToken(process, windows.TOKEN_QUERY, &token); err != nil {
		return false, err
	}
	defer token.Close()
	theirs, err := token.GetTokenUser()
	if err != nil {
		return false, err
	}
	ours, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return false, err
	}
	return theirs.User.Sid.Equals(ours.User.Sid), nil
}
