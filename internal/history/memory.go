package history

import (
	"cmp"
	"context"
	"sync"
	"time"

	"legible.sh/mutex/internal/lease"
)

// DefaultMemoryBytes is how large a history in memory grows: about 200,000 events.
const DefaultMemoryBytes = 16 << 20

// MemoryOptions say how much a [Memory] keeps. Zero fields mean the defaults.
type MemoryOptions struct {
	// MaxAge is how long events are shown; below zero: for ever.
	MaxAge time.Duration
	// MaxBytes is how large it may grow before the oldest events go. Of that, renewals have a quarter.
	MaxBytes int64
	// Now is the wall clock; time.Now if nil.
	Now func() time.Time
}

// Memory is a history that ends with the process. Safe for concurrent use.
type Memory struct {
	maxAge time.Duration
	now    func() time.Time

	mu       sync.Mutex
	lastID   int64 // guarded by mu, as is the rest
	changes  *ring
	renewals *ring
	readers  int // who may be looking at segments
}

// NewMemory makes a history in memory. It has no goroutine, and needs no end.
func NewMemory(o MemoryOptions) *Memory {
	size := cmp.Or(o.MaxBytes, DefaultMemoryBytes)
	m := &Memory{
		maxAge: cmp.Or(o.MaxAge, DefaultMaxAge), now: o.Now,
		changes: newRing(size - size/4), renewals: newRing(size / 4),
	}
	if m.now == nil {
		m.now = time.Now
	}
	return m
}

// Observe records what happened to a topic, and keeps nothing of the slice or the texts in it; what is no part of a
// history is passed over.
func (m *Memory) Observe(topic lease.Topic, events []lease.Event) {
	for i := range events {
		var e Event
		if !e.observe(string(topic), &events[i]) {
			continue
		}
		var id uint64
		if !events[i].Token.IsZero() {
			id = events[i].Token.IDNumber() // a hash, which nobody else should have to wait for
		}
		m.put(&e, id)
	}
}

func (m *Memory) put(e *Event, id uint64) {
	n := newEntry(e, id)
	m.mu.Lock()
	defer m.mu.Unlock()
	if e.Kind == Renewed {
		m.putRenewal(&n, e)
		return
	}
	m.changes.prepare(m.cutoff, m.readers > 0)
	m.changes.name(&n, e)
	m.number(&n)
	m.changes.add(&n)
}

// putRenewal: a reader must not see an entry change, so while there is one, each renewal gets its own.
func (m *Memory) putRenewal(n *entry, e *Event) {
	r := m.renewals
	r.prepare(m.cutoff, m.readers > 0)
	r.name(n, e)
	if m.readers == 0 && r.replace(n) {
		return
	}
	m.number(n)
	r.addRenewal(n)
}

func (m *Memory) number(n *entry) {
	m.lastID++
	n.id = m.lastID
}

// cutoff is the time (ms) before which events are not shown.
func (m *Memory) cutoff() int64 { return cutoff(m.maxAge, m.now).UnixMilli() }

// Stats counts. Nothing waits here, and nothing is dropped.
func (m *Memory) Stats() Stats {
	m.mu.Lock()
	defer m.mu.Unlock()
	return Stats{Written: uint64(m.lastID), Bytes: m.changes.bytes() + m.renewals.bytes()}
}

// Close does nothing. It is there for those who have either history.
func (m *Memory) Close(context.Context) error { return nil }
