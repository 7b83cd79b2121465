package lease

import "time"

// ticket is what a key has: a place, a lease, or (with neither) nothing ever again until it is forgotten.
type ticket struct {
	waiter *waiter
	permit *permit
	until  time.Time // spent: when it will be forgotten
}

func (t ticket) spent() bool { return t.waiter == nil && t.permit == nil }

type spentKey struct {
	key   Key
	until time.Time
}

// ticket looks up what a key has.
func (s *State) ticket(k Key) (t ticket, known bool) {
	if k.IsZero() {
		return ticket{}, false
	}
	t, known = s.tickets[k]
	return t, known
}

func (s *State) setTicket(k Key, t ticket) {
	if s.tickets == nil {
		s.tickets = make(map[Key]ticket)
	}
	s.tickets[k] = t
}

// spend remembers a key as one that gets nothing, for the keep window from at on. A place that it has is gone;
// a lease that it has stays, and will spend it when it ends.
func (s *State) spend(k Key, at time.Time) {
	if k.IsZero() {
		return
	}
	until := at.Add(s.keep)
	if t, known := s.tickets[k]; known {
		if t.permit != nil {
			return
		}
		if t.waiter != nil {
			s.dropWaiter(t.waiter)
		}
	}
	s.setTicket(k, ticket{until: until})
	s.spent = append(s.spent, spentKey{k, until})
}

// forget drops the oldest memory of a spent key, if it is k's. The key itself may have been spent once more since,
// or be in use again, when a replay has not seen that it was forgotten in between: then that stands.
func (s *State) forget(k Key) {
	if len(s.spent) == 0 || s.spent[0].key != k {
		return
	}
	until := s.spent[0].until
	s.spent = s.spent[1:]
	if t := s.tickets[k]; t.spent() && !t.until.After(until) {
		delete(s.tickets, k)
	}
	if len(s.spent) == 0 {
		s.spent = nil
	}
	if len(s.tickets) == 0 {
		s.tickets = nil
	}
}
