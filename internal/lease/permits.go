package lease

import "time"

// permit is a lease that lives: the fields of a [Lease] but for the capacity, which is the topic's, and a few more. With
// one more word, ten thousand of them would take a size class more.
type permit struct {
	Token   Token
	Who     Who
	Fence   Fence
	Slot    int
	TTL     time.Duration
	Since   time.Time
	Renewed time.Time
	Expires time.Time

	due      int // index among the deadlines
	key      Key
	asked    time.Duration // the ttl it was acquired with, which a repeated acquire must agree with
	enqueued time.Time
	older    *permit // by fence
	newer    *permit
}

// addPermit makes the lease that a grant describes; its token must not live yet.
func (s *State) addPermit(e *Event) {
	p := s.newPermit()
	*p = permit{
		Token: e.Token, Who: e.Who, Fence: min(e.Fence, MaxFence), Slot: s.slotFor(e), TTL: e.TTL,
		Since: e.Since, Expires: e.Expires,
		key: e.Key, asked: e.TTL, enqueued: e.Enqueued,
	}
	s.link(p)
	s.leases.push(p, &p.due, p.Expires)
	s.slots.take(p.Slot)
	s.index(p)
	if p.key.IsZero() {
		return
	}
	if other := s.tickets[p.key].permit; other != nil {
		other.key = Key{} // a damaged journal gave one key two leases: the later one keeps it
	}
	s.setTicket(p.key, ticket{permit: p})
}

// few is how many permits are found faster, and in less memory, by looking at each than by a map.
const few = 8

// permit finds a lease that lives, or nil.
func (s *State) permit(t Token) *permit {
	if s.byToken != nil {
		return s.byToken[t]
	}
	for p := s.oldest; p != nil; p = p.newer {
		if p.Token == t {
			return p
		}
	}
	return nil
}

// index makes a permit that is in the list one that can be found.
func (s *State) index(p *permit) {
	s.held++
	switch {
	case s.byToken != nil:
		s.byToken[p.Token] = p
	case s.held > few:
		s.byToken = make(map[Token]*permit, 2*few)
		for p := s.oldest; p != nil; p = p.newer {
			s.byToken[p.Token] = p
		}
	}
}

// dropPermit ends a lease. Its fields can be read until the next grant.
func (s *State) dropPermit(p *permit) {
	s.held--
	delete(s.byToken, p.Token)
	s.leases.remove(p.due)
	s.slots.free(p.Slot)
	s.unlink(p)
	if !p.key.IsZero() {
		delete(s.tickets, p.key)
	}
	s.spare = p
	if s.held == 0 && cap(s.leases.heap) > crowd {
		s.byToken, s.leases, s.slots = nil, deadlines[*permit]{}, nil
	}
}

func (s *State) newPermit() *permit {
	if p := s.spare; p != nil {
		s.spare = nil
		return p
	}
	return new(permit)
}

// slotFor is the event's slot, or the lowest free one where a file has none that can be used.
func (s *State) slotFor(e *Event) int {
	if e.Slot < 0 || e.Slot >= s.capacity || s.slots.taken(e.Slot) {
		return s.slots.lowest()
	}
	return e.Slot
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
