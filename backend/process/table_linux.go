package process

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// bootID names this run of the system.
var bootID = sync.OnceValues(func() (string, error) {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("read the boot id: %w", err)
	}
	return strings.TrimSpace(string(b)), nil
})

// entryOf reads one process. The error is fs.ErrNotExist when there is none.
func entryOf(pid int) (entry, error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if errors.Is(err, syscall.ESRCH) {
		err = fs.ErrNotExist
	}
	if err != nil {
		return entry{}, err
	}
	return parseStat(b)
}

// parseStat reads a line of /proc/<pid>/stat (proc(5)). The name is in
// parentheses and may itself hold spaces and parentheses, so that fields are
// counted from the last closing one.
func parseStat(b []byte) (entry, error) {
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 1 || end < open {
		return entry{}, errors.New("a stat line without a name")
	}
	// Fields after the name, the first being number 3: state, ppid, pgrp,
	// session; the start time, in clock ticks since boot, is number 22.
	fields := strings.Fields(string(b[end+1:]))
	if len(fields) < 20 {
		return entry{}, errors.New("a short stat line")
	}
	var err error
	number := func(s string) int64 {
		n, e := strconv.ParseInt(s, 10, 64)
		err = errors.Join(err, e)
		return n
	}
	e := entry{
		identity: identity{pid: int(number(strings.TrimSpace(string(b[:open])))), start: number(fields[19])},
		parent:   int(number(fields[1])),
		group:    int(number(fields[2])),
		session:  int(number(fields[3])),
		dead:     fields[0] == "Z" || fields[0] == "X",
		name:     string(b[open+1 : end]),
	}
	return e, err
}

// table reads all processes. One that ends meanwhile is left out.
func table() ([]entry, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, fmt.Errorf("read the process table: %w", err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("read the process table: %w", err)
	}
	var entries []entry
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if e, err := entryOf(pid); err == nil {
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// environ is the environment with which a process was started, readable for
// those of the same user.
func environ(pid int) ([]string, error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return nil, err
	}
	return strings.Split(string(b), "\x00"), nil
}

// memory is the resident size in bytes, 0 if unknown.
func memory(pid int) int64 {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(b))
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// signalExactly sends a signal to e and to no later process of the same pid:
// a pidfd holds on to the process while its start time is compared.
func signalExactly(e entry, sig syscall.Signal) error {
	fd, err := unix.PidfdOpen(e.pid, 0)
	switch {
	case errors.Is(err, unix.ESRCH):
		return nil
	case err != nil: // no pidfd in this kernel or sandbox
		return signalCompared(e, sig)
	}
	defer unix.Close(fd)
	if now, err := entryOf(e.pid); err != nil || now.start != e.start {
		return nil // gone
	}
	err = unix.PidfdSendSignal(fd, sig, nil, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
}

// awaitExit returns when the child pid has ended, and leaves it unreaped, so
// that its pid stays taken.
func awaitExit(pid int) error {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// self is what is executed as the gate. The link works although the file was
// replaced or removed, as by an update or by go run.
func self() (string, error) { return "/proc/self/exe", nil }

// childAttributes has a child lead a session of its own, which makes it the
// leader of its group too and takes the terminal of a `berth serve` from it:
// a program that asks for a password there would stop, not fail. It is killed
// when the thread that started it ends.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}
