//go:build unix

package gate

import "syscall"

// usualDescriptors is the limit of open files that a program usually has; the
// starter's own descriptors lie below it.
const usualDescriptors = 1024

// closeEach closes the descriptors from first on, one by one.
func closeEach(first int) {
	for fd := first; fd < usualDescriptors; fd++ {
		_ = syscall.Close(fd) // most are not open
	}
}
