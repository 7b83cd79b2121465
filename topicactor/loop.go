package topicactor

import (
	"context"
	"fmt"
	"slices"
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
	timer   *time.Timer              // sends wake
	armed   time.Time                // when the timer fires; it has fired when that is past
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

// tick is what the timer is for: something is due, or the topic has been quiet for a while, which it tells.
func (t *topic) tick(now time.Time) (quiet bool) {
	if due, ok := t.nextDue(); ok && !due.After(now) {
		t.turn(nil)
		return false
	}
	if quiet = t.deep && now.Sub(t.turned) >= rest; quiet {
		t.deep = false
	}
	t.arm(now)
	return quiet
}

// rebuild makes the state what the journal last acknowledged.
func (t *topic) rebuild(now time.Time) {
	t.state = lease.New(t.Fence(), t.config.Keep) // what was published is safe
	for _, e := range t.config.Journal.Recall(t.topic, now) {
		t.state.Apply(&e)
	}
	t.parked = nil
}

// turn runs a request (nil, or a signal: none, only what is due) and those that wait behind it, and lets their answers
// out once all they rest on is safe.
func (t *topic) turn(first *request) {
	now := time.Now()
	t.turned, t.deep = now, true
	out := outgoings.Get().(*outgoing)
	defer out.free()
	t.state.Suspend(t.config.Journal.Suspended())
	t.run(first, now, out)
	t.runWaiting(now, out)
	err := t.store(now, out)
	if t.failed = err != nil; t.failed {
		t.fail(err, now, out)
	}
	idled := t.publish()
	asked := len(out.answers) > 0
	t.arm(now)
	t.deliver(out)
	if idled && !asked && t.config.OnIdle != nil {
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

// run does what one message asks for, into out. What only looks stays shallow: ten thousand quiet topics that are
// listed should not need ten thousand deeper stacks.
func (t *topic) run(r *request, now time.Time, out *outgoing) {
	switch {
	case r == nil || r == poke || r == wake:
		t.settle(now, out)
	case r.watch != nil:
		t.settle(now, out)
		t.subscription(r, out)
	case r.Op == lease.Look:
		t.settle(now, out)
		r.answer.Status = t.state.Status()
		out.answer(r, nil)
	default:
		t.command(r, now, out)
	}
}

// command runs a request through the rules.
func (t *topic) command(r *request, now time.Time, out *outgoing) {
	mark := len(out.events)
	var err error
	r.answer.Outcome, out.events, err = t.state.Step(&r.Command, now, out.events)
	r.answer.Queued = now.Sub(r.sent)
	t.note(out, mark)
	switch {
	case err != nil:
		out.answer(r, err)
	case r.answer.Waiting:
		t.park(r)
	default:
		t.complete(r, out.events[mark:])
		out.answer(r, nil)
	}
}

func (t *topic) settle(now time.Time, out *outgoing) {
	mark := len(out.events)
	if out.events = t.state.Settle(now, out.events); len(out.events) > mark {
		t.note(out, mark)
	}
}

// park keeps a request until an event decides it, or its context ends and it abandons its place.
func (t *topic) park(r *request) {
	if t.parked == nil {
		t.parked = make(map[lease.Token]*request)
	}
	t.parked[r.Token] = r
	actor, token := t.Actor, r.Token
	r.ignore = context.AfterFunc(r.ctx, func() { actor.abandon(token) })
}

// complete adds to an answer what only the asker of this operation is told.
func (t *topic) complete(r *request, caused []lease.Event) {
	switch r.Op {
	case lease.Acquire:
		r.answer.Holders = t.state.HolderNames()
	case lease.Force:
		for i := range caused {
			if e := &caused[i]; e.Kind == lease.Forced {
				r.answer.Forced = append(r.answer.Forced, lease.Holder{
					Who: e.Who, Fence: e.Fence, Slot: e.Slot, Since: e.Since, Expires: e.Expires, Renewed: e.Renewed,
				})
			}
		}
	}
}

// note finds the parked requests that the events since mark decide, and makes the watchers' frames.
func (t *topic) note(out *outgoing, mark int) {
	for i := mark; i < len(out.events); i++ {
		e := &out.events[i]
		switch e.Kind {
		case lease.Granted:
			if r := t.unpark(e.Token); r != nil {
				r.answer.Outcome = lease.Outcome{Lease: granted(e)}
				r.answer.Queued = e.At.Sub(r.sent)
				r.answer.Holders = t.state.HolderNames()
				out.answer(r, nil)
			}
		case lease.Left, lease.Detached:
			t.waitEnded(e, out)
		case lease.Reattached:
			if r := t.unpark(e.Superseded); r != nil {
				out.answer(r, lease.ErrSuperseded)
			}
		}
		t.watched.note(t, e, out)
	}
}

// waitEnded answers the request whose wait an event ended, if it is not gone.
func (t *topic) waitEnded(e *lease.Event, out *outgoing) {
	r := t.unpark(e.Token)
	switch {
	case r == nil:
	case e.Cause == lease.TimedOut:
		r.answer.Queued = e.At.Sub(r.sent)
		out.answer(r, t.state.TimeoutError(e))
	case e.Cause == lease.GaveUp:
		out.answer(r, lease.ErrKeySpent)
	default:
		out.answer(r, errAbandoned)
	}
}

func (t *topic) unpark(token lease.Token) *request {
	r := t.parked[token]
	if r != nil {
		delete(t.parked, token)
		r.ignore()
	}
	return r
}

func granted(e *lease.Event) lease.Lease {
	return lease.Lease{
		Token: e.Token, Who: e.Who, Fence: e.Fence, Slot: e.Slot, Capacity: e.Capacity, TTL: e.TTL,
		Since: e.Since, Expires: e.Expires,
	}
}

// store makes the turn's events safe.
func (t *topic) store(now time.Time, out *outgoing) error {
	if !out.durable() {
		return nil
	}
	if err := t.config.Journal.Append(t.topic, out.events); err != nil {
		return fmt.Errorf("%w: %w", lease.ErrStorage, err)
	}
	out.stored = time.Since(now)
	return nil
}

// fail takes back a turn that could not be stored: whoever asked is told just that, and watchers see the topic as
// it is without it.
func (t *topic) fail(err error, now time.Time, out *outgoing) {
	for _, r := range out.answers {
		r.err = err
	}
	for token := range t.parked {
		out.answer(t.unpark(token), err)
	}
	t.watched.takeBack(out)
	out.events = out.events[:0]
	t.rebuild(now)
	t.watched.restate(t, now, out)
}

// deliver lets out what is safe now. The last goroutine that is woken is the first to run when this one sleeps, and a
// grant stands in the list before the release that made room for it: so the list is gone through from its end, and the
// next holder does not wait until the last one has its answer. That takes a sixth off the median of a handoff.
func (t *topic) deliver(out *outgoing) {
	t.watched.deliver(out.frames)
	for _, r := range slices.Backward(out.answers) {
		r.answer.Stored = out.stored
		r.answered <- struct{}{} // holds one: never blocks
	}
	if t.config.Observe != nil && len(out.events) > 0 {
		t.config.Observe(t.topic, out.events)
	}
}

// publish shows the registry what may be reaped, and tells whether the topic has just become idle.
func (t *topic) publish() (idled bool) {
	now := busy
	if t.state.Idle() {
		now = idle
		if t.state.Capacity() == 0 {
			now = pristine
		}
	}
	t.fence.Store(uint64(t.state.Fence()))
	t.held.Store(int32(t.state.Held()))
	t.waiting.Store(int32(t.state.Waiting()))
	before := life(t.life.Swap(uint32(now)))
	return before == busy && now != busy
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

// arm sets the timer to the nearest deadline. A timer that fires too early costs little; to set it back with every
// release would cost each of them.
func (t *topic) arm(now time.Time) {
	due, ok := t.nextDue()
	if quiet := t.turned.Add(rest); t.deep && (!ok || quiet.Before(due)) {
		due, ok = quiet, true
	}
	if !ok || t.armed.After(now) && !due.Before(t.armed) {
		return
	}
	t.armed = due
	if t.timer == nil {
		t.timer = time.AfterFunc(time.Until(due), t.Actor.wake)
		return
	}
	t.timer.Reset(time.Until(due))
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
