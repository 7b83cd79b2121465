package lease

import (
	"fmt"
	"time"
)

// crowd is how many make the memory that they needed worth giving back once the last one is gone.
const crowd = 64

// State is one topic: its leases, its queue, its fence. The zero value is not ready; use [New].
type State struct {
	keep      time.Duration
	capacity  int // 0: not declared
	fence     Fence
	suspended bool

	held    int32
	byToken map[Token]*permit // nil while there are few
	oldest  *permit           // by fence, a doubly linked list
	newest  *permit
	leases  deadlines[*permit]
	slots   slots
	spare   *permit // the last one that ended, for the next grant

	*line // nobody, until somebody waits

	tickets map[Key]ticket
	spent   []spentKey // in the order they will be forgotten
}

// line is all that those who wait need. Most topics never have any.
type line struct {
	queue   queue
	waiting map[Token]*waiter // those present
	left    *waiter           // the last one that left, for the next to come
	waits   deadlines[*waiter]
}

// nobody is the line of every topic where nobody waits. It is only read.
var nobody = new(line)

// waiter is a place in the queue.
type waiter struct {
	due      int   // index among the deadlines
	token    Token // of the request that waits; zero while away
	key      Key
	who      Who
	ttl      time.Duration
	enqueued time.Time
	place    int
	present  bool
}

// New makes a topic that nobody has used. Its fences start above floor; keep is how long the place of a ticket
// whose client went away is kept, and how long a spent key is remembered.
func New(floor Fence, keep time.Duration) *State {
	return &State{keep: keep, fence: floor, line: nobody}
}

// Suspend stops grants and what else is written down for a key that nobody has used before: its place in line, and that it
// was given up. Releases, renewals and all other waiting go on. Or it lets them resume with the next [State.Settle].
func (s *State) Suspend(on bool) { s.suspended = on }

// Format tells the topic's figures whatever the verb: a careless %v of a state must not show the secrets in it.
func (s *State) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "capacity %d, fence %d, %d holding, %d waiting", s.capacity, s.fence, s.Held(), s.Waiting())
}

// Fence is the highest fence granted so far, or the floor.
func (s *State) Fence() Fence { return s.fence }

// Capacity is how many may hold the topic at once, 0 while nobody has declared it.
func (s *State) Capacity() int { return s.capacity }

// Held is how many hold the topic.
func (s *State) Held() int { return int(s.held) }

// Waiting is how many places the queue has, those of clients that are away included.
func (s *State) Waiting() int { return s.queue.len() }

// Idle tells whether the topic could be forgotten but for its fence and capacity: no lease, no place,
// no spent key that must still be refused.
func (s *State) Idle() bool {
	return s.held == 0 && s.queue.len() == 0 && len(s.tickets) == 0
}

// NextDue is when [State.Settle] next has something to do, if nothing happens before.
func (s *State) NextDue() (at time.Time, ok bool) {
	nearer := func(t time.Time) {
		if !ok || t.Before(at) {
			at, ok = t, true
		}
	}
	if s.waits.len() > 0 {
		nearer(s.waits.nearest().at)
	}
	if s.leases.len() > 0 {
		nearer(s.leases.nearest().at)
	}
	if len(s.spent) > 0 {
		nearer(s.spent[0].until)
	}
	return at, ok
}

// HolderNames lists who holds the topic, by fence.
func (s *State) HolderNames() []string {
	names := make([]string, 0, s.held)
	for p := s.oldest; p != nil; p = p.newer {
		names = append(names, p.Who.Name)
	}
	return names
}

// Status shows the topic to anybody.
func (s *State) Status() Status {
	st := Status{
		Capacity: s.capacity,
		Holders:  make([]Holder, 0, s.held),
		Waiters:  make([]Waiter, 0, s.queue.len()),
	}
	for p := s.oldest; p != nil; p = p.newer {
		st.Holders = append(st.Holders, Holder{
			Who: p.Who, Fence: p.Fence, Slot: p.Slot, Since: p.Since, Renewed: p.Renewed, Expires: p.Expires,
		})
	}
	s.queue.each(func(w *waiter) {
		st.Waiters = append(st.Waiters, Waiter{
			Who: w.who, Position: len(st.Waiters) + 1, Enqueued: w.enqueued, Away: !w.present,
		})
	})
	return st
}

// refused states the facts for one who got nothing; key says whose position to tell.
func (s *State) refused(kind error, key Key, now time.Time) *HeldError {
	e := &HeldError{Kind: kind, Holders: s.HolderNames(), Waiting: s.queue.len()}
	if s.leases.len() > 0 {
		e.RetryAfter = s.leases.nearest().at.Sub(now)
	}
	if w := s.tickets[key].waiter; w != nil {
		e.Position = s.queue.position(w)
	}
	return e
}

// TimeoutError says why the wait that the event ended got nothing. The event must be the last one applied
// that concerns its key.
func (s *State) TimeoutError(e *Event) *HeldError { return s.refused(ErrTimeout, e.Key, e.At) }
