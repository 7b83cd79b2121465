package supervise

import (
	"os"
	"syscall"
	"time"
)

// signalled does what a signal to this process asks for.
func (r *run) signalled(sig os.Signal) {
	number, ok := sig.(syscall.Signal)
	if !ok {
		return
	}
	what := roleOf(number, r.term != nil)
	if what == roleEnd && keySignal(number) && r.term.meantForCommand() {
		what = rolePass
	}
	switch what {
	case rolePass:
		r.passed[number] = true
		r.tree.signal(number)
	case roleStop:
		r.stopKey(number)
	case roleContinue:
		r.woken()
	case roleEnd:
		r.endBySignal(number)
	}
}

// sameKey is the time within which two interrupts are one: a key pressed once may come from the terminal and from a
// parent that passes it on.
const sameKey = 100 * time.Millisecond

// endBySignal hands an ending signal to the tree, which then has the grace. A second Ctrl-C kills it.
func (r *run) endBySignal(sig syscall.Signal) {
	at := now()
	if sig == syscall.SIGINT {
		if r.interrupts > 0 && at.Sub(r.lastInt) < sameKey {
			return
		}
		r.interrupts++
		r.lastInt = at
	}
	if r.outcome.Cause == CauseExit {
		r.outcome.Cause = CauseSignal
	}
	r.passed[sig] = true
	killAt := at.Add(r.config.Grace)
	if r.interrupts > 1 {
		killAt = at
	}
	r.end(sig, killAt)
}
