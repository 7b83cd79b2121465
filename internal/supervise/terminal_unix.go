//go:build unix

package supervise

import (
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// terminal is the controlling terminal of this process, if it has one. The command's group gets it when this
// process's own group has it, so that the command can ask, edit and be stopped with the keys, as if no lease were in
// between. Only Run's goroutine uses it. A nil *terminal is none.
type terminal struct {
	fd    int
	own   int           // this process's group
	group int           // the command's
	lent  bool          // the command's group has the terminal from us
	since Instant       // when it was lent
	modes *unix.Termios // as they were when the command started
	job   *unix.Termios // as the command had them when it was stopped
}

func openTerminal() *terminal {
	fd, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	t := &terminal{fd: fd, own: unix.Getpgrp()}
	t.modes, _ = unix.IoctlGetTermios(fd, getTermios)
	return t
}

// started lends the terminal to the command's group if input and output are both the terminal and it is ours
// to lend. In a pipeline another program may be reading the keys, a pager for one; there the command gets the
// terminal only when it asks for it by being stopped for want of it.
func (t *terminal) started(group int) {
	if t == nil {
		return
	}
	t.group = group
	if isTerminal(0) && isTerminal(1) && t.foreground() == t.own {
		t.lend()
	}
	// From here on this process may be in the background of its own terminal, where writing a warning or taking the
	// terminal back would stop it. Ignored only now: the command would have inherited it.
	signal.Ignore(syscall.SIGTTOU)
}

func isTerminal(fd int) bool {
	_, err := unix.IoctlGetTermios(fd, getTermios)
	return err == nil
}

// foreground is the group that has the terminal, or 0.
func (t *terminal) foreground() int {
	group, err := unix.IoctlGetInt(t.fd, unix.TIOCGPGRP)
	if err != nil {
		return 0
	}
	return group
}

func (t *terminal) lend() {
	if unix.IoctlSetPointerInt(t.fd, unix.TIOCSPGRP, t.group) == nil {
		t.lent, t.since = true, now()
	}
}

// handOver is the time around lending within which a key that was meant for the command may still reach us.
const handOver = time.Second

// meantForCommand reports whether a signal that keys send, and that reached this process, was meant for the command: it
// was typed while the command had just been started and did not have the terminal yet, or a shell that was slow to
// start its job has given the terminal to our own group after we lent it.
func (t *terminal) meantForCommand() bool {
	if !t.has() {
		return false
	}
	if t.foreground() == t.own {
		t.lend()
		return true
	}
	return now() < t.since.Add(handOver)
}

// grant gives the terminal to a command that was stopped because it is in the background, and reports whether it
// may go on: it has the terminal by now, or our own group has it and lends it.
func (t *terminal) grant() bool {
	if t == nil {
		return false
	}
	switch t.foreground() {
	case t.group:
		return true
	case t.own:
		t.lend()
		return t.lent
	}
	return false
}

// suspend takes the terminal back from a command that was stopped, and remembers the modes it had set.
func (t *terminal) suspend() {
	if t.lent {
		t.job, _ = unix.IoctlGetTermios(t.fd, getTermios)
		t.takeBack(true)
	}
}

// resume lends the terminal again, with the command's modes, if this process was brought to the foreground.
func (t *terminal) resume() {
	if t.job == nil || t.foreground() != t.own {
		return
	}
	_ = unix.IoctlSetTermios(t.fd, setTermios, t.job)
	t.job = nil
	t.lend()
}

// takeBack makes our own group the terminal's again. The modes are put back as they were when the command was ended
// in the middle of something; one that ended by itself may have meant what it set.
func (t *terminal) takeBack(restore bool) {
	if t == nil || !t.lent {
		return
	}
	t.lent = false
	if t.foreground() != t.group {
		return // a shell has given it to somebody else meanwhile
	}
	_ = unix.IoctlSetPointerInt(t.fd, unix.TIOCSPGRP, t.own)
	if restore && t.modes != nil {
		_ = unix.IoctlSetTermios(t.fd, setTermios, t.modes)
	}
}

// has reports whether the command's group has the terminal from us.
func (t *terminal) has() bool { return t != nil && t.lent }

// passOn gives a signal that a key sent to the command alone to the rest of our own group: had the command been in it,
// a script around this process would have ended with it. This process itself has done its work.
func (t *terminal) passOn(sig syscall.Signal) {
	if sig != 0 {
		signal.Ignore(sig)
		_ = unix.Kill(0, sig)
	}
}

func (t *terminal) close() {
	if t == nil {
		return
	}
	t.takeBack(false)
	_ = unix.Close(t.fd)
}

// canStop reports whether somebody could wake this process if it stopped: a job-control shell further up that is
// in the same session and not in our group. The kernel calls a group without one orphaned.
func (t *terminal) canStop() bool {
	session, err := unix.Getsid(0)
	if err != nil {
		return false
	}
	parent := unix.Getppid()
	for range 100 { // a chain of parents in our own group is short
		group, err := unix.Getpgid(parent)
		if err != nil || parent < 1 {
			return false
		}
		if group != t.own {
			sid, err := unix.Getsid(parent)
			return err == nil && sid == session
		}
		if parent, err = parentOf(parent); err != nil {
			return false
		}
	}
	return false
}

// stopOthers does to the rest of our own group what the terminal's stop key does to a job. This process must not be
// listening for that signal meanwhile.
func (t *terminal) stopOthers() {
	signal.Ignore(syscall.SIGTSTP)
	_ = unix.Kill(0, unix.SIGTSTP)
}

// stopSelf stops this process, so that the shell sees the job stopped. It returns when this process is stopped, or just
// before.
func (t *terminal) stopSelf() { _ = unix.Kill(unix.Getpid(), unix.SIGSTOP) }
