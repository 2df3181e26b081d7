//go:build unix

package claude

import (
	"syscall"
	"testing"
)

// kill ends a process that the test has started.
func kill(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}
