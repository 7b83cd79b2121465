package supervise

import (
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// tree on Windows is a job object: what the command starts is in it, and it dies with its last handle, so that
// nothing outlives this process. There is no way to ask a tree to end: it is killed.
type tree struct {
	leader  int
	status  status
	wake    chan os.Signal
	job     windows.Handle
	exits   chan exit
	running map[int]*os.Process

	orphans, orphan int // always 0: there are none
}

type change int

const (
	commandStopped change = iota // never on Windows
	commandExited
	guardExited // never: the job needs no guard
	hookExited
)

type status struct {
	code   int
	signal syscall.Signal // always 0
}

type exit struct{ pid, code int }

func startTree(c Command, runID string, _ time.Duration) (*tree, error) {
	t := &tree{wake: make(chan os.Signal, 1), exits: make(chan exit, 4), running: map[int]*os.Process{}}
	job, err := newJob()
	if err != nil {
		return nil, err
	}
	t.job = job
	c.Env = environ(c.Env, runID)
	t.leader, err = t.spawn(c, []*os.File{os.Stdin, os.Stdout, os.Stderr})
	if err == nil {
		err = t.enter(t.leader)
	}
	if err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

func newJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, err
	}
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err != nil {
		_ = windows.CloseHandle(job)
		return 0, err
	}
	return job, nil
}

// enter puts a process that has just started into the job. What it starts before that stays outside.
func (t *tree) enter(pid int) error {
	const access = windows.PROCESS_SET_QUOTA | windows.PROCESS_TERMINATE
	handle, err := windows.OpenProcess(access, false, uint32(pid))
	if err != nil {
		return nil // it has ended already
	}
	defer windows.CloseHandle(handle)
	return windows.AssignProcessToJobObject(t.job, handle)
}

// spawn starts a process, and a goroutine that waits for its end and says so.
func (t *tree) spawn(c Command, files []*os.File) (int, error) {
	process, err := os.StartProcess(c.Path, c.Argv, &os.ProcAttr{Env: c.Env, Files: files})
	if err != nil {
		return 0, err
	}
	t.running[process.Pid] = process
	go func() {
		state, err := process.Wait()
		code := 1
		if err == nil {
			code = state.ExitCode() & 0xff
		}
		t.exits <- exit{process.Pid, code}
		t.wake <- os.Kill
	}()
	return process.Pid, nil
}

func (t *tree) spawnHook(c Command) (int, error) {
	return t.spawn(c, []*os.File{nil, os.Stderr, os.Stderr})
}

func (t *tree) killHook(pid int) {
	if process, ok := t.running[pid]; ok {
		_ = process.Kill()
	}
}

func (t *tree) poll() []change {
	var changes []change
	for {
		select {
		case e := <-t.exits:
			delete(t.running, e.pid)
			if e.pid == t.leader {
				t.status = status{code: e.code}
				changes = append(changes, commandExited)
			} else {
				changes = append(changes, hookExited)
			}
		default:
			return changes
		}
	}
}

func (t *tree) reap() {}

// members: the job does not tell names; that something is left is enough.
func (t *tree) members() []Process {
	if t.childless() {
		return nil
	}
	return []Process{{PID: t.leader, Name: "job"}}
}

func (t *tree) childless() bool {
	var accounting jobAccounting
	err := windows.QueryInformationJobObject(t.job, jobBasicAccounting,
		uintptr(unsafe.Pointer(&accounting)), uint32(unsafe.Sizeof(accounting)), nil)
	return err != nil || accounting.activeProcesses == 0
}

// jobAccounting is the system's JOBOBJECT_BASIC_ACCOUNTING_INFORMATION.
type jobAccounting struct {
	_               [4]int64 // times
	_               [2]uint32
	activeProcesses uint32
	_               uint32
}

const jobBasicAccounting = 1 // JobObjectBasicAccountingInformation

// signal can only be the end here.
func (t *tree) signal(...syscall.Signal) {}
func (t *tree) terminate(syscall.Signal) { t.kill() }
func (t *tree) kill()                    { _ = windows.TerminateJobObject(t.job, 1) }
func (t *tree) startGuard()              {}
func (t *tree) stopGuard()               {}
func (t *tree) killBy(Instant)           {}

// close lets go of the job. Leftovers live on: the limit that would kill them is lifted first.
func (t *tree) close() {
	var none windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	_, _ = windows.SetInformationJobObject(t.job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&none)), uint32(unsafe.Sizeof(none)))
	_ = windows.CloseHandle(t.job)
}

// WatcherMain does nothing on Windows: the job object ends the command's tree with this process.
func WatcherMain() {}
