package history

import (
	"context"
	"slices"
	"sort"
)

// Query reads events, newest first. The error is [ErrBadQuery], or [ErrUnavailable] when ctx has ended.
func (m *Memory) Query(ctx context.Context, q Query) ([]Event, error) {
	q, err := q.check()
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, unavailable(err)
	}
	f := filter{topic: q.Topic, prefix: q.Prefix, since: max(q.since(), m.cutoff()), before: q.Before}
	changes, renewals := m.read(f)
	defer m.done()
	if !q.Renewals {
		renewals = cursor{}
	}
	events := make([]Event, 0, min(q.Limit, DefaultLimit))
	for len(events) < q.Limit {
		next := &changes
		a, b := changes.peek(), renewals.peek()
		if a == nil || b != nil && b.id > a.id {
			next, a = &renewals, b
		}
		if a == nil {
			break
		}
		events = append(events, next.segment.event(a))
		next.advance()
	}
	return events, nil
}

// read gives what matches now. No lock is held while it is looked at: what is in a segment stays as it is until
// [Memory.done], and a segment that the ring forgets meanwhile lives as long as its reader needs it.
func (m *Memory) read(f filter) (changes, renewals cursor) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.readers++
	return cursor{filter: f, segments: m.changes.segments()}, cursor{filter: f, segments: m.renewals.segments()}
}

func (m *Memory) done() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.readers--
}

// segments gives all of them, the newest as it is now.
func (r *ring) segments() []*segment {
	all := make([]*segment, 0, len(r.sealed)+1)
	all = append(all, r.sealed...)
	if r.newest != nil {
		now := *r.newest
		all = append(all, &now)
	}
	return all
}

// filter says which entries are wanted. Zero fields do not restrict.
type filter struct {
	topic, prefix string
	since         int64 // ms
	before        int64 // id
}

// cursor goes through the entries of a ring that a filter lets through, newest first.
type cursor struct {
	filter   filter
	segments []*segment // yet to be opened, the oldest first
	segment  *segment   // the open one
	rest     []entry    // of the open one, yet to be looked at
	topics   []bool     // by the number of a text in the open segment: it is wanted as a topic; empty: all are
	head     *entry     // found, but not yet passed
}

// peek gives the next entry, which is in c.segment, or nil at the end.
func (c *cursor) peek() *entry {
	for c.head == nil {
		if len(c.rest) == 0 && !c.open() {
			return nil
		}
		c.head = c.find()
	}
	return c.head
}

func (c *cursor) advance() { c.head = nil }

// find looks through the rest of the open segment.
func (c *cursor) find() *entry {
	for i := len(c.rest) - 1; i >= 0; i-- {
		e := &c.rest[i]
		if e.at >= c.filter.since && (len(c.topics) == 0 || c.topics[e.topic]) {
			c.rest = c.rest[:i]
			return e
		}
	}
	c.rest = nil
	return nil
}

// open goes on to the next segment that may have something.
func (c *cursor) open() bool {
	for n := len(c.segments) - 1; n >= 0; n-- {
		s := c.segments[n]
		c.segments = c.segments[:n]
		if s.latest < c.filter.since || !c.match(&s.texts) {
			continue
		}
		c.segment, c.rest = s, s.entries
		if c.filter.before > 0 {
			end := sort.Search(len(s.entries), func(i int) bool { return s.entries[i].id >= c.filter.before })
			c.rest = s.entries[:end]
		}
		if len(c.rest) > 0 {
			return true
		}
	}
	return false
}

// match looks among a segment's texts for wanted topics.
func (c *cursor) match(t *texts) (any bool) {
	f := &c.filter
	if f.topic == "" && f.prefix == "" {
		return true
	}
	c.topics = slices.Grow(c.topics[:0], len(t.ends))[:len(t.ends)]
	for n := range c.topics {
		text := t.text(uint16(n))
		if f.prefix != "" {
			c.topics[n] = len(text) >= len(f.prefix) && string(text[:len(f.prefix)]) == f.prefix
		} else {
			c.topics[n] = string(text) == f.topic
		}
		any = any || c.topics[n]
	}
	return any
}
