package process

import (
	"context"
	"errors"
	"unsafe"

	"golang.org/x/sys/windows"
)

// endRemains has nothing to do: the system ended the jobs of an earlier Berth
// when it ended.
func (s *Supervisor) endRemains(context.Context, []*Reaped) ([]Reaped, error) { return nil, nil }

// Descends says whether a process is in the job of a child of Berth. One that
// cannot be looked at counts as one: what asks is whether it may act for the
// owner.
func (s *Supervisor) Descends(pid int) bool {
	process, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return true
	}
	defer windows.CloseHandle(process)
	for _, c := range s.all() {
		if in, err := c.contains(process); in || err != nil {
			return true
		}
	}
	return false
}

// isProcessInJob is not among the functions of x/sys/windows.
var isProcessInJob = windows.NewLazySystemDLL("kernel32.dll").NewProc("IsProcessInJob")

func (sp *spawned) contains(process windows.Handle) (bool, error) {
	sp.mu.Lock()
	defer sp.mu.Unlock()
	if sp.job == 0 {
		return false, nil
	}
	var in int32 // BOOL
	ok, _, err := isProcessInJob.Call(uintptr(process), uintptr(sp.job), uintptr(unsafe.Pointer(&in)))
	if ok == 0 {
		return false, errors.Join(errors.New("look for a process in a job"), err)
	}
	return in != 0, nil
}
