package journal

import (
	"cmp"
	"slices"
	"time"

	"legible.sh/mutex/internal/lease"
)

// instant is a wall-clock time in Unix nanoseconds, 0 for none: a third of a [time.Time], and there are many.
type instant int64

func instantOf(t time.Time) instant {
	if t.IsZero() {
		return 0
	}
	return instant(t.UnixNano())
}

func (i instant) time() time.Time {
	if i == 0 {
		return time.Time{}
	}
	return time.Unix(0, int64(i))
}

// lastInstant is in the year 2116. Times up to there can be added up without an overflow.
const lastInstant = instant(1<<63-1) / 2

// shift moves a time along with the wall clock, but not out of what a file can say.
func (i *instant) shift(d time.Duration) {
	if *i != 0 {
		*i = max(1, min(*i/2+instant(d)/2, lastInstant/2)*2)
	}
}

// topicFold is what must be known of one topic to rebuild it: what its records come to.
type topicFold struct {
	capacity int
	fence    lease.Fence
	leases   []leaseFold // by fence
	places   []*placeFold
	spent    []spentFold // by time
	copied   uint64      // the last snapshot that has it; see fold
}

type leaseFold struct {
	token    lease.Token
	key      lease.Key
	who      lease.Who
	fence    lease.Fence
	slot     int // -1: a first-generation file did not say
	asked    time.Duration
	ttl      time.Duration
	since    instant
	enqueued instant
	renewed  instant // 0: never
	expires  instant
}

type placeFold struct {
	key      lease.Key
	who      lease.Who
	ttl      time.Duration
	enqueued instant
}

type spentFold struct {
	key lease.Key
	at  instant
}

// declare learns capacity and fence; neither ever goes back.
func (t *topicFold) declare(capacity int, fence lease.Fence) {
	if t.capacity == 0 {
		t.capacity = capacity
	}
	t.fence = max(t.fence, fence)
}

// grant adds a lease. Its key, if any, has no place any more.
func (t *topicFold) grant(e *lease.Event) {
	t.declare(e.Capacity, e.Fence)
	if !e.Key.IsZero() {
		t.leave(e.Key)
	}
	l := leaseFold{
		token: e.Token, key: e.Key, who: e.Who, fence: e.Fence, slot: e.Slot, asked: e.TTL, ttl: e.TTL,
		since: instantOf(e.Since), enqueued: instantOf(e.Enqueued), expires: instantOf(e.Expires),
	}
	// A grant has the highest fence, so this is an append; only a file can have it otherwise.
	at := len(t.leases)
	for at > 0 && t.leases[at-1].fence > l.fence {
		at--
	}
	t.leases = slices.Insert(t.leases, at, l)
}

// usurped gives the index of a lease whose slot was granted again while the topic is over its capacity, or -1: the
// record of its end was lost to damage. Granted is the one that has the slot now.
func (t *topicFold) usurped(granted *lease.Event) int {
	if granted.Slot < 0 || t.capacity == 0 || len(t.leases) <= t.capacity {
		return -1
	}
	return slices.IndexFunc(t.leases, func(l leaseFold) bool {
		return l.slot == granted.Slot && l.token != granted.Token
	})
}

// find gives the index of a lease, or -1. Records of the first generation do not say the fence.
func (t *topicFold) find(token lease.Token, fence lease.Fence) int {
	if fence == 0 {
		return slices.IndexFunc(t.leases, func(l leaseFold) bool { return l.token == token })
	}
	at, _ := slices.BinarySearchFunc(t.leases, fence, func(l leaseFold, f lease.Fence) int {
		return cmp.Compare(l.fence, f)
	})
	for ; at < len(t.leases) && t.leases[at].fence == fence; at++ {
		if t.leases[at].token == token {
			return at
		}
	}
	return -1
}

// renew moves a lease's end. Where the file does not say the ttl, it is the lease's own.
func (l *leaseFold) renew(e *lease.Event) {
	if e.TTL > 0 {
		l.ttl = e.TTL
	}
	l.expires = instantOf(e.Expires)
	l.renewed = instantOf(e.At)
	if l.renewed == 0 {
		l.renewed = l.expires - instant(l.ttl)
	}
}

// remove ends a lease, and clears what is left of it in memory. A topic of small capacity keeps the space.
func (t *topicFold) remove(at int) {
	t.leases = slices.Delete(t.leases, at, at+1)
	if len(t.leases) == 0 && cap(t.leases) > 4 {
		t.leases = nil
	}
}

// enqueue adds a place at the end of the queue.
func (t *topicFold) enqueue(e *lease.Event) {
	t.leave(e.Key)
	t.places = append(t.places, &placeFold{key: e.Key, who: e.Who, ttl: e.TTL, enqueued: instantOf(e.Enqueued)})
}

// leave removes a key's place, if it has one. Places are mostly left at the head.
func (t *topicFold) leave(key lease.Key) (left bool) {
	at := slices.IndexFunc(t.places, func(p *placeFold) bool { return p.key == key })
	switch {
	case at < 0:
		return false
	case len(t.places) == 1:
		t.places = nil
	case at == 0:
		t.places[0] = nil
		t.places = t.places[1:]
	default:
		t.places = slices.Delete(t.places, at, at+1)
	}
	return true
}

// forget drops the keys that were spent at or before a time.
func (t *topicFold) forget(until instant) {
	n := 0
	for n < len(t.spent) && t.spent[n].at <= until {
		n++
	}
	t.spent = t.spent[n:]
	if len(t.spent) == 0 {
		t.spent = nil
	}
}

// shift moves all its times along with the wall clock.
func (t *topicFold) shift(d time.Duration) {
	for i := range t.leases {
		l := &t.leases[i]
		for _, at := range []*instant{&l.since, &l.enqueued, &l.renewed, &l.expires} {
			at.shift(d)
		}
	}
	for _, p := range t.places {
		p.enqueued.shift(d)
	}
	for i := range t.spent {
		t.spent[i].at.shift(d)
	}
}
