package history

import (
	"cmp"
	"context"
	"slices"
)

// Overview reads what the dashboard shows. The error is [ErrBadQuery], or [ErrUnavailable] when ctx has ended.
func (m *Memory) Overview(ctx context.Context, q OverviewQuery) (*Overview, error) {
	until := m.now()
	q, err := q.check(until)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, unavailable(err)
	}
	v := survey{
		since: q.Since.UnixMilli(), whole: max(until.Sub(q.Since).Milliseconds(), 1), buckets: emptyBuckets(q, until),
		longestWaits: longest{limit: q.Top}, longestHolds: longest{limit: q.Top},
	}
	changes, _ := m.read(filter{since: max(v.since, m.cutoff())})
	defer m.done()
	for e := changes.peek(); e != nil; e = changes.peek() {
		v.note(changes.segment, e)
		changes.advance()
	}
	return &Overview{
		Since: q.Since, Until: until, Contention: v.buckets, Waits: v.waits.spread(), Holds: v.holds.spread(),
		LongestWaits: v.longestWaits.events(), LongestHolds: v.longestHolds.events(),
	}, nil
}

// survey gathers an overview, in one pass over the changes.
type survey struct {
	since, whole               int64 // ms
	buckets                    []Bucket
	waits, holds               histogram
	longestWaits, longestHolds longest
}

func (v *survey) note(s *segment, e *entry) {
	lasted := max(e.lasted, 0)
	switch {
	case e.kind == Acquired:
		v.grant(e)
		v.waits.add(classOf(lasted), 1, ms(lasted))
		if lasted > 0 {
			v.longestWaits.offer(s, e)
		}
	case e.kind.ends():
		v.holds.add(classOf(lasted), 1, ms(lasted))
		v.longestHolds.offer(s, e)
	}
}

// grant counts a grant where it belongs; what is later than the end, by a clock set back, belongs to the last part.
func (v *survey) grant(e *entry) {
	parts := int64(len(v.buckets))
	b := &v.buckets[min((e.at-v.since)*parts/v.whole, parts-1)]
	b.Grants++
	if e.lasted < 0 {
		return
	}
	b.Queued++
	b.Waited += ms(e.lasted)
	b.Longest = max(b.Longest, ms(e.lasted))
}

// longest keeps the entries that lasted longest, those first; among equals, the lowest id.
type longest struct {
	limit int
	found []found
}

type found struct {
	*entry
	in *segment
}

func (l *longest) offer(s *segment, e *entry) {
	if n := len(l.found); n == l.limit && e.lasted < l.found[n-1].lasted {
		return
	}
	at, _ := slices.BinarySearchFunc(l.found, e, func(f found, e *entry) int {
		return cmp.Or(cmp.Compare(e.lasted, f.lasted), cmp.Compare(f.id, e.id))
	})
	l.found = slices.Insert(l.found, at, found{entry: e, in: s})
	l.found = l.found[:min(len(l.found), l.limit)]
}

func (l *longest) events() []Event {
	events := make([]Event, len(l.found))
	for i, f := range l.found {
		events[i] = f.in.event(f.entry)
	}
	return events
}
