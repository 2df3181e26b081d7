//go:build unix

package conformance

import "syscall"

// alive says whether a process with this pid is there.
func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }
