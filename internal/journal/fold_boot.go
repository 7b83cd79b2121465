package journal

import (
	"cmp"
	"slices"

	"legible.sh/mutex/internal/lease"
)

// Ended is a lease that ended while no server was running.
type Ended struct {
	Topic lease.Topic
	Event lease.Event // Expired, At when the lease's time was over
}

// shortened is a lease whose end lay too far ahead: Renewed, to the end that it has now.
type shortened struct {
	topic lease.Topic
	event lease.Event
}

// wake makes the fold right after a replay: every lease has an end that is not further away than its ttl, a slot of
// its own, and a time left to live. Those whose time is over are gone; they are returned, and so are those that were shortened.
func (f *fold) wake(now instant) (ended []Ended, short []shortened) {
	for name, t := range f.topics {
		f.forget(t, now)
		if len(t.leases) == 0 {
			continue
		}
		t.declare(1, 0) // a first-generation grant may have no topic record
		f.single(t)
		short = f.cap(name, t, now, short)
		ended = f.expire(name, t, now, ended)
		t.seat()
	}
	slices.SortFunc(ended, func(a, b Ended) int { return a.Event.At.Compare(b.Event.At) })
	return ended, short
}

// single drops all but the last grant of a lease that a file grants twice.
func (f *fold) single(t *topicFold) {
	seen := make(map[lease.Token]struct{}, len(t.leases))
	for at := len(t.leases) - 1; at >= 0; at-- {
		if _, twice := seen[t.leases[at].token]; twice {
			f.end(t, at, 0)
		} else {
			seen[t.leases[at].token] = struct{}{}
		}
	}
}

// cap brings ends that lie too far ahead, since the wall clock was set back, down to a full ttl from now, for good:
// else each restart would lengthen the lease again.
func (f *fold) cap(name lease.Topic, t *topicFold, now instant, short []shortened) []shortened {
	for i := range t.leases {
		l := &t.leases[i]
		l.since, l.renewed = min(l.since, now), min(l.renewed, now)
		if last := now + instant(l.ttl); l.expires > last {
			l.expires = last
			short = append(short, shortened{name, lease.Event{
				Kind: lease.Renewed, At: max(l.since, l.renewed).time(), Token: l.token, Fence: l.fence, TTL: l.ttl, Expires: last.time(),
			}})
		}
	}
	return short
}

func (f *fold) expire(name lease.Topic, t *topicFold, now instant, ended []Ended) []Ended {
	for at := len(t.leases) - 1; at >= 0; at-- {
		l := &t.leases[at]
		if l.expires > now {
			continue
		}
		ended = append(ended, Ended{name, lease.Event{
			Kind: lease.Expired, At: l.expires.time(), Token: l.token, Key: l.key, Who: l.who, Fence: l.fence, Slot: max(l.slot, 0),
			Capacity: t.capacity, TTL: l.ttl, Since: l.since.time(), Enqueued: l.enqueued.time(), Expires: l.expires.time(),
		}})
		f.end(t, at, l.expires)
	}
	return ended
}

// seat gives a slot to each lease that has none to itself below the capacity: the lowest free one, by fence.
func (t *topicFold) seat() {
	taken := make(map[int]bool, len(t.leases))
	for i := range t.leases {
		l := &t.leases[i]
		if l.slot >= t.capacity || taken[l.slot] {
			l.slot = -1
		} else if l.slot >= 0 {
			taken[l.slot] = true
		}
	}
	free := 0
	for i := range t.leases {
		l := &t.leases[i]
		if l.slot >= 0 {
			continue
		}
		for taken[free] {
			free++
		}
		l.slot, taken[free] = free, true
	}
}

// names lists the topics that are live or declared.
func (f *fold) names() []lease.Topic {
	names := make([]lease.Topic, 0, len(f.topics))
	for name, t := range f.topics {
		if !t.isBlank(f.floor) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b lease.Topic) int { return cmp.Compare(a, b) })
	return names
}

// leases counts those that live.
func (f *fold) leases() (n int) {
	for _, t := range f.topics {
		n += len(t.leases)
	}
	return n
}
