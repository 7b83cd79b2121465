package supervise

import (
	"errors"
	"strings"
	"syscall"
	"time"
)

// termSignal asks a tree to end.
const termSignal = syscall.SIGTERM

// ending is the tree's end under way: it was told, and is killed at killAt.
type ending struct {
	told     syscall.Signal
	killAt   Instant
	killed   bool
	giveUpAt Instant // once it was killed
}

// end tells the tree to end and sets the moment at which it is killed; of two such moments the earlier counts.
func (r *run) end(sig syscall.Signal, killAt Instant) {
	r.tree.terminate(sig)
	if r.ending == nil {
		r.ending = &ending{told: sig, killAt: killAt}
		return
	}
	r.ending.killAt = min(r.ending.killAt, killAt)
	if sig == termSignal {
		r.ending.told = sig
	}
}

// undead is how long what was killed is waited for before it is given up: a process in a system call that does not
// return cannot be killed.
const undead = 10 * time.Second

var errStillRunning = errors.New("something of the command still runs")

// killTree kills what is left, again on every look, since what forks at this moment is missed.
func (r *run) killTree(at Instant) {
	if !r.ending.killed {
		r.ending.killed, r.ending.giveUpAt = true, at.Add(undead)
	}
	r.tree.kill()
	if at >= r.ending.giveUpAt {
		if r.look(); r.over() {
			return
		}
		r.abandoned = true
		r.outcome.Undead, r.outcome.Leftovers = true, r.rest
		if !r.exited {
			r.outcome.Code = 128 + int(syscall.SIGKILL) // the command itself: it was killed, and that it was told last
		}
		r.words.warn("cannot be killed: %s", list(r.outcome.Leftovers))
	}
}

// commandExited comes when the command has ended and is still a zombie, so that its group can be signalled without
// meeting a stranger.
func (r *run) commandExited() {
	status := r.tree.status
	if r.term.has() && keySignal(status.signal) && !r.passed[status.signal] {
		r.keyed = status.signal
	}
	if r.ending == nil && status.signal != 0 && (r.keyed != 0 || r.passed[status.signal]) {
		r.outcome.Cause = CauseSignal
		r.end(termSignal, now().Add(r.config.Grace))
	} else if r.ending != nil && r.ending.told != termSignal {
		r.end(termSignal, r.ending.killAt)
	}
	r.tree.reap()
	r.exited, r.outcome.Code = true, status.code
	r.term.takeBack(status.signal != 0)
	r.emit(Event{Kind: Exited, Code: &r.outcome.Code, Left: r.left()})
	if r.ending == nil {
		r.leftBehind()
	}
}

// leftBehind deals with what a command that ended by itself has left running.
func (r *run) leftBehind() {
	if r.config.Leftovers == LeaveThem {
		r.guardAt = 0
		r.tree.stopGuard() // nothing is to be ended from here on; and without it the next question is a cheap one
		if r.tree.childless() {
			return
		}
	}
	r.look()
	left := r.rest
	if len(left) == 0 {
		return
	}
	r.outcome.Leftovers = left
	switch r.config.Leftovers {
	case LeaveThem:
		r.words.warn("the command left running: %s; the lease is released all the same", list(left))
	case AwaitThem:
		r.words.warn("the command left running: %s; keeping the lease until they end", list(left))
	case KillThem:
		r.words.warn("the command left running: %s; ending them", list(left))
		r.end(termSignal, now().Add(r.config.Grace))
	}
}

// list names processes, as many as a line takes.
func list(processes []Process) string {
	const most = 10
	var names []string
	for i, p := range processes {
		if i == most {
			names = append(names, "and more")
			break
		}
		names = append(names, p.String())
	}
	return strings.Join(names, ", ")
}
