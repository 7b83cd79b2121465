package journal

import (
	"slices"
	"time"

	"legible.sh/mutex/internal/lease"
)

// events gives what rebuilds a topic, times on the wall clock: what is known of it, its leases by fence, its places
// in order, its spent keys. A key stands in one place only, whatever a file may say: a topic's rules rest on that.
func (t *topicFold) events(keep time.Duration, now instant) []lease.Event {
	out := make([]lease.Event, 0, 1+2*len(t.leases)+len(t.places)+len(t.spent))
	if t.capacity > 0 || t.fence > 0 || len(t.places)+len(t.spent) > 0 { // 0 too: else they would take the floor for their fence
		out = append(out, lease.Event{Kind: lease.Declared, Capacity: t.capacity, Fence: t.fence})
	}
	for i := range t.leases {
		out = t.leases[i].events(out, t.capacity)
	}
	if len(t.places)+len(t.spent) == 0 {
		return out
	}
	used := make(map[lease.Key]struct{}, len(t.places)+len(t.spent))
	for i := range t.leases {
		used[t.leases[i].key] = struct{}{}
	}
	for _, p := range t.places {
		if claim(used, p.key) {
			out = append(out, p.event(t.capacity))
		}
	}
	return t.spentEvents(out, used, now-instant(keep), now)
}

func claim(used map[lease.Key]struct{}, key lease.Key) bool {
	if _, taken := used[key]; taken {
		return false
	}
	used[key] = struct{}{}
	return true
}

// spentEvents gives the keys spent after a time; those of the future were spent now.
func (t *topicFold) spentEvents(out []lease.Event, used map[lease.Key]struct{}, after, now instant) []lease.Event {
	mark := len(out)
	for _, s := range slices.Backward(t.spent) { // the last time counts
		if s.at > after && claim(used, s.key) {
			out = append(out, lease.Event{Kind: lease.Spent, Key: s.key, At: min(s.at, now).time()})
		}
	}
	slices.Reverse(out[mark:])
	return out
}

// events gives the grant as it was, so that a repeated acquire is told from another, and where it was renewed, that.
func (l *leaseFold) events(out []lease.Event, capacity int) []lease.Event {
	granted := lease.Event{
		Kind: lease.Granted, At: l.since.time(), Token: l.token, Key: l.key, Who: l.who, Fence: l.fence, Slot: l.slot,
		Capacity: capacity, TTL: l.asked, Since: l.since.time(), Enqueued: l.enqueued.time(), Expires: l.expires.time(),
	}
	if l.renewed == 0 {
		return append(out, granted)
	}
	renewed := granted
	granted.Expires = granted.Since.Add(l.asked)
	renewed.Kind, renewed.At, renewed.TTL, renewed.Enqueued = lease.Renewed, l.renewed.time(), l.ttl, time.Time{}
	return append(out, granted, renewed)
}

func (p *placeFold) event(capacity int) lease.Event {
	return lease.Event{
		Kind: lease.Enqueued, At: p.enqueued.time(), Key: p.key, Who: p.who, TTL: p.ttl, Capacity: capacity,
		Enqueued: p.enqueued.time(),
	}
}

// recall gives the events of a topic with their times on the clock of now, which was set by step since the fold's times
// were by it: the commit that notices may still be to come. Nobody is at the places yet: each is kept for the keep window.
func (f *fold) recall(name lease.Topic, now time.Time, step time.Duration) []lease.Event {
	t := f.topics[name]
	if t == nil {
		return nil
	}
	events := t.events(f.keep, instantOf(now.Add(-step)))
	for i := range events {
		move(&events[i], step)
		e := events[i].Rebase(now)
		if e.Kind == lease.Enqueued {
			e.Deadline = now.Add(f.keep)
		}
		events[i] = e
	}
	return events
}

// move moves an event's times along with the wall clock.
func move(e *lease.Event, step time.Duration) {
	if step == 0 {
		return
	}
	for _, t := range []*time.Time{&e.At, &e.Since, &e.Enqueued, &e.Expires, &e.Renewed} {
		if !t.IsZero() {
			*t = t.Add(step)
		}
	}
}

// isBlank tells whether nothing is lost by forgetting the topic altogether.
func (t *topicFold) isBlank(floor lease.Fence) bool {
	return t.capacity == 0 && t.fence <= floor && len(t.leases)+len(t.places)+len(t.spent) == 0
}
