package bench

import (
	"sync"
	"time"
)

// referee watches one topic through the eyes of all its clients, and knows what none of them can know alone.
//
// What it may conclude: between a grant that was read and its release being sent, the client held for certain, so no
// other grant may be read there. Fences rise from grant to grant. And who was in the server's queue before another
// had sent its request is granted before that one.
type referee struct {
	mu sync.Mutex // guards what follows, which all clients of the topic share

	holder   int // index of the place that holds, or nobody
	fence    int64
	released time.Time // when the last release was sent
	places   []place
	looks    int // how often the queue was seen

	handoffs int64 // grants that followed a release
	pairs    int64 // of places whose order was known and right
}

const nobody = -1

// place is one client's place in the line.
type place struct {
	round  int
	queued bool
	sent   time.Time
	// after is how often the queue had been seen when the request was sent; seen is when this place was first seen
	// in it, and rank is how far ahead it stood when it was last seen. 0 is never for both.
	after, seen, last, rank int
}

func newReferee(places int) *referee {
	return &referee{holder: nobody, places: make([]place, places)}
}

// queues must be called before the request for a place is sent.
func (r *referee) queues(index, round int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.places[index] = place{round: round, queued: true, sent: time.Now(), after: r.looks}
}

// sees takes the queue as the server listed it.
func (r *referee) sees(names []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.looks++
	for rank, name := range names {
		index, round, ok := parseMemberName(name)
		if !ok || index < 0 || index >= len(r.places) {
			continue
		}
		p := &r.places[index]
		if !p.queued || p.round != round {
			continue // it was granted meanwhile
		}
		if p.seen == 0 {
			p.seen = r.looks
		}
		p.last, p.rank = r.looks, rank
	}
}

// granted must be called as soon as a grant has been read. handed says whether the place was waiting when the last
// release was sent, and took how long ago that is.
func (r *referee) granted(index int, fence int64, read time.Time) (took time.Duration, handed bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.places[index]
	r.places[index].queued = false
	switch {
	case r.holder != nobody:
		return 0, false, violated("%s and %s held at once", r.name(r.holder), r.name(index))
	case fence <= r.fence:
		return 0, false, violated("%s was granted fence %d after %d", r.name(index), fence, r.fence)
	}
	if ahead := r.ahead(p); ahead != nobody {
		return 0, false, violated("%s was granted before %s, which stood in line before it", r.name(index), r.name(ahead))
	}
	r.holder, r.fence = index, fence
	if r.released.IsZero() || p.sent.After(r.released) {
		return 0, false, nil
	}
	r.handoffs++
	return read.Sub(r.released), true, nil
}

// ahead finds a place that still waits though it is known to stand before p.
func (r *referee) ahead(p place) int {
	for i, other := range r.places {
		if !other.queued {
			continue
		}
		if other.before(p) {
			return i
		}
		if p.before(other) {
			r.pairs++
		}
	}
	return nobody
}

// before tells whether p is known to stand before other.
func (p place) before(other place) bool {
	return p.seen != 0 && (p.seen <= other.after || p.last == other.last && p.rank < other.rank)
}

// releases must be called right before a release is sent.
func (r *referee) releases() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.holder = nobody
	r.released = time.Now()
}

func (r *referee) name(index int) string { return memberName(index, r.places[index].round) }
