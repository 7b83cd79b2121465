package journal

import (
	"time"

	"legible.sh/mutex/internal/journal/record"
	"legible.sh/mutex/internal/lease"
)

// fold is what all records so far come to: the compact state of every topic, as last acknowledged. It is the one
// source for compaction, for recovery after a failure, and for rebuilding an actor. It does not decide anything; a
// topic rebuilt from it decides as before.
//
// It is not safe for concurrent use: [sharedFold] guards it.
type fold struct {
	keep   time.Duration // how long a spent key is remembered
	span   time.Duration // for how long each lease has room set aside
	topics map[lease.Topic]*topicFold
	floor  lease.Fence
	high   lease.Fence // the highest fence seen on any topic

	anchor anchor // the clocks that all its times are by

	spent int // keys remembered as spent, of all topics

	// What a snapshot would hold, and the room that renewing and ending all leases, and leaving all places, takes, in bytes,
	// roughly.
	content int64
	room    int64

	// A snapshot in progress: topics whose copied is this number are in it already, and what is acknowledged on them
	// since lies in tail. Each topic's snapshot comes before its tail, since both pass through the lock.
	snapshot     uint64
	snapshotting bool
	tail         []byte
}

// What a record takes, in bytes: rounded up from what names and numbers of a usual length give.
const (
	topicSize = 100
	leaseSize = 400
	placeSize = 300
	spentSize = 160
	renewSize = 180
	endSize   = 140
	leaveSize = 180
)

func newFold(keep, span time.Duration) *fold {
	return &fold{keep: keep, span: span, topics: make(map[lease.Topic]*topicFold)}
}

// roomFor is what renewing a lease at a third of its ttl for the whole span takes, and then ending it.
func roomFor(ttl, span time.Duration) int64 {
	ttl = max(ttl, shortestTTL)
	return (int64(3*span/ttl)+1)*renewSize + endSize
}

// shortestTTL is the shortest that anybody can ask for.
const shortestTTL = 100 * time.Millisecond

// topic gives a topic's fold, made if need be. One made while a snapshot is taken has all its records in the tail.
func (f *fold) topic(name lease.Topic) *topicFold {
	t := f.topics[name]
	if t == nil {
		t = &topicFold{copied: f.snapshot}
		f.topics[name] = t
		f.content += topicSize
	}
	return t
}

// aboveFloor is [fold.topic] for what says no fence: a name that is new here may have been used before and retired.
func (f *fold) aboveFloor(name lease.Topic) *topicFold {
	if t := f.topics[name]; t != nil {
		return t
	}
	t := f.topic(name)
	t.fence = f.floor
	return t
}

// apply takes in one event, live and on replay alike. One that has nothing to act on changes nothing.
func (f *fold) apply(name lease.Topic, e *lease.Event) {
	switch e.Kind {
	case lease.Declared:
		f.topic(name).declare(e.Capacity, e.Fence)
		f.high = max(f.high, e.Fence)
	case lease.Granted:
		f.grant(f.topic(name), e)
	case lease.Enqueued:
		if !e.Key.IsZero() { // a wait without a ticket ends with its request
			f.enqueue(f.aboveFloor(name), e)
		}
	case lease.Spent:
		f.spend(f.aboveFloor(name), e.Key, instantOf(e.At))
	case lease.Renewed, lease.Released, lease.Expired, lease.Forced, lease.Left:
		if t := f.topics[name]; t != nil {
			f.change(t, e)
		}
	}
}

// change takes in what is about a lease or place that is there.
func (f *fold) change(t *topicFold, e *lease.Event) {
	if e.Kind == lease.Left {
		f.leave(t, e)
		return
	}
	at := t.find(e.Token, e.Fence)
	switch {
	case at < 0:
	case e.Kind == lease.Renewed:
		f.room -= roomFor(t.leases[at].ttl, f.span)
		t.leases[at].renew(e)
		f.room += roomFor(t.leases[at].ttl, f.span)
	default:
		f.end(t, at, instantOf(e.At))
	}
}

func (f *fold) grant(t *topicFold, e *lease.Event) {
	before := len(t.places)
	t.grant(e)
	f.high = max(f.high, e.Fence)
	f.countPlaces(len(t.places) - before)
	f.content += leaseSize
	f.room += roomFor(e.TTL, f.span)
	if at := t.usurped(e); at >= 0 {
		f.end(t, at, instantOf(e.At))
	}
}

// end ends the lease at an index; its key is spent from then on. A file of the first generation, which has no keys,
// does not say when.
func (f *fold) end(t *topicFold, at int, when instant) {
	l := &t.leases[at]
	f.content -= leaseSize
	f.room -= roomFor(l.ttl, f.span)
	if key := l.key; !key.IsZero() && when != 0 {
		f.spend(t, key, when)
	}
	t.remove(at)
}

func (f *fold) enqueue(t *topicFold, e *lease.Event) {
	before := len(t.places)
	t.enqueue(e)
	f.countPlaces(len(t.places) - before)
}

func (f *fold) countPlaces(n int) {
	f.content += int64(n) * placeSize
	f.room += int64(n) * leaveSize
}

func (f *fold) leave(t *topicFold, e *lease.Event) {
	if e.Key.IsZero() {
		return
	}
	if t.leave(e.Key) {
		f.countPlaces(-1)
	}
	if e.Cause == lease.GaveUp {
		f.spend(t, e.Key, instantOf(e.At))
	}
}

// spend remembers a key as spent, and forgets those that need no remembering any more.
func (f *fold) spend(t *topicFold, key lease.Key, at instant) {
	f.forget(t, at)
	t.spent = append(t.spent, spentFold{key, at})
	f.countSpent(1)
}

// forget drops a topic's spent keys that need no remembering any more.
func (f *fold) forget(t *topicFold, now instant) {
	before := len(t.spent)
	t.forget(now - instant(f.keep))
	f.countSpent(len(t.spent) - before)
}

func (f *fold) countSpent(n int) {
	f.spent += n
	f.content += int64(n) * spentSize
}

// forgetAll does so for every topic, and drops those that nothing is left of: nobody may ever come back to them.
func (f *fold) forgetAll(now instant) {
	for name, t := range f.topics {
		if f.forget(t, now); t.isBlank(f.floor) {
			f.drop(name, t)
		}
	}
}

// retire forgets a topic but for its fence. A name of none only raises the floor.
func (f *fold) retire(name lease.Topic, fence lease.Fence) {
	f.floor = max(f.floor, fence)
	if t := f.topics[name]; t != nil {
		f.floor = max(f.floor, t.fence)
		f.drop(name, t)
	}
	f.high = max(f.high, f.floor)
}

func (f *fold) drop(name lease.Topic, t *topicFold) {
	f.content -= topicSize + leaseSize*int64(len(t.leases))
	f.countPlaces(-len(t.places))
	f.countSpent(-len(t.spent))
	for i := range t.leases {
		f.room -= roomFor(t.leases[i].ttl, f.span)
	}
	delete(f.topics, name)
}

// raise lifts every fence to at least this one.
func (f *fold) raise(fence lease.Fence) {
	f.floor, f.high = max(f.floor, fence), max(f.high, fence)
	for _, t := range f.topics {
		t.fence = max(t.fence, fence)
	}
}

// shift moves all times along with a wall clock that was set.
func (f *fold) shift(d time.Duration) {
	for _, t := range f.topics {
		t.shift(d)
	}
}

// record takes in a line read back, the clock's apart.
func (f *fold) record(r *record.Record) {
	switch r.Type {
	case record.Floor:
		f.retire(r.Topic, r.Event.Fence)
		f.high = max(f.high, r.High)
	case record.Raise:
		f.raise(r.Event.Fence)
	case record.Unknown, record.Clock:
	default:
		f.apply(r.Topic, &r.Event)
	}
}
