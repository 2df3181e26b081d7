package instance

import "errors"

// Peer is the process at the other end of a local socket, as the kernel names
// it.
type Peer struct {
	// Pid is 0 where the kernel does not say, or the process lives in another
	// pid namespace.
	Pid int
	// SameUser says that it runs as the user of this process.
	SameUser bool
}

var errNotLocal = errors.New("not a local socket")
