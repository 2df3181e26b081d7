//go:build unix && !linux

package gate

// closeFrom closes all descriptors from first on.
func closeFrom(first uintptr) { closeEach(int(first)) }
