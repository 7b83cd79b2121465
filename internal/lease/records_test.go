package lease_test

import (
	"time"

	"legible.sh/mutex/internal/lease"
)

// record is what a journal keeps of an event: no more than this may be needed to restore a topic.
type record struct {
	kind               lease.Kind
	gaveUp             bool
	token              lease.Token
	key                lease.Key
	who                lease.Who
	fence              lease.Fence
	slot, capacity     int
	ttl, at            int64 // milliseconds
	since, waited, end int64 // milliseconds of the epoch; waited 0: never
}

// records is a journal in memory.
type records []record

// add keeps what is durable of the events.
func (r *records) add(events []lease.Event) {
	for i := range events {
		e := &events[i]
		if !e.Durable() {
			continue
		}
		if e.Declares {
			*r = append(*r, record{kind: lease.Declared, capacity: e.Capacity, fence: e.Fence - 1})
		}
		*r = append(*r, recordOf(e))
	}
}

func recordOf(e *lease.Event) record {
	r := record{kind: e.Kind, at: e.At.UnixMilli()}
	switch e.Kind {
	case lease.Declared:
		r.capacity, r.fence = e.Capacity, e.Fence
	case lease.Granted:
		r.token, r.key, r.who, r.fence, r.slot = e.Token, e.Key, e.Who, e.Fence, e.Slot
		r.ttl, r.since, r.end = e.TTL.Milliseconds(), e.Since.UnixMilli(), e.Expires.UnixMilli()
	case lease.Renewed:
		r.token, r.ttl, r.end = e.Token, e.TTL.Milliseconds(), e.Expires.UnixMilli()
	case lease.Released, lease.Expired, lease.Forced:
		r.token = e.Token
	case lease.Enqueued:
		r.key, r.who, r.ttl, r.waited = e.Key, e.Who, e.TTL.Milliseconds(), e.Enqueued.UnixMilli()
	case lease.Left:
		r.key, r.gaveUp = e.Key, e.Cause == lease.GaveUp
	case lease.Spent:
		r.key = e.Key
	}
	return r
}

// event reads a record back. A place in the queue is away, for one keep window from now.
func (r *record) event(now time.Time, keep time.Duration) lease.Event {
	e := lease.Event{
		Kind: r.kind, Token: r.token, Key: r.key, Who: r.who, Fence: r.fence, Slot: r.slot, Capacity: r.capacity,
		TTL: time.Duration(r.ttl) * time.Millisecond,
		At:  fromMilli(r.at), Since: fromMilli(r.since), Enqueued: fromMilli(r.waited), Expires: fromMilli(r.end),
	}
	if r.gaveUp {
		e.Cause = lease.GaveUp
	}
	e = e.Rebase(now)
	if e.Kind == lease.Enqueued {
		e.Deadline = now.Add(keep)
	}
	return e
}

func fromMilli(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// replay restores a topic from its records.
func (r records) replay(floor lease.Fence, keep time.Duration, now time.Time) *lease.State {
	s := lease.New(floor, keep)
	for i := range r {
		e := r[i].event(now, keep)
		s.Apply(&e)
	}
	return s
}
