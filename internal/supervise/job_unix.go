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
	if r.reports != nil { // else the command goes on without a lease
		r.words.note("stopped with the command; the lease is not renewed meanwhile and is lost in %s",
			seconds(r.terms.stopAt.Sub(now())))
	}
	r.words.flush(50 * time.Millisecond)
	r.suspended, r.suspendedAt = true, now()
	r.term.suspend()
	r.term.stopOthers()
	signal.Notify(r.signals.ch, syscall.SIGTSTP) // before the stop, so that no key is missed when we are woken
	r.term.stopSelf()
}

// stopKey hands the stop key's signal on. If it comes just when this process is woken, before it has heard so, the kernel
// has thrown away the CONT, and the command is still stopped: then the key is for us alone.
func (r *run) stopKey(sig syscall.Signal) {
	if r.suspended {
		r.suspend()
		return
	}
	r.passed[sig] = true
	r.tree.signal(sig)
}

// woken comes with a CONT, or with the time if that was lost: from a shell's fg or bg if this process had stopped itself, else for the tree.
func (r *run) woken() {
	if r.suspended {
		r.resume()
		return
	}
	r.tree.signal(syscall.SIGCONT)
}

// resume lets the command go on where this process does, in the foreground with its terminal. A command whose
// lease may be lost meanwhile is not woken before that is known. One that goes on without its lease is: there is no more
// to come.
func (r *run) resume() {
	if r.wakeLater = r.reports != nil && now() >= r.terms.stopAt; r.wakeLater {
		return
	}
	r.suspended = false
	r.term.resume()
	r.tree.signal(syscall.SIGCONT)
}
