package gate

import "syscall"

// closeRange is the number of close_range(2), which package syscall does not
// name, on all architectures that Go has.
const closeRange = 436

// closeFrom closes all descriptors from first on.
func closeFrom(first uintptr) {
	if _, _, errno := syscall.RawSyscall(closeRange, first, uintptr(^uint32(0)), 0); errno != 0 {
		closeEach(int(first)) // before Linux 5.9
	}
}
