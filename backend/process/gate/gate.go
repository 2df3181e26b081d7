//go:build unix

// Package gate holds a new process back until the one that started it says
// that it may run.
//
// The starter executes its own program under the name of Name. Before
// anything of that program runs, this package's init sees the name and waits
// on the descriptor Channel: on the byte Open it executes the program named by
// its arguments, in the same process (pid and start time stay); when the
// channel ends first, because the starter died or gave up, it exits and
// nothing has run. What execve refuses is reported on the channel as a decimal
// errno; a channel that ends without one means that the program runs.
//
// Descriptors beyond Channel are closed first: the starter may hold some that
// it cannot mark as close-on-exec (the window's toolkit makes such a pipe for
// each answer to its page), and a copy in a child would keep whoever reads
// them waiting for their end.
//
// It imports nothing but os, strconv and syscall: packages are initialised in
// the order of their import paths once their imports are, so that this init
// comes before those of the heavier packages of the program. Any program and
// any test that imports package process is a gate without further ado.
package gate

import (
	"errors"
	"os"
	"strconv"
	"syscall"
)

// The protocol between the starter and the gate.
const (
	// Name is the gate's argv[0]; the rest of argv is that of the program,
	// beginning with its path.
	Name = "berth-gate"
	// Channel is the descriptor that the gate inherits: one end of a socket
	// pair.
	Channel = 3
	// Open is the byte that opens the gate.
	Open = 'o'
)

// exitShut is the exit code of a gate that was never opened, or could not
// execute the program.
const exitShut = 125

func init() {
	if len(os.Args) > 1 && os.Args[0] == Name {
		pass()
	}
}

// pass does not return.
func pass() {
	closeFrom(Channel + 1)
	syscall.CloseOnExec(Channel)
	var b [1]byte
	n, err := syscall.Read(Channel, b[:])
	for errors.Is(err, syscall.EINTR) {
		n, err = syscall.Read(Channel, b[:])
	}
	if err != nil || n != 1 || b[0] != Open {
		syscall.Exit(exitShut)
	}
	// syscall.Exec, not a bare execve: it gives back the limit of open files
	// that the runtime raised.
	err = syscall.Exec(os.Args[1], os.Args[1:], syscall.Environ())
	var errno syscall.Errno
	if errors.As(err, &errno) {
		// The starter may be gone; then there is nobody to tell.
		_, _ = syscall.Write(Channel, strconv.AppendInt(nil, int64(errno), 10))
	}
	syscall.Exit(exitShut)
}
