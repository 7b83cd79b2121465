package supervise

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// system is what a tree has on Linux: this process is the subreaper, so that every orphan of the tree comes to
// it, whatever session it is in; and where it can be had, the tree is in a control group.
type system struct {
	cgroup  *cgroup
	foreign map[int]uint64 // children that this process had before: pid and start time
	walk    bool           // /proc can be trusted
}

func (t *tree) prepare() {
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) // since 3.4; an older kernel leaves the group
	t.sys.walk = procIsOurs()
	if !noChildren() {
		t.rememberForeign()
	}
	t.sys.cgroup = newCgroup("mutex-run-" + strconv.Itoa(os.Getpid()) + "-" + t.runID)
}

// rememberForeign notes the children that a program left to us by turning itself into this one ("exec mutex
// run"): they are not the command's.
func (t *tree) rememberForeign() {
	t.sys.foreign = map[int]uint64{}
	for _, s := range processes() {
		if s.ppid == os.Getpid() {
			t.sys.foreign[s.pid] = s.start
		}
	}
}

func (t *tree) forkExec(c Command) (int, error) {
	attr := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	proc := &syscall.ProcAttr{Env: environ(c.Env, t.runID), Files: stdio, Sys: attr}
	t.sys.cgroup.place(attr)
	pid, err := syscall.ForkExec(c.Path, c.Argv, proc)
	if err != nil && t.sys.cgroup != nil { // the group may be what the kernel did not like
		t.sys.cgroup.remove()
		t.sys.cgroup = nil
		attr.UseCgroupFD, attr.CgroupFD = false, 0
		pid, err = syscall.ForkExec(c.Path, c.Argv, proc)
	}
	return pid, err
}

// childState is the kernel's siginfo as waitid fills it in.
type childState struct {
	signo, errno, code int32
	_                  [0]uintptr // the union that follows is aligned like a pointer
	pid                int32
	uid                uint32
	status             int32
	_                  [128]byte // room for what other kinds of siginfo hold
}

// Codes of a child's siginfo; what is neither was ended by a signal.
const (
	childExited  = 1
	childStopped = 5
)

// ended gives the status of a child that has.
func (s childState) ended() status {
	if s.code == childExited {
		return status{code: int(s.status)}
	}
	return status{code: 128 + int(s.status), signal: syscall.Signal(s.status)}
}

// peek looks at a child that has something to tell, and leaves it as it is. A pid of 0 means that none has.
func peek() (childState, error) {
	var state childState
	for {
		const options = unix.WEXITED | unix.WSTOPPED | unix.WNOHANG | unix.WNOWAIT
		err := unix.Waitid(unix.P_ALL, 0, (*unix.Siginfo)(unsafe.Pointer(&state)), options, nil)
		if !errors.Is(err, unix.EINTR) {
			return state, err
		}
	}
}

func noChildren() bool {
	_, err := peek()
	return errors.Is(err, unix.ECHILD)
}

// poll reaps the orphans that have ended and says what happened to the children that are ours by name. The command is
// never reaped here: as long as it is a zombie its group's id is safe to signal. Nothing is told of others while it
// is one, so call again after reap. It never blocks.
func (t *tree) poll() []change {
	var changes []change
	for {
		state, err := peek()
		if err != nil || state.pid == 0 {
			return changes
		}
		pid := int(state.pid)
		switch {
		case state.code == childStopped:
			_ = unix.Waitid(unix.P_PID, pid, nil, unix.WSTOPPED|unix.WNOHANG, nil)
			if pid == t.leader {
				t.stopSignal = syscall.Signal(state.status)
				changes = append(changes, commandStopped)
			}
		case pid == t.leader:
			t.status = state.ended()
			return append(changes, commandExited)
		default:
			reap(pid)
			if c, ok := t.childEnded(pid); ok {
				changes = append(changes, c)
			}
		}
	}
}

// reap lets go of the command's pid after poll has said that it exited.
func (t *tree) reap() {
	reap(t.leader)
	t.pinned = false
}

// stats lists what runs of the tree, less the zombies: every descendant of this process that is not its guard, its
// hook or a child from before, and what is in the control group.
func (t *tree) stats() []stat {
	var found []stat
	if t.sys.walk {
		found = t.descendants(processes())
	}
	for _, pid := range t.sys.cgroup.pids() {
		known := slices.ContainsFunc(found, func(s stat) bool { return s.pid == pid })
		if s, ok := readStat(pid); ok && !known && !s.zombie {
			found = append(found, s)
		}
	}
	return found
}

func (t *tree) descendants(all []stat) []stat {
	children := make(map[int][]stat, len(all))
	for _, s := range all {
		children[s.ppid] = append(children[s.ppid], s)
	}
	var found []stat
	queue := []int{os.Getpid()}
	for len(queue) > 0 {
		for _, s := range children[queue[0]] {
			if t.apart(s) {
				continue
			}
			queue = append(queue, s.pid)
			if !s.zombie {
				found = append(found, s)
			}
		}
		queue = queue[1:]
	}
	return found
}

// apart reports whether a descendant of this process is none of the command's.
func (t *tree) apart(s stat) bool {
	if _, ok := t.owned[s.pid]; ok {
		return true
	}
	start, ok := t.sys.foreign[s.pid]
	return ok && start == s.start
}

// members lists what runs of the tree.
func (t *tree) members() []Process {
	var members []Process
	for _, s := range t.stats() {
		members = append(members, s.process())
	}
	return members
}

// childless reports, cheaply, that nothing is left of the tree. It can only say so when the guard and the hook
// have ended; false means that members knows.
func (t *tree) childless() bool { return noChildren() }

// signal sends signals to the whole tree, in the given order: to the group at once while its id is safe, and to each
// process that has left it.
func (t *tree) signal(signals ...syscall.Signal) {
	if t.pinned {
		for _, sig := range signals {
			_ = syscall.Kill(-t.leader, sig)
		}
	}
	for _, s := range t.stats() {
		if t.pinned && s.group == t.leader {
			continue
		}
		for _, sig := range signals {
			s.send(sig)
		}
	}
}

// kill ends the whole tree. What forks at this very moment may be missed: call again until members is empty.
func (t *tree) kill() {
	t.sys.cgroup.kill()
	t.signal(syscall.SIGKILL)
}

func (t *tree) dispose() {
	t.sys.cgroup.remove()
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
}

func (t *tree) guardOrder() guardOrder {
	session, _ := unix.Getsid(0)
	return guardOrder{
		Group: t.leader, Session: session, RunID: t.runID, Cgroup: t.sys.cgroup.directory(), Grace: t.grace,
	}
}
