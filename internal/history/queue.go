package history

import (
	"sync"

	"legible.sh/mutex/internal/lease"
)

// observed is an event on its way to the writer. The lease's id is computed there, off the hot path; until then its
// token travels along, and it is wiped with the rest once the event is written.
type observed struct {
	Event
	token lease.Token
}

// queue is the bounded buffer between those who observe and the writer. It has two slices, one that fills and one that
// is being written, so that in the steady state nothing is allocated.
type queue struct {
	limit int
	some  chan struct{} // holds one: there is something to take
	many  chan struct{} // holds one: half of the limit has gathered

	mu      sync.Mutex
	filling []observed // guarded by mu; observers append, the writer swaps
	dropped uint64     // guarded by mu
	closed  bool       // guarded by mu: nobody will take any more
}

func newQueue(limit int) *queue {
	return &queue{limit: limit, some: make(chan struct{}, 1), many: make(chan struct{}, 1)}
}

// push copies what belongs into history. A full queue drops; one that is half full already drops renewals,
// which say least.
func (q *queue) push(topic string, events []lease.Event) {
	q.mu.Lock()
	before := len(q.filling)
	for i := range events {
		q.pushOne(topic, &events[i])
	}
	after := len(q.filling)
	q.mu.Unlock()

	if before == 0 && after > 0 {
		signal(q.some)
	}
	if half := q.limit / 2; before < half && after >= half {
		signal(q.many)
	}
}

func (q *queue) pushOne(topic string, from *lease.Event) {
	kind := kindOf(from.Kind)
	if kind == 0 {
		return
	}
	n := len(q.filling)
	if q.closed || n >= q.limit || kind == Renewed && n >= q.limit/2 {
		q.dropped++
		return
	}
	if n < cap(q.filling) {
		q.filling = q.filling[:n+1]
	} else {
		q.filling = append(q.filling, observed{})
	}
	o := &q.filling[n]
	o.observe(topic, from)
	o.token = from.Token
}

// kept is how many events a slice may have room for when few come.
const kept = 1024

// take gives what has gathered and leaves the empty slice spare to be filled next. A slice that a burst has made large
// goes with it.
func (q *queue) take(spare []observed) []observed {
	q.mu.Lock()
	defer q.mu.Unlock()
	taken := q.filling
	if cap(spare) > max(kept, 4*len(taken)) {
		spare = nil
	}
	q.filling = spare[:0]
	return taken
}

// close makes every further event a dropped one.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
}

func (q *queue) drop(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dropped += uint64(n)
}

func (q *queue) counts() (queued int, dropped uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.filling), q.dropped
}

// signal leaves a note in a channel that holds one; a note that is there already says the same.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
