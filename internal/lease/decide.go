package lease

import (
	"cmp"
	"time"
)

// Decide gives the events that a command brings about, appended to out, or says why it is refused. It changes
// nothing, and takes the state as settled at now: [State.Step] is the whole of it. A refusal can bring an event
// with it (an acquire that may not wait still refreshes the place that its key has).
func (s *State) Decide(c *Command, now time.Time, out []Event) ([]Event, error) {
	switch c.Op {
	case Acquire:
		return s.decideAcquire(c, now, out)
	case Renew:
		return s.decideRenew(c, now, out)
	case Release:
		if p := s.permit(c.Token); p != nil {
			return append(out, s.ended(p, Released, now)), nil
		}
		return out, ErrGone
	case Check:
		if s.permit(c.Token) == nil {
			return out, ErrGone
		}
	case GiveUp:
		return s.decideGiveUp(c, now, out)
	case Abandon:
		return s.decideAbandon(c, now, out), nil
	case Force:
		return s.decideForce(c, now, out), nil
	}
	return out, nil
}

func (s *State) decideAcquire(c *Command, now time.Time, out []Event) ([]Event, error) {
	if c.Token.IsZero() {
		return out, ErrBadToken
	}
	t, known := s.ticket(c.Key)
	if known {
		if err := s.agrees(t, c); err != nil {
			return out, err
		}
		if t.permit != nil {
			return out, nil // the same grant again
		}
	} else if c.Capacity != 0 && s.capacity != 0 && c.Capacity != s.capacity {
		return out, &ConflictError{Capacity: s.capacity}
	}
	room, refused := s.hasRoom(), s.refusal()
	switch {
	case room && refused == nil:
		return append(out, s.grantCommand(c, t.waiter, now)), nil
	case t.waiter != nil:
		return s.decideReturn(t.waiter, c, now, out)
	case room:
		return out, refused
	case c.Wait <= 0:
		return out, ErrBusy
	case c.MaxWaiters > 0 && s.queue.len() >= c.MaxWaiters:
		return out, ErrWaitersLimit
	case s.suspended && !c.Key.IsZero():
		return out, ErrSuspended // a place that is kept is written down, in the room that renewals and releases need
	}
	return append(out, Event{
		Kind: Enqueued, At: now, Token: c.Token, Key: c.Key, Who: c.Who, TTL: c.TTL, Capacity: s.capacity,
		Enqueued: now, Deadline: now.Add(c.Wait),
	}), nil
}

// decideReturn lets a ticket's owner take its place again, or (without a wait) keep it for another while.
func (s *State) decideReturn(w *waiter, c *Command, now time.Time, out []Event) ([]Event, error) {
	if c.Wait > 0 {
		return append(out, s.reattaches(w, c, now)), nil
	}
	if !w.present {
		out = append(out, s.detaches(w, NoCause, now))
	}
	if s.hasRoom() {
		return out, s.refusal()
	}
	return out, ErrBusy
}

// agrees tells whether a repeated acquire is the same call as the one that its key was used for.
func (s *State) agrees(t ticket, c *Command) error {
	var asked time.Duration
	switch {
	case t.permit != nil:
		asked = t.permit.asked
	case t.waiter != nil:
		asked = t.waiter.ttl
	default:
		return ErrKeySpent
	}
	if (c.TTL != asked && !c.TTLOmitted) || (c.Capacity != 0 && c.Capacity != s.capacity) {
		return ErrKeyReused
	}
	return nil
}

func (s *State) decideRenew(c *Command, now time.Time, out []Event) ([]Event, error) {
	p := s.permit(c.Token)
	if p == nil {
		return out, ErrGone
	}
	ttl := cmp.Or(c.TTL, p.TTL)
	return append(out, Event{
		Kind: Renewed, At: now, Token: p.Token, Key: p.key, Who: p.Who, Fence: p.Fence, Slot: p.Slot,
		Capacity: s.capacity, TTL: ttl, Since: p.Since, Expires: now.Add(ttl),
	}), nil
}

func (s *State) decideGiveUp(c *Command, now time.Time, out []Event) ([]Event, error) {
	t, known := s.ticket(c.Key)
	switch {
	case c.Key.IsZero():
		return out, nil
	case t.permit != nil:
		return append(out, s.ended(t.permit, Released, now)), nil
	case t.waiter != nil:
		return append(out, s.leaves(t.waiter, GaveUp, now)), nil
	case s.suspended && known:
		return out, nil // spent it is
	case s.suspended:
		return out, ErrSuspended // anybody can give up any number of keys that nobody has used
	}
	// Also when it is spent already: an acquire sent just before this may still be on its way.
	return append(out, Event{Kind: Spent, At: now, Key: c.Key}), nil
}

func (s *State) decideAbandon(c *Command, now time.Time, out []Event) []Event {
	if w := s.waiting[c.Token]; w != nil {
		if w.key.IsZero() {
			return append(out, s.leaves(w, Abandoned, now))
		}
		return append(out, s.detaches(w, Abandoned, now))
	}
	// The grant won the race. Without a key nobody can ever ask for it again.
	if p := s.permit(c.Token); p != nil && p.key.IsZero() {
		e := s.ended(p, Released, now)
		e.Cause = Undelivered
		return append(out, e)
	}
	return out
}

func (s *State) decideForce(c *Command, now time.Time, out []Event) []Event {
	for p := s.oldest; p != nil; p = p.newer {
		if c.Fence == 0 || c.Fence == p.Fence {
			e := s.ended(p, Forced, now)
			e.By = c.By
			out = append(out, e)
		}
	}
	return out
}

// hasRoom tells whether a permit is free. While nobody has declared a capacity, there is room for the one who will.
func (s *State) hasRoom() bool { return s.Held() < max(s.capacity, 1) }

// refusal says why no grant can be made now, whoever asks.
func (s *State) refusal() error {
	switch {
	case s.suspended:
		return ErrSuspended
	case s.fence >= MaxFence:
		return ErrFenceExhausted
	}
	return nil
}

// grantCommand grants at once; w is the place that the asker's key may have had.
func (s *State) grantCommand(c *Command, w *waiter, now time.Time) Event {
	e := s.grant(now)
	e.Token, e.Key, e.Who, e.TTL = c.Token, c.Key, c.Who, c.TTL
	e.Declares = s.capacity == 0
	e.Capacity = cmp.Or(s.capacity, c.Capacity, 1)
	if w != nil {
		e.TTL, e.Enqueued = w.ttl, w.enqueued
	}
	e.Expires = now.Add(e.TTL)
	return e
}

func (s *State) grantWaiter(w *waiter, now time.Time) Event {
	e := s.grant(now)
	e.Token, e.Key, e.Who, e.TTL = w.token, w.key, w.who, w.ttl
	e.Enqueued, e.Expires = w.enqueued, now.Add(w.ttl)
	return e
}

func (s *State) grant(now time.Time) Event {
	return Event{
		Kind: Granted, At: now, Since: now, Fence: s.fence + 1, Slot: s.slots.lowest(), Capacity: s.capacity,
	}
}

// ended is the end of a lease, of whichever kind.
func (s *State) ended(p *permit, kind Kind, now time.Time) Event {
	return Event{
		Kind: kind, At: now, Token: p.Token, Key: p.key, Who: p.Who, Fence: p.Fence, Slot: p.Slot,
		Capacity: s.capacity, TTL: p.TTL, Since: p.Since, Enqueued: p.enqueued, Expires: p.Expires,
		Renewed: p.Renewed,
	}
}

// leaves is the end of a place. Only one who gave up spends its key: a wait that ran out may begin anew.
func (s *State) leaves(w *waiter, why Cause, now time.Time) Event {
	return Event{Kind: Left, Cause: why, At: now, Token: w.token, Key: w.key, Who: w.who, Enqueued: w.enqueued}
}

func (s *State) detaches(w *waiter, why Cause, now time.Time) Event {
	return Event{
		Kind: Detached, Cause: why, At: now, Token: w.token, Key: w.key, Who: w.who, TTL: w.ttl,
		Enqueued: w.enqueued, Deadline: now.Add(s.keep),
	}
}

func (s *State) reattaches(w *waiter, c *Command, now time.Time) Event {
	return Event{
		Kind: Reattached, At: now, Token: c.Token, Superseded: w.token, Key: w.key, Who: c.Who, TTL: w.ttl,
		Enqueued: w.enqueued, Deadline: now.Add(c.Wait),
	}
}
