//go:build unix

package supervise

import (
	"os/signal"
	"syscall"
	"time"
)

// keySignal reports whether a signal is one that a terminal's keys send to end a command.
func keySignal(sig syscall.Signal) bool { return sig == syscall.SIGINT || sig == syscall.SIGQUIT }

// stopped decides what a stop of the command means: with a terminal, most often that this process must stop too, so
// that the shell has its prompt again.
func (r *run) stopped() {
	wantsTerminal := r.tree.stopSignal == syscall.SIGTTIN || r.tree.stopSignal == syscall.SIGTTOU
	switch {
	case r.ending != nil, wantsTerminal && r.term.grant():
		r.tree.signal(syscall.SIGCONT)
	case r.term == nil, r.tree.stopSignal == syscall.SIGSTOP && !r.term.has():
		// Somebody paused the command. It may go on as long as the lease does, which is kept.
	case r.term.canStop():
		r.suspend()
	case r.tree.stopSignal == syscall.SIGTSTP:
		r.tree.signal(syscall.SIGCONT) // nobody could wake us; the kernel ignores the key in that case too
	}
}

// suspend stops this process and its group as the stop key would have.
func (r *run) suspend() {
	r.words.note("stopped with the command; the lease is not renewed meanwhile and is lost in %s",
		seconds(r.terms.stopAt.Sub(now())))
	r.words.flush(50 * time.Millisecond)
	r.suspended = true
	r.term.suspend()
	r.term.stopOwnGroup()
	signal.Notify(r.signals.ch, syscall.SIGTSTP)
}

// woken comes with a CONT: from a shell's fg or bg if this process had stopped itself, else for the tree.
func (r *run) woken() {
	if r.suspended {
		r.resume()
		return
	}
	r.tree.signal(syscall.SIGCONT)
}

// resume lets the command go on where this process does, in the foreground with its terminal. A command whose
// lease may be lost meanwhile is not woken before that is known.
func (r *run) resume() {
	if r.wakeLater = now() >= r.terms.stopAt; r.wakeLater {
		return
	}
	r.suspended = false
	r.term.resume()
	r.tree.signal(syscall.SIGCONT)
}
