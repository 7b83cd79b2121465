package topicactor

import (
	"time"

	"legible.sh/mutex/internal/lease"
)

// rest is how long a topic is quiet before its goroutine gives its stack back.
const rest = 25 * time.Millisecond

// patience is how long a topic that could not be stored waits before it tries again by itself.
const patience = time.Second

// topic is what the goroutine owns. Nobody else has a reference to it.
type topic struct {
	*Actor
	state   *lease.State
	parked  map[lease.Token]*request // acquires that wait, by the token they will get
	timer   *time.Timer              // sends wake; nil until something was due
	armed   time.Time                // what the timer was set to
	watched *watched                 // nil until somebody watches

	turned time.Time // when the last turn was
	deep   bool      // the stack has grown since the goroutine began
	failed bool      // the last turn could not be stored
}

// loop is the topic's goroutine: it exists to be the only one that touches the topic.
func (a *Actor) loop() {
	<-a.config.Gate
	t := &topic{Actor: a}
	t.rebuild(time.Now())
	t.turn(nil)
	t.serve()
}

// serve runs turns until the actor is stopped, or the topic has been quiet for a while. Then it goes on as a new
// goroutine: a turn needs some kilobytes of stack, which the runtime would not take back from one that only waits,
// and ten thousand topics mostly wait.
func (t *topic) serve() {
	for !t.stopping.Load() {
		switch r := <-t.mailbox; {
		case r != wake:
			t.turn(r)
		case t.tick(time.Now()):
			go t.serve()
			return
		}
	}
	t.end()
}

// turn runs a request (nil, or a signal: none, only what is due) and those that wait behind it, and lets their answers
// out once all they rest on is safe.
func (t *topic) turn(first *request) {
	now := time.Now()
	t.turned, t.deep = now, true
	out := outgoings.Get().(*outgoing)
	defer out.free()
	suspended := t.config.Journal.Suspended()
	t.state.Suspend(suspended)
	t.run(first, now, out)
	t.runWaiting(now, out)
	if suspended {
		t.resume(now, out)
	}
	err := t.store(now, out)
	if t.failed = err != nil; t.failed {
		t.fail(err, now, out)
	}
	unseen := t.publish() && !out.seen() // before they have their answers, and the requests are used again
	t.arm()
	t.deliver(out)
	if unseen && t.config.OnIdle != nil {
		t.config.OnIdle(t.Actor)
	}
}

// runWaiting runs what already lies in the mailbox, in the same turn.
func (t *topic) runWaiting(now time.Time, out *outgoing) {
	for range turnSize - 1 {
		select {
		case r := <-t.mailbox:
			t.run(r, now, out)
		default:
			return
		}
	}
}

// resume grants what could not be granted when the turn began, if it can be now: the poke that says so may have been
// taken by this turn, or have found no room in the mailbox.
func (t *topic) resume(now time.Time, out *outgoing) {
	if !t.config.Journal.Suspended() {
		t.state.Suspend(false)
		t.settle(now, out)
	}
}

// rebuild makes the state what the journal last acknowledged.
func (t *topic) rebuild(now time.Time) {
	t.state = lease.New(t.Fence(), t.config.Keep) // what was published is safe
	for _, e := range t.config.Journal.Recall(t.topic, now) {
		t.state.Apply(&e)
	}
	t.parked = nil
}

// tick is what the timer is for: something is due, or the topic has been quiet for a while, which it tells.
func (t *topic) tick(now time.Time) (quiet bool) {
	if due, ok := t.nextDue(); ok && !due.After(now) {
		t.turn(nil)
		return false
	}
	if quiet = t.deep && now.Sub(t.turned) >= rest; quiet {
		t.deep = false
	}
	t.arm()
	return quiet
}

// arm sets the timer to the nearest deadline. A timer that fires too early costs little; to set it back with every
// release would cost each of them.
func (t *topic) arm() {
	due, ok := t.nextDue()
	if quiet := t.turned.Add(rest); t.deep && (!ok || quiet.Before(due)) {
		due, ok = quiet, true
	}
	if !ok || t.timer != nil && !t.fired.Load() && !due.Before(t.armed) {
		return
	}
	t.armed = due
	t.fired.Store(false)
	if t.timer == nil {
		t.timer = time.AfterFunc(time.Until(due), t.Actor.wake)
		return
	}
	t.timer.Reset(time.Until(due))
}

// nextDue is when something is to do without being asked. What could not be stored stays due, and to try it again at once
// would only keep a broken disk busy; the registry wakes all topics when the disk is well again.
func (t *topic) nextDue() (time.Time, bool) {
	due, ok := t.state.NextDue()
	if retry := t.turned.Add(patience); t.failed && due.Before(retry) {
		due = retry
	}
	return due, ok
}

// end tells everybody who waits that the topic is going away.
func (t *topic) end() {
	if t.timer != nil {
		t.timer.Stop()
	}
	for token := range t.parked {
		r := t.unpark(token)
		r.err = ErrStopped
		r.answered <- struct{}{}
	}
	t.watched.end()
	t.ended.Store(true)
	t.refuseAll() // what was sent before that was seen
	t.config.running.Done()
}
