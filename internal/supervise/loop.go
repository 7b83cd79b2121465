package supervise

import (
	"math"
	"time"
)

// loop is the run's one goroutine at work: it hears of children, the lease, signals and the time, one after the
// other, until nothing is left that must end first.
func (r *run) loop() {
	for !r.over() {
		select {
		case <-r.tree.wake:
			r.childrenChanged()
		case rep := <-r.reports:
			r.hear(rep)
		case sig := <-r.signals.ch:
			r.signalled(sig)
		case <-r.cancelled:
			r.cancelled = nil
			r.endBySignal(termSignal)
		case <-r.alarm():
		}
		r.onTime()
	}
}

// over reports whether the command and what must end with it are gone.
func (r *run) over() bool {
	if r.abandoned {
		return true
	}
	return r.exited && r.hook == nil && (len(r.rest) == 0 || !r.restMustEnd())
}

// restMustEnd reports whether the lease is kept until the command's whole tree is gone.
func (r *run) restMustEnd() bool { return r.ending != nil || r.config.Leftovers != LeaveThem }

// How often to look for what is left of a tree: not every end of a grandchild is told to us.
const (
	lookOften  = 20 * time.Millisecond
	lookSeldom = 250 * time.Millisecond
)

// alarm is a timer for the next moment at which there is something to do, or nil.
func (r *run) alarm() <-chan time.Time {
	at, next := now(), Instant(math.MaxInt64)
	if r.guardAt != 0 {
		next = r.guardAt
	}
	if r.config.MaxHold > 0 && r.ending == nil {
		next = min(next, r.started.Add(r.config.MaxHold))
	}
	if r.suspended {
		next = min(next, at.Add(lookSeldom))
	}
	if r.hook != nil {
		next = min(next, max(r.hook.killAt, at.Add(lookOften))) // once killed, it may take a moment to be gone
	}
	switch {
	case r.ending != nil && r.ending.killed, r.ending != nil && r.exited:
		next = min(next, at.Add(lookOften))
	case r.ending != nil:
		next = min(next, r.ending.killAt)
	case r.exited:
		next = min(next, at.Add(lookSeldom))
	}
	if next == math.MaxInt64 {
		return nil
	}
	return until(at, next)
}

// onTime does what is due, whatever woke the loop.
func (r *run) onTime() {
	at := now()
	if r.guardAt != 0 && at >= r.guardAt {
		r.startGuard()
	}
	if r.config.MaxHold > 0 && r.ending == nil && at >= r.started.Add(r.config.MaxHold) {
		r.endByMaxHold(at)
	}
	if r.suspended && at >= r.suspendedAt.Add(lookSeldom) {
		r.woken() // this process runs, so somebody has woken it
	}
	if r.hook != nil && at >= r.hook.killAt {
		r.tree.killHook(r.hook.pid)
	}
	if r.exited && r.restMustEnd() {
		r.look()
	}
	if r.ending != nil && at >= r.ending.killAt && !r.over() {
		r.killTree(at)
	}
}

// look sees what is left of the tree. A process that was born while /proc was being read may be missed, but then one that
// had come to this process as an orphan has ended meanwhile: as long as there are such, nothing is taken for gone.
func (r *run) look() {
	for range maxLooks {
		r.childrenChanged()
		ended := r.tree.orphans
		if r.rest = r.tree.members(); len(r.rest) > 0 {
			return
		}
		if r.childrenChanged(); r.tree.orphans == ended {
			return
		}
	}
	r.rest = []Process{{PID: r.tree.orphan, Name: "gone, and has started others"}}
}

// maxLooks is how often to look for a program that forks faster than it can be found. It is somewhere.
const maxLooks = 10

// childrenChanged asks what happened to the children until there is nothing new.
func (r *run) childrenChanged() {
	for {
		changes := r.tree.poll()
		for _, c := range changes {
			r.changed(c)
		}
		if len(changes) == 0 {
			return
		}
	}
}

func (r *run) changed(c change) {
	switch c {
	case commandStopped:
		r.stopped()
	case commandExited:
		r.commandExited()
	case hookExited:
		r.hook = nil
	case guardExited:
		r.guardAt = now()
	}
}

// guardDelay is how long a command must live to be worth a guard, and the handlers for rare signals. They cost as much
// as many a command takes; until then the parent-death signal covers the command itself, which has hardly had the time
// to start others, and the rare signals do nothing.
const guardDelay = 10 * time.Millisecond

// maxGuards bounds how often a guard that keeps dying is started anew.
const maxGuards = 5

// startGuard starts the guard, and another one for each that somebody killed.
func (r *run) startGuard() {
	r.guardAt = 0
	if r.guards == 0 {
		r.signals.catch(rareSignals())
	}
	if r.guards == maxGuards {
		r.words.warn("the guard keeps dying: if this process is killed with KILL now, only the command itself ends with it")
		return
	}
	r.guards++
	r.tree.startGuard()
	r.tree.killBy(r.terms.killBy)
}
