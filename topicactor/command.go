package topicactor

import (
	"context"
	"time"

	"legible.sh/mutex/internal/lease"
)

// What one message of a turn does: to the state through its rules, and to whoever waits for its answer.

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

func (t *topic) unpark(token lease.Token) *request {
	r := t.parked[token]
	if r != nil {
		delete(t.parked, token)
		r.ignore()
	}
	return r
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

func granted(e *lease.Event) lease.Lease {
	return lease.Lease{
		Token: e.Token, Who: e.Who, Fence: e.Fence, Slot: e.Slot, Capacity: e.Capacity, TTL: e.TTL,
		Since: e.Since, Expires: e.Expires,
	}
}
