//go:build unix

package supervise

import (
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

// tree is the command and everything that came of it. Only Run's goroutine uses it.
type tree struct {
	leader     int            // the command's pid, and its group's id
	status     status         // once it has exited
	stopSignal syscall.Signal // that stopped it last
	pinned     bool           // the leader is not reaped yet: its pid and its group's id are nobody else's
	wake       chan os.Signal // something changed among the children
	owned      map[int]ownedKind
	orphans    int // how many of the tree ended as children of this process, and were reaped
	orphan     int // the last of them
	guard      *guard
	runID      string
	grace      time.Duration
	end        chan struct{} // closed when the thread that started the command may end
	sys        system
}

type ownedKind int

const (
	ownedGuard ownedKind = iota
	ownedHook
)

// change is something that happened to a child.
type change int

const (
	commandStopped change = iota
	commandExited         // and is not reaped
	guardExited
	hookExited
)

// status is how the command ended.
type status struct {
	code   int            // 0 to 255
	signal syscall.Signal // that ended it; 0 if it exited
}

var stdio = []uintptr{0, 1, 2}

// startTree starts the command in a group of its own.
func startTree(c Command, runID string, grace time.Duration) (*tree, error) {
	t := &tree{
		wake: make(chan os.Signal, 1), owned: map[int]ownedKind{},
		runID: runID, grace: grace, end: make(chan struct{}),
	}
	signal.Notify(t.wake, syscall.SIGCHLD)
	t.prepare()
	pid, err := t.spawnLeader(c)
	if err != nil {
		t.close()
		return nil, err
	}
	t.leader, t.pinned = pid, true
	return t, nil
}

// reap waits for a child that has ended.
func reap(pid int) {
	for {
		if _, err := syscall.Wait4(pid, nil, 0, nil); err != syscall.EINTR {
			return
		}
	}
}

// terminate sends a signal that asks for the end, and wakes what is stopped so that it can hear it.
func (t *tree) terminate(sig syscall.Signal) { t.signal(sig, syscall.SIGCONT) }

// spawnLeader starts the command from a thread that lives as long as the tree: the kernel sends the parent-death
// signal when the thread that forked ends, and Go's threads come and go.
func (t *tree) spawnLeader(c Command) (pid int, err error) {
	started := make(chan struct{})
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		pid, err = t.forkExec(c)
		close(started)
		<-t.end
	}()
	<-started
	return pid, err
}

// spawnHook starts the loss hook beside the tree, in a group of its own, with nothing to read and its output on
// our stderr.
func (t *tree) spawnHook(c Command) (pid int, err error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	pid, err = syscall.ForkExec(c.Path, c.Argv, &syscall.ProcAttr{
		Env: c.Env, Files: []uintptr{null.Fd(), 2, 2}, Sys: &syscall.SysProcAttr{Setpgid: true},
	})
	if err == nil {
		t.owned[pid] = ownedHook
	}
	return pid, err
}

// killHook ends a hook that takes too long.
func (t *tree) killHook(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }

// startGuard starts the guard, which ends the tree if this process is killed. A program that cannot be one goes
// without; the parent-death signal still reaches the command itself.
func (t *tree) startGuard() {
	g, err := startGuard(t.guardOrder())
	if err != nil {
		return
	}
	t.guard = g
	t.owned[g.pid] = ownedGuard
}

// stopGuard ends the guard when there is nothing left to guard. It is killed, not asked: whatever it would do
// when asked must not happen, and it may still be starting.
func (t *tree) stopGuard() {
	if t.guard == nil {
		return
	}
	t.guard.kill()
	delete(t.owned, t.guard.pid)
	t.guard = nil
}

// killBy tells the guard until when the command may run if this process is no more.
func (t *tree) killBy(at Instant) {
	if t.guard != nil {
		t.guard.killBy(at)
	}
}

// childEnded files the end of a child other than the command, which has been reaped.
func (t *tree) childEnded(pid int) (change, bool) {
	kind, ok := t.owned[pid]
	if !ok { // an orphan of the tree
		t.orphans++
		t.orphan = pid
		return 0, false
	}
	delete(t.owned, pid)
	if kind == ownedHook {
		return hookExited, true
	}
	t.guard.forget()
	t.guard = nil
	return guardExited, true
}

// close ends what was only there for the command. It is called when the command is gone or never started.
func (t *tree) close() {
	t.stopGuard()
	signal.Stop(t.wake)
	close(t.end)
	t.dispose()
}
