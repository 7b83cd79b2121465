package lease

// Apply changes the state by one event: one just decided, or one read back from a journal. It refuses nothing;
// an event that has nothing to act on (a release whose grant was compacted away) changes nothing.
// Times of events that come from a file must have gone through [Event.Rebase].
func (s *State) Apply(e *Event) {
	switch e.Kind {
	case Declared:
		s.declare(e)
	case Granted:
		s.applyGranted(e)
	case Renewed:
		s.applyRenewed(e)
	case Released, Expired, Forced:
		s.applyEnded(e)
	case Enqueued:
		s.applyEnqueued(e)
	case Detached:
		if w := s.waiterOf(e); w != nil {
			s.detach(w, e)
		}
	case Reattached:
		if w := s.tickets[e.Key].waiter; w != nil {
			s.attach(w, e)
		}
	case Left:
		s.applyLeft(e)
	case Spent:
		s.spend(e)
	case Forgotten:
		s.applyForgotten(e)
	}
}

// declare learns capacity and fence; neither ever goes back.
func (s *State) declare(e *Event) {
	if s.capacity == 0 {
		s.capacity = e.Capacity
	}
	s.fence = max(s.fence, e.Fence)
}

func (s *State) applyGranted(e *Event) {
	if w := s.waiterOf(e); w != nil {
		s.dropWaiter(w)
	}
	s.declare(e)
	p := s.newPermit()
	*p = permit{
		Lease: Lease{
			Token: e.Token, Who: e.Who, Fence: e.Fence, Slot: s.slotFor(e), Capacity: s.capacity, TTL: e.TTL,
			Since: e.Since, Expires: e.Expires,
		},
		key: e.Key, asked: e.TTL, enqueued: e.Enqueued,
	}
	p.at = e.Expires
	s.link(p)
	s.leases.push(p)
	s.slots.take(p.Slot)
	if s.permits == nil {
		s.permits = make(map[Token]*permit)
	}
	s.permits[p.Token] = p
	if !p.key.IsZero() {
		s.setTicket(p.key, ticket{permit: p})
	}
}

// slotFor is the event's slot, or the lowest free one where a file has none that can be used.
func (s *State) slotFor(e *Event) int {
	if e.Slot < 0 || e.Slot >= s.capacity || s.slots.taken(e.Slot) {
		return s.slots.lowest()
	}
	return e.Slot
}

func (s *State) applyRenewed(e *Event) {
	p := s.permits[e.Token]
	if p == nil {
		return
	}
	p.TTL, p.Expires, p.Renewed = e.TTL, e.Expires, e.At
	s.leases.move(p, e.Expires)
}

func (s *State) applyEnded(e *Event) {
	p := s.permits[e.Token]
	if p == nil {
		return
	}
	delete(s.permits, p.Token)
	s.leases.remove(p)
	s.slots.free(p.Slot)
	s.unlink(p)
	if !p.key.IsZero() {
		s.spend(e)
	}
	s.spare = p
}

func (s *State) applyEnqueued(e *Event) {
	w := &waiter{token: e.Token, key: e.Key, who: e.Who, ttl: e.TTL, enqueued: e.Enqueued}
	w.at = e.Deadline
	w.present = !e.Token.IsZero() // a place read back from a journal has nobody there yet
	s.queue.push(w)
	s.waits.push(w)
	if w.present {
		s.setWaiting(w)
	}
	if !w.key.IsZero() {
		s.setTicket(w.key, ticket{waiter: w})
	}
}

// waiterOf finds the place an event is about.
func (s *State) waiterOf(e *Event) *waiter {
	if !e.Key.IsZero() {
		return s.tickets[e.Key].waiter
	}
	return s.waiting[e.Token]
}

func (s *State) detach(w *waiter, e *Event) {
	delete(s.waiting, w.token)
	w.token = Token{}
	s.queue.setPresent(w, false)
	s.waits.move(w, e.Deadline)
}

func (s *State) attach(w *waiter, e *Event) {
	delete(s.waiting, w.token)
	w.token, w.who = e.Token, e.Who
	s.setWaiting(w)
	s.queue.setPresent(w, true)
	s.waits.move(w, e.Deadline)
}

func (s *State) applyLeft(e *Event) {
	w := s.waiterOf(e)
	if w == nil {
		return
	}
	s.dropWaiter(w)
	if e.Cause == GaveUp {
		s.spend(e)
	}
}

func (s *State) dropWaiter(w *waiter) {
	s.queue.remove(w)
	s.waits.remove(w)
	delete(s.waiting, w.token)
	if !w.key.IsZero() {
		delete(s.tickets, w.key)
	}
}

// spend remembers the event's key as one that gets nothing, for the keep window from the event on.
func (s *State) spend(e *Event) {
	s.setTicket(e.Key, ticket{})
	s.spent = append(s.spent, spentKey{e.Key, e.At.Add(s.keep)})
}

func (s *State) applyForgotten(e *Event) {
	delete(s.tickets, e.Key)
	if len(s.spent) > 0 && s.spent[0].key == e.Key {
		s.spent = s.spent[1:]
	}
	if len(s.spent) == 0 {
		s.spent = nil
	}
}

func (s *State) setWaiting(w *waiter) {
	if s.waiting == nil {
		s.waiting = make(map[Token]*waiter)
	}
	s.waiting[w.token] = w
}

func (s *State) setTicket(k Key, t ticket) {
	if s.tickets == nil {
		s.tickets = make(map[Key]ticket)
	}
	s.tickets[k] = t
}

func (s *State) newPermit() *permit {
	if p := s.spare; p != nil {
		s.spare = nil
		return p
	}
	return new(permit)
}

// link keeps the permits in the order of their fences. A grant has the highest, so it goes to the end at once;
// only a replay can come out of order.
func (s *State) link(p *permit) {
	at := s.newest
	for at != nil && at.Fence > p.Fence {
		at = at.older
	}
	p.older = at
	if at == nil {
		p.newer, s.oldest = s.oldest, p
	} else {
		p.newer, at.newer = at.newer, p
	}
	if p.newer == nil {
		s.newest = p
	} else {
		p.newer.older = p
	}
}

func (s *State) unlink(p *permit) {
	if p.older == nil {
		s.oldest = p.newer
	} else {
		p.older.newer = p.newer
	}
	if p.newer == nil {
		s.newest = p.older
	} else {
		p.newer.older = p.older
	}
}
