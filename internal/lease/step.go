package lease

import "time"

// Step runs one command at now: what is due is settled first, then the command is decided and applied, then
// what has become possible by it is granted. The events are appended to out in the order they took effect, also
// when the command is refused: what was due happened all the same.
func (s *State) Step(c *Command, now time.Time, out []Event) (Outcome, []Event, error) {
	out = s.Settle(now, out)
	mark := len(out)
	out, err := s.Decide(c, now, out)
	for i := mark; i < len(out); i++ {
		s.Apply(&out[i])
	}
	if err != nil {
		return Outcome{}, out, s.explain(err, c, now)
	}
	result := s.outcome(c, out[mark:])
	return result, s.Settle(now, out), nil
}

// explain turns the bare refusal into one with facts; they are those after the refusal, a refreshed place included.
func (s *State) explain(err error, c *Command, now time.Time) error {
	if err == ErrBusy {
		return s.refused(ErrBusy, c.Key, now)
	}
	return err
}

// outcome tells the asker what became of its command, from the events that it caused.
func (s *State) outcome(c *Command, caused []Event) Outcome {
	switch c.Op {
	case Acquire:
		if p := s.permit(c.Token); p != nil {
			return Outcome{Lease: s.lease(p)}
		}
		if p := s.tickets[c.Key].permit; p != nil {
			return Outcome{Lease: s.lease(p), Replayed: true}
		}
		return Outcome{Waiting: true}
	case Renew, Check:
		return Outcome{Lease: s.lease(s.permit(c.Token))}
	case Release, GiveUp:
		for i := range caused {
			if e := &caused[i]; e.Kind == Released {
				return Outcome{Lease: Lease{Token: e.Token, Who: e.Who, Fence: e.Fence, Slot: e.Slot,
					Capacity: s.capacity, TTL: e.TTL, Since: e.Since, Expires: e.Expires}}
			}
			if caused[i].Kind == Left {
				return Outcome{LeftQueue: true}
			}
		}
	}
	return Outcome{}
}

// lease is the permit as its owner may see it.
func (s *State) lease(p *permit) Lease {
	return Lease{
		Token: p.Token, Who: p.Who, Fence: p.Fence, Slot: p.Slot, Capacity: s.capacity, TTL: p.TTL,
		Since: p.Since, Renewed: p.Renewed, Expires: p.Expires,
	}
}

// pending is what time alone brings about next.
type pending uint8

const (
	nothing pending = iota
	waitEnds
	leaseEnds
	keyForgotten
	permitGranted
)

// Settle applies everything that is due at now and grants what is free, in the order that the package promises.
func (s *State) Settle(now time.Time, out []Event) []Event {
	for what := s.pending(now); what != nothing; what = s.pending(now) {
		out = s.bring(what, now, out)
		s.Apply(&out[len(out)-1])
	}
	return out
}

// pending looks what is due. It is apart from doing it because mostly it is nothing, and then costs nothing.
func (s *State) pending(now time.Time) pending {
	switch {
	case s.waits.due(now):
		return waitEnds
	case s.leases.due(now):
		return leaseEnds
	case len(s.spent) > 0 && !s.spent[0].until.After(now):
		return keyForgotten
	case s.queue.all.present > 0 && s.hasRoom() && s.refusal() == nil:
		return permitGranted
	}
	return nothing
}

// bring appends the event of what is pending.
func (s *State) bring(what pending, now time.Time, out []Event) []Event {
	switch what {
	case waitEnds:
		return append(out, s.waitOver(s.waits.nearest().what, now))
	case leaseEnds:
		return append(out, s.ended(s.leases.nearest().what, Expired, now))
	case keyForgotten:
		return append(out, Event{Kind: Forgotten, At: now, Key: s.spent[0].key})
	default:
		return append(out, s.grantWaiter(s.queue.first(), now))
	}
}

// waitOver ends a request's wait: a ticket's place is kept for a while, and then ends for good.
func (s *State) waitOver(w *waiter, now time.Time) Event {
	switch {
	case !w.present:
		return s.leaves(w, Lapsed, now)
	case w.key.IsZero():
		return s.leaves(w, TimedOut, now)
	}
	return s.detaches(w, TimedOut, now)
}
