package lease

import "math/bits"

// queue keeps the waiters in the order they came. Finding the first one present, a waiter's position and
// removing from the middle cost O(log n), so that a thousand waiters who leave cost the next one nothing.
//
// It is a slice of places (nil where someone left) under a Fenwick tree that counts, for each span of places,
// how many are taken and how many of those are present.
type queue struct {
	places []*waiter
	tree   []tally // tree[i] sums the lowbit(i+1) places that end at i
	all    tally
}

type tally struct{ taken, present int32 }

func (q *queue) len() int { return int(q.all.taken) }

// push appends w, present or away.
func (q *queue) push(w *waiter) {
	if len(q.places) >= 32 && len(q.places) > 2*q.len() {
		q.compact()
	}
	w.place = len(q.places)
	q.places = append(q.places, w)
	// The new node is the last, and spans the nodes that end one, two, four, ... places before it.
	mine := tallyOf(w)
	q.all = q.all.plus(mine)
	i := len(q.places)
	for before := 1; before < i&-i; before <<= 1 {
		mine = mine.plus(q.tree[i-before-1])
	}
	q.tree = append(q.tree, mine)
}

func (q *queue) remove(w *waiter) {
	q.add(w.place, tally{}.minus(tallyOf(w)))
	q.places[w.place] = nil
	if q.all.taken == 0 {
		q.places, q.tree = q.places[:0], q.tree[:0]
	}
}

// setPresent says whether w can be granted now.
func (q *queue) setPresent(w *waiter, present bool) {
	before := tallyOf(w)
	w.present = present
	q.add(w.place, tallyOf(w).minus(before))
}

// first gives the first waiter that is present, or nil.
func (q *queue) first() *waiter {
	if q.all.present == 0 {
		return nil
	}
	// Walk down the tree: skip each span that has nobody present.
	at := 0
	for step := 1 << (bits.Len(uint(len(q.tree))) - 1); step > 0; step >>= 1 {
		if next := at + step; next <= len(q.tree) && q.tree[next-1].present == 0 {
			at = next
		}
	}
	return q.places[at]
}

// position is w's place in the queue, from 1, counting those who are away.
func (q *queue) position(w *waiter) int { return int(q.sum(w.place + 1).taken) }

// each visits all waiters in order.
func (q *queue) each(visit func(*waiter)) {
	for _, w := range q.places {
		if w != nil {
			visit(w)
		}
	}
}

// compact closes the gaps. It is called when more than half the places are gaps, so its cost is spread over
// the leavings that made them.
func (q *queue) compact() {
	places := q.places
	*q = queue{places: places[:0], tree: q.tree[:0]}
	for _, w := range places {
		if w != nil {
			q.push(w) // never overtakes the reading
		}
	}
	clear(places[len(q.places):])
}

func (q *queue) add(place int, t tally) {
	q.all = q.all.plus(t)
	for i := place + 1; i <= len(q.tree); i += i & -i {
		q.tree[i-1] = q.tree[i-1].plus(t)
	}
}

// sum counts the first n places.
func (q *queue) sum(n int) (t tally) {
	for ; n > 0; n &= n - 1 {
		t = t.plus(q.tree[n-1])
	}
	return t
}

func tallyOf(w *waiter) tally {
	if w.present {
		return tally{1, 1}
	}
	return tally{1, 0}
}

func (t tally) plus(u tally) tally  { return tally{t.taken + u.taken, t.present + u.present} }
func (t tally) minus(u tally) tally { return tally{t.taken - u.taken, t.present - u.present} }
