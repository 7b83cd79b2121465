package journal

import (
	"slices"
	"sync"
	"time"

	"legible.sh/mutex/internal/journal/record"
	"legible.sh/mutex/internal/lease"
)

// request is one actor's turn on its way to the disk. It belongs to the appender until it is in the queue, to the
// committer until it has answered, and then to the appender again. A retirement has no appender waiting.
type request struct {
	topic   lease.Topic
	events  []lease.Event // the appender's own; nil in a retirement
	lines   []byte        // the durable ones, encoded
	records int
	room    int64       // what the leases and places made here will need set aside
	fence   lease.Fence // of a retirement
	done    chan error  // holds one; nil in a retirement
}

// maxKept bounds the buffer that a request takes back to the pool.
const maxKept = 64 << 10

// encode writes the lines on the appender's goroutine, so that the committer only copies.
func (r *request) encode(topic lease.Topic, events []lease.Event, span time.Duration) {
	r.topic, r.events = topic, events
	for i := range events {
		e := &events[i]
		if !e.Durable() {
			continue
		}
		r.lines = record.AppendEvent(r.lines, topic, e)
		r.records++
		switch e.Kind {
		case lease.Granted:
			r.room += roomFor(e.TTL, span)
		case lease.Enqueued:
			r.room += leaveSize
		}
	}
}

// before tells whether the events are from before the wall clock was set by step: their latest time is nearer to now as it
// would have been. Requests wait for less than any step, but on a disk that is slower than that, where it errs by no more.
func (r *request) before(now Reading, step time.Duration) bool {
	var latest instant
	for i := range r.events {
		latest = max(latest, instantOf(r.events[i].At))
	}
	age := time.Duration(instantOf(now.Now) - latest)
	return latest != 0 && (age-step).Abs() < age.Abs()
}

// moveEarlier moves those of a batch that are from before the wall clock was set.
func moveEarlier(batch []*request, now Reading, step time.Duration) {
	for _, r := range batch {
		if r.before(now, step) {
			r.move(step)
		}
	}
}

// move moves the events along with the wall clock. The appender's own stay as they are: it counts on, by a clock that
// nobody sets.
func (r *request) move(step time.Duration) {
	r.events, r.lines = slices.Clone(r.events), r.lines[:0]
	for i := range r.events {
		move(&r.events[i], step)
		r.lines = record.AppendEvent(r.lines, r.topic, &r.events[i])
	}
}

func (r *request) answer(err error) {
	if r.done != nil {
		r.done <- err // holds one: never blocks
	}
}

// queue is where appenders leave their requests and the committer takes them all at once.
type queue struct {
	ready chan struct{} // holds one: there is something to take
	spare sync.Pool     // of answered requests

	mu       sync.Mutex // appenders and the committer
	waiting  []*request
	retiring map[lease.Topic]int // retirements that are not in the fold yet
	closed   bool
}

func newQueue() *queue {
	return &queue{ready: make(chan struct{}, 1), retiring: make(map[lease.Topic]int)}
}

// request gives an empty request.
func (q *queue) request() *request {
	if r, ok := q.spare.Get().(*request); ok {
		return r
	}
	return &request{done: make(chan error, 1)}
}

// free takes an answered request back, without the secrets it carried.
func (q *queue) free(r *request) {
	clear(r.lines)
	if cap(r.lines) > maxKept {
		r.lines = nil
	}
	*r = request{lines: r.lines[:0], done: r.done}
	q.spare.Put(r)
}

// push leaves a request; false when the queue is closed. It wakes nobody.
func (q *queue) push(r *request) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed {
		q.waiting = append(q.waiting, r)
		if r.done == nil {
			q.retiring[r.topic]++
		}
	}
	return !q.closed
}

// retired says that a retirement is in the fold.
func (q *queue) retired(topic lease.Topic) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.retiring[topic]--; q.retiring[topic] <= 0 {
		delete(q.retiring, topic)
	}
}

// retires tells whether a topic's retirement is still on its way.
func (q *queue) retires(topic lease.Topic) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.retiring[topic] > 0
}

func (q *queue) empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting) == 0
}

// wake tells the journal's goroutine that there is something to take.
func (q *queue) wake() {
	select {
	case q.ready <- struct{}{}:
	default: // it is told already
	}
}

// take gives all that wait, in order, and keeps the emptied slice for the next ones.
func (q *queue) take(emptied []*request) []*request {
	q.mu.Lock()
	defer q.mu.Unlock()
	taken := q.waiting
	q.waiting = emptied
	return taken
}

// close lets nobody in any more.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
}
