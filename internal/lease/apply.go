package lease

// Apply changes the state by one event: one just decided, or one read back from a journal. It refuses nothing:
// an event that has nothing to act on (a release whose grant was compacted away) changes nothing, one that is
// applied twice acts once, and one that contradicts the state (from a damaged journal) leaves it whole.
// Times of events that come from a file must have gone through [Event.Rebase].
func (s *State) Apply(e *Event) {
	switch e.Kind {
	case Declared:
		s.applyDeclared(e)
	case Granted:
		s.applyGranted(e)
	case Renewed:
		s.applyRenewed(e)
	case Released, Expired, Forced:
		s.applyEnded(e)
	case Enqueued:
		s.applyEnqueued(e)
	case Detached:
		s.applyDetached(e)
	case Reattached:
		s.applyReattached(e)
	case Left:
		s.applyLeft(e)
	case Spent:
		s.spend(e.Key, e.At)
	case Forgotten:
		s.forget(e.Key)
	}
}

// applyDeclared believes the record: the last one that a file has is the one that was in force.
func (s *State) applyDeclared(e *Event) {
	if e.Capacity > 0 {
		s.capacity = min(e.Capacity, MaxCapacity)
	}
	s.raiseFence(e.Fence)
}

// declare learns the capacity from the first grant or place that says it.
func (s *State) declare(capacity int) {
	if s.capacity == 0 {
		s.capacity = min(max(capacity, 1), MaxCapacity)
	}
}

// raiseFence never lets the fence go back.
func (s *State) raiseFence(f Fence) { s.fence = max(s.fence, min(f, MaxFence)) }

func (s *State) applyGranted(e *Event) {
	s.declare(e.Capacity)
	s.raiseFence(e.Fence)
	if w := s.waiting[e.Token]; w != nil {
		s.dropWaiter(w)
	}
	if w := s.tickets[e.Key].waiter; w != nil {
		s.dropWaiter(w)
	}
	if e.Token.IsZero() || s.permit(e.Token) != nil {
		return
	}
	s.addPermit(e)
}

func (s *State) applyRenewed(e *Event) {
	p := s.permit(e.Token)
	if p == nil {
		return
	}
	if e.TTL > 0 { // an old file's record has none
		p.TTL = e.TTL
	}
	p.Expires, p.Renewed = e.Expires, e.At
	s.leases.move(p.due, e.Expires)
}

func (s *State) applyEnded(e *Event) {
	p := s.permit(e.Token)
	if p == nil {
		return
	}
	s.dropPermit(p)
	s.spend(p.key, e.At) // the lease's own key: a record of its end need not repeat it
}

func (s *State) applyEnqueued(e *Event) {
	switch t := s.tickets[e.Key]; {
	case t.waiter != nil || t.permit != nil:
		return // the key has its place or its lease already
	case e.Token.IsZero() && e.Key.IsZero():
		return // nobody could ever take this place
	case s.inUse(e.Token):
		return
	}
	s.declare(e.Capacity)
	if s.line == nobody {
		s.line = new(line)
	}
	w := s.newWaiter()
	*w = waiter{token: e.Token, key: e.Key, who: e.Who, ttl: e.TTL, enqueued: e.Enqueued}
	w.present = !e.Token.IsZero() // a place read back from a journal has nobody there yet
	s.queue.push(w)
	s.waits.push(w, &w.due, e.Deadline)
	if w.present {
		s.setWaiting(w)
	}
	if !w.key.IsZero() {
		s.setTicket(w.key, ticket{waiter: w})
	}
}

// applyDetached keeps a place for a key; without a key nobody could come back to it.
func (s *State) applyDetached(e *Event) {
	w := s.tickets[e.Key].waiter
	if w == nil {
		return
	}
	delete(s.waiting, w.token)
	w.token = Token{}
	s.queue.setPresent(w, false)
	s.waits.move(w.due, e.Deadline)
}

func (s *State) applyReattached(e *Event) {
	w := s.tickets[e.Key].waiter
	if w == nil || e.Token.IsZero() || s.inUse(e.Token) {
		return
	}
	delete(s.waiting, w.token)
	w.token, w.who = e.Token, e.Who
	s.setWaiting(w)
	s.queue.setPresent(w, true)
	s.waits.move(w.due, e.Deadline)
}

func (s *State) applyLeft(e *Event) {
	w := s.tickets[e.Key].waiter
	if w == nil {
		w = s.waiting[e.Token]
	}
	if w == nil {
		return
	}
	s.dropWaiter(w)
	if e.Cause == GaveUp {
		s.spend(w.key, e.At)
	}
}

// inUse tells whether a token is a lease or a waiting request already.
func (s *State) inUse(t Token) bool { return s.permit(t) != nil || s.waiting[t] != nil }

func (s *State) setWaiting(w *waiter) {
	if s.waiting == nil {
		s.waiting = make(map[Token]*waiter)
	}
	s.waiting[w.token] = w
}

func (s *State) newWaiter() *waiter {
	if w := s.left; w != nil {
		s.left = nil
		return w
	}
	return new(waiter)
}

// dropWaiter ends a place. Its fields can be read until the next one comes.
func (s *State) dropWaiter(w *waiter) {
	s.queue.remove(w)
	s.waits.remove(w.due)
	delete(s.waiting, w.token)
	if !w.key.IsZero() {
		delete(s.tickets, w.key)
	}
	s.left = w
	if s.queue.len() == 0 && cap(s.queue.places) > crowd {
		s.line = nobody
	}
}
