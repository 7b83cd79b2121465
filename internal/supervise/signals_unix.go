//go:build unix

package supervise

import (
	"os"
	"syscall"
)

const nonblocking = syscall.O_NONBLOCK

// queueSignals are those that would end this process while it waits. SIGPIPE is among them only so that a
// broken stderr is an error of one write and not the end of the watch over the command.
var queueSignals = []os.Signal{
	syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT,
	syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM, syscall.SIGPIPE,
}

func endsQueue(sig syscall.Signal) bool { return sig != syscall.SIGPIPE }

// runSignals only matter once there is a command to pass them to. Before that they do what they do to every program.
var runSignals = []os.Signal{syscall.SIGWINCH, syscall.SIGTSTP, syscall.SIGCONT}

// roleOf says what to do about a signal. A hangup means an end only to somebody with a terminal: without one it
// is the custom to send it for "read your settings again".
func roleOf(sig syscall.Signal, terminal bool) role {
	switch sig {
	case syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT:
		return roleEnd
	case syscall.SIGHUP:
		if terminal {
			return roleEnd
		}
		return rolePass
	case syscall.SIGTSTP:
		return roleStop
	case syscall.SIGCONT:
		return roleContinue
	case syscall.SIGPIPE:
		return roleNone
	}
	return rolePass
}
