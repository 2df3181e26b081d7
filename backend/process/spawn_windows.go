package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"github.com/charmbracelet/x/conpty"
	"golang.org/x/sys/windows"
)

// Bounds of ending a job.
const (
	killWait = 3 * time.Second
	pollJob  = 20 * time.Millisecond
)

// bootID is the same for each run of the system: a start time is a date, and
// with the pid an identity across restarts.
func bootID() (string, error) { return "windows", nil }

// memory is not read here.
func memory(int) int64 { return 0 }

// spawned is a process that was started suspended, which is its gate, in a job
// of its own. Windows ends the job with the last handle to it, and so with
// Berth.
type spawned struct {
	stdio
	leader  identity
	proc    *os.Process
	console *conpty.ConPty // of one on a terminal

	mu  sync.Mutex
	job windows.Handle // 0 once closed, with nothing left in it
}

// spawnOnPipes starts a suspended process in a job.
func spawnOnPipes(spec Spec, env []string, _ string) (*spawned, error) {
	theirs, ours, err := pipes()
	if err != nil {
		return nil, err
	}
	defer closeAll(theirs.stdin, theirs.stdout, theirs.stderr)
	proc, err := os.StartProcess(spec.Path, append([]string{spec.Path}, spec.Args...), &os.ProcAttr{
		Dir: spec.Dir, Env: env, Files: []*os.File{theirs.stdin, theirs.stdout, theirs.stderr},
		Sys: &syscall.SysProcAttr{
			HideWindow:    true,
			CreationFlags: windows.CREATE_SUSPENDED | windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW,
		},
	})
	if err != nil {
		closeAll(ours.stdin, ours.stdout, ours.stderr)
		return nil, fmt.Errorf("start %s: %w", spec.Path, err)
	}
	sp, err := enclose(proc)
	if err != nil {
		closeAll(ours.stdin, ours.stdout, ours.stderr)
		return nil, errors.Join(err, proc.Kill(), proc.Release())
	}
	sp.stdio = ours
	return sp, nil
}

// spawnOnTerminal is spawnOnPipes with a terminal of its own for all three.
func spawnOnTerminal(size Size) spawner {
	return func(spec Spec, env []string, _ string) (*spawned, error) {
		console, err := conpty.New(int(size.Cols), int(size.Rows), 0)
		if err != nil {
			return nil, fmt.Errorf("make a terminal: %w", err)
		}
		pid, handle, err := console.Spawn(spec.Path, append([]string{spec.Path}, spec.Args...), &syscall.ProcAttr{
			Dir: spec.Dir, Env: env, Sys: &syscall.SysProcAttr{CreationFlags: windows.CREATE_SUSPENDED},
		})
		if err != nil {
			return nil, errors.Join(fmt.Errorf("start %s: %w", spec.Path, err), console.Close())
		}
		defer windows.CloseHandle(windows.Handle(handle))
		sp, err := onConsole(console, pid)
		if err != nil {
			return nil, errors.Join(err, windows.TerminateProcess(windows.Handle(handle), 1), console.Close())
		}
		return sp, nil
	}
}

// onConsole takes over a process that was spawned on a console.
func onConsole(console *conpty.ConPty, pid int) (*spawned, error) {
	proc, err := os.FindProcess(pid)
	if err != nil {
		return nil, fmt.Errorf("open the process: %w", err)
	}
	sp, err := enclose(proc)
	if err != nil {
		return nil, errors.Join(err, proc.Release())
	}
	// Handles of our own: those of the console are closed with it, before what
	// it wrote last is read.
	stdin, inErr := duplicate(console.InPipeWriteFd(), "terminal input")
	stdout, outErr := duplicate(console.OutPipeReadFd(), "terminal output")
	if err := errors.Join(inErr, outErr); err != nil {
		sp.close()
		return nil, errors.Join(fmt.Errorf("open the terminal: %w", err), proc.Release())
	}
	sp.stdio, sp.console = stdio{stdin: stdin, stdout: stdout}, console
	return sp, nil
}

func duplicate(handle uintptr, name string) (*os.File, error) {
	self := windows.CurrentProcess()
	var own windows.Handle
	err := windows.DuplicateHandle(self, windows.Handle(handle), self, &own, 0, false, windows.DUPLICATE_SAME_ACCESS)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(own), name), nil
}

// resize tells the terminal its size.
func (sp *spawned) resize(size Size) error {
	return sp.console.Resize(int(size.Cols), int(size.Rows))
}

// enclose puts a suspended process into a job that is closed with Berth.
func enclose(proc *os.Process) (*spawned, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, fmt.Errorf("make a job: %w", err)
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE},
	}
	var created, exited, kernel, user windows.Filetime
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err == nil {
		err = onHandle(proc, func(h windows.Handle) error {
			return errors.Join(windows.AssignProcessToJobObject(job, h),
				windows.GetProcessTimes(h, &created, &exited, &kernel, &user))
		})
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("put the process into a job: %w", err), windows.CloseHandle(job))
	}
	start := int64(created.HighDateTime)<<32 | int64(created.LowDateTime)
	return &spawned{leader: identity{pid: proc.Pid, start: start}, proc: proc, job: job}, nil
}

func onHandle(proc *os.Process, f func(windows.Handle) error) error {
	var err error
	return errors.Join(proc.WithHandle(func(h uintptr) { err = f(windows.Handle(h)) }), err)
}

// release lets the process run: its one thread is resumed.
func (sp *spawned) release() error {
	threads, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return fmt.Errorf("find the process's thread: %w", err)
	}
	defer windows.CloseHandle(threads)
	t := windows.ThreadEntry32{Size: uint32(unsafe.Sizeof(windows.ThreadEntry32{}))}
	for err = windows.Thread32First(threads, &t); err == nil; err = windows.Thread32Next(threads, &t) {
		if int(t.OwnerProcessID) != sp.leader.pid {
			continue
		}
		thread, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, t.ThreadID)
		if err != nil {
			return fmt.Errorf("open the process's thread: %w", err)
		}
		_, err = windows.ResumeThread(thread)
		return errors.Join(err, windows.CloseHandle(thread))
	}
	return fmt.Errorf("find the process's thread: %w", err)
}

// abandon ends a process that was never let run.
func (sp *spawned) abandon() { _ = sp.terminate() }

// awaitExit returns when the process has ended, and ends what it left in its
// job: that may hold the pipes, whose reads have no deadlines here.
func (sp *spawned) awaitExit() error {
	err := onHandle(sp.proc, func(h windows.Handle) error {
		_, err := windows.WaitForSingleObject(h, windows.INFINITE)
		return err
	})
	err = errors.Join(err, sp.terminate())
	if sp.console != nil {
		// Its output ends only with it.
		err = errors.Join(err, sp.console.Close(), sp.stdin.Close())
	}
	return err
}

func (sp *spawned) reap() Exit {
	state, err := sp.proc.Wait()
	if err != nil {
		return Exit{Code: -1, Err: fmt.Errorf("take the exit status: %w", err)}
	}
	return Exit{Code: state.ExitCode()}
}

// endLeft has nothing to do after awaitExit.
func (sp *spawned) endLeft() error { return nil }

// close gives the job back, and with it ends what is still in it.
func (sp *spawned) close() {
	sp.mu.Lock()
	defer sp.mu.Unlock()
	_ = windows.CloseHandle(sp.job)
	sp.job = 0
}

func (sp *spawned) terminate() error {
	sp.mu.Lock()
	defer sp.mu.Unlock()
	if sp.job == 0 {
		return nil
	}
	return windows.TerminateJobObject(sp.job, 1)
}

// accounting is JOBOBJECT_BASIC_ACCOUNTING_INFORMATION of winnt.h.
type accounting struct {
	totalUser, totalKernel, periodUser, periodKernel int64
	pageFaults, total, active, terminated            uint32
}

// active counts the processes in the job.
func (sp *spawned) active() (int, error) {
	sp.mu.Lock()
	defer sp.mu.Unlock()
	if sp.job == 0 {
		return 0, nil
	}
	var a accounting
	err := windows.QueryInformationJobObject(sp.job, windows.JobObjectBasicAccountingInformation,
		uintptr(unsafe.Pointer(&a)), uint32(unsafe.Sizeof(a)), nil)
	return int(a.active), err
}

// end ends the job. Without a console in common there is no polite signal: the
// end of stdin was what the child was told.
func (sp *spawned) end(context.Context, time.Duration) error {
	err := sp.terminate()
	if sp.emptyWithin(killWait) {
		return nil
	}
	n, countErr := sp.active()
	return errors.Join(fmt.Errorf("still running: %d processes in the job of pid %d", n, sp.leader.pid), err, countErr)
}

func (sp *spawned) emptyWithin(atMost time.Duration) bool {
	for deadline := time.Now().Add(atMost); ; time.Sleep(pollJob) {
		if n, err := sp.active(); err == nil && n == 0 {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
	}
}
