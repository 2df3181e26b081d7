package process

// identity tells a process from any other of this run of the system.
type identity struct {
	pid   int
	start int64 // in the platform's own unit
}
