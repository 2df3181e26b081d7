//go:build desktop

package app

import "golang.org/x/sys/unix"

// seal marks all open descriptors as close-on-exec. The toolkit answers the
// page through pipes that are not: a browser started by it would hold copies
// of those that are open, and the page would wait for the end of these
// answers until the browser ends. (Agents are started through a gate that
// closes them.)
func seal() {
	const first = 3 // after the standard ones
	if unix.CloseRange(first, ^uint(0), unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	for fd := first; fd < 1024; fd++ { // before Linux 5.11
		unix.CloseOnExec(fd)
	}
}
