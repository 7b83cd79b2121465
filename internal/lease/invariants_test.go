package lease

import (
	"fmt"
	"slices"
)

// CheckInvariants walks the whole state and says which of its structures disagree. It is here for tests outside
// the package, which otherwise see the public surface alone.
func (s *State) CheckInvariants() error {
	for _, check := range []func() error{s.checkPermits, s.checkSlots, s.checkQueue, s.checkWaiters, s.checkTickets} {
		if err := check(); err != nil {
			return err
		}
	}
	if err := checkHeap("leases", &s.leases, s.Held()); err != nil {
		return err
	}
	return checkHeap("waits", &s.waits, s.queue.len())
}

func (s *State) checkPermits() error {
	var previous *permit
	n := 0
	for p := s.oldest; p != nil; previous, p = p, p.newer {
		n++
		switch {
		case p.older != previous:
			return fmt.Errorf("fence %d: the list does not lead back", p.Fence)
		case previous != nil && previous.Fence > p.Fence:
			return fmt.Errorf("fence %d comes after %d", p.Fence, previous.Fence)
		case s.permit(p.Token) != p:
			return fmt.Errorf("fence %d is not found by its token", p.Fence)
		case p.Fence > s.fence:
			return fmt.Errorf("fence %d is above the topic's, %d", p.Fence, s.fence)
		case s.leases.heap[p.due].what != p || !s.leases.heap[p.due].at.Equal(p.Expires):
			return fmt.Errorf("fence %d is not due when it expires", p.Fence)
		case !p.key.IsZero() && s.tickets[p.key].permit != p:
			return fmt.Errorf("fence %d is not found by its key", p.Fence)
		case p == s.spare:
			return fmt.Errorf("fence %d lives and is spare", p.Fence)
		}
	}
	if s.newest != previous || n != s.Held() {
		return fmt.Errorf("%d permits in the list, %d by token, or a wrong end", n, s.held)
	}
	return nil
}

func (s *State) checkSlots() error {
	var want slots
	for p := s.oldest; p != nil; p = p.newer {
		if want.taken(p.Slot) {
			return fmt.Errorf("slot %d is held twice", p.Slot)
		}
		want.take(p.Slot)
	}
	for slot := range 64 * max(len(s.slots), len(want)) {
		if s.slots.taken(slot) != want.taken(slot) {
			return fmt.Errorf("slot %d: taken is %v, its holder says %v", slot, s.slots.taken(slot), want.taken(slot))
		}
	}
	return nil
}

func (s *State) checkQueue() error {
	q := &s.queue
	if len(q.places) != len(q.tree) {
		return fmt.Errorf("%d places under a tree of %d", len(q.places), len(q.tree))
	}
	var sum tally
	var first *waiter
	for i, w := range q.places {
		if w == nil {
			continue
		}
		if w.place != i {
			return fmt.Errorf("the waiter at place %d says %d", i, w.place)
		}
		sum = sum.plus(tallyOf(w))
		if first == nil && w.present {
			first = w
		}
		if q.sum(i+1) != sum || q.position(w) != int(sum.taken) {
			return fmt.Errorf("the tree counts %v up to place %d, there are %v", q.sum(i+1), i, sum)
		}
	}
	if q.all != sum {
		return fmt.Errorf("the queue counts %v, there are %v", q.all, sum)
	}
	if q.first() != first {
		return fmt.Errorf("the first one present is not found")
	}
	return nil
}

func (s *State) checkWaiters() error {
	present := 0
	for _, w := range s.queue.places {
		switch {
		case w == nil:
		case w == s.left:
			return fmt.Errorf("place %d is in the queue and has left", w.place)
		case s.waits.heap[w.due].what != w:
			return fmt.Errorf("place %d does not find its deadline", w.place)
		case w.present != !w.token.IsZero():
			return fmt.Errorf("place %d: present is %v, but the token says otherwise", w.place, w.present)
		case w.present && s.waiting[w.token] != w:
			return fmt.Errorf("place %d is not found by its token", w.place)
		case w.present && s.permit(w.token) != nil:
			return fmt.Errorf("place %d waits and holds", w.place)
		case !w.present && w.key.IsZero():
			return fmt.Errorf("place %d is away and nobody can come back to it", w.place)
		case !w.key.IsZero() && s.tickets[w.key].waiter != w:
			return fmt.Errorf("place %d is not found by its key", w.place)
		case w.present:
			present++
		}
	}
	if present != len(s.waiting) {
		return fmt.Errorf("%d present in the queue, %d by token", present, len(s.waiting))
	}
	return nil
}

func (s *State) checkTickets() error {
	for k, t := range s.tickets {
		switch {
		case k.IsZero():
			return fmt.Errorf("no key has a ticket")
		case t.waiter != nil && (t.permit != nil || !slices.Contains(s.queue.places, t.waiter)):
			return fmt.Errorf("a ticket's waiter is not in the queue")
		case t.permit != nil && s.permit(t.permit.Token) != t.permit:
			return fmt.Errorf("a ticket's permit does not live")
		case t.spent() && !slices.Contains(s.spent, spentKey{k, t.until}):
			return fmt.Errorf("a spent key will never be forgotten")
		}
	}
	return nil
}

func checkHeap[T any](name string, h *deadlines[T], want int) error {
	for i := range h.heap {
		if *h.heap[i].index != i {
			return fmt.Errorf("%s: item %d says it is at %d", name, i, *h.heap[i].index)
		}
		if i > 0 && h.heap[i].before(&h.heap[(i-1)/2]) {
			return fmt.Errorf("%s: item %d is due before its parent", name, i)
		}
	}
	if h.len() != want {
		return fmt.Errorf("%s: %d deadlines for %d", name, h.len(), want)
	}
	return nil
}
