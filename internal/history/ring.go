package history

import (
	"hash/maphash"
	"slices"
	"unsafe"
)

const (
	// segmentEntries is how many entries a segment holds, unless so few bytes are allowed that the ring would have only
	// a handful of segments, and forget a large part of itself at once.
	segmentEntries    = 1024
	minSegmentEntries = 64
	segmentsAtLeast   = 16
)

// ring keeps the newest entries within a number of bytes. It is guarded by the lock of the Memory it belongs to.
type ring struct {
	limit  int64
	sealed []*segment // the oldest first
	filled int64      // bytes of the sealed
	newest *segment   // nil before the first entry

	index index // of the newest segment's texts
	// renewal says by the last digits of a lease's id where its last renewal stands in the newest segment, from 1; 0 is
	// nowhere. One that another has displaced is not found any more, and stays on record beside the next.
	renewal [2 * segmentEntries]uint16
}

func newRing(limit int64) *ring { return &ring{limit: limit, index: index{seed: maphash.MakeSeed()}} }

// bytes is all that the ring takes.
func (r *ring) bytes() int64 {
	n := int64(unsafe.Sizeof(*r)) + r.filled
	if r.newest != nil {
		n += r.newest.bytes()
	}
	return n
}

// prepare makes sure that there is room for an entry and its texts. Where a new segment is needed, the oldest may go:
// those that the limit has no room for, and those from before the cutoff (ms). One of them is used again unless
// somebody may be reading it.
func (r *ring) prepare(cutoff func() int64, readers bool) {
	if r.newest != nil && !r.full() {
		return
	}
	size := int(min(max(r.limit/segmentsAtLeast/entryBytes, minSegmentEntries), segmentEntries))
	last := r.seal()
	var free *segment
	oldest := cutoff()
	for len(r.sealed) > 0 && (r.bytes()+int64(size)*entryBytes > r.limit || r.sealed[0].latest < oldest) {
		free = r.forget()
	}
	if free == nil || readers {
		free = &segment{entries: make([]entry, 0, size)}
	}
	free.entries, free.latest = free.entries[:0], 0
	free.texts.empty(&last)
	r.newest = free
	clear(r.index.slots[:])
	clear(r.renewal[:])
}

// seal ends the newest segment, and gives its texts as a measure of what the next may need.
func (r *ring) seal() (last texts) {
	if r.newest == nil {
		return texts{}
	}
	last = r.newest.texts
	r.filled += r.newest.bytes()
	r.sealed = append(r.sealed, r.newest)
	r.newest = nil
	return last
}

// full tells that the newest segment is to have no more entries. Long texts make it full earlier, so that what is
// forgotten at once is never a large part of what there is.
func (r *ring) full() bool {
	s := r.newest
	return len(s.entries) == cap(s.entries) || len(s.texts.ends)+textsOfEvent > maxTexts ||
		int64(len(s.texts.all)) > r.limit/segmentsAtLeast
}

// forget takes the oldest segment out.
func (r *ring) forget() *segment {
	oldest := r.sealed[0]
	r.filled -= oldest.bytes()
	r.sealed = slices.Delete(r.sealed, 0, 1)
	return oldest
}

// name gives the entry the numbers of the event's texts. For those that are new, the oldest segments may have to go.
func (r *ring) name(n *entry, e *Event) {
	t := &r.newest.texts
	n.topic = r.index.number(t, e.Topic)
	n.name = r.index.number(t, e.Name)
	n.reason = r.index.number(t, e.Reason)
	n.host = r.index.number(t, e.Host)
	n.by = r.index.number(t, e.By)
	n.detail = r.index.number(t, e.Detail)
	for len(r.sealed) > 0 && r.bytes() > r.limit {
		r.forget()
	}
}

func (r *ring) add(n *entry) {
	s := r.newest
	s.entries = append(s.entries, *n)
	s.latest = max(s.latest, n.at)
}

// addRenewal appends a renewal and remembers where.
func (r *ring) addRenewal(n *entry) {
	r.add(n)
	*r.renewalOf(n) = uint16(len(r.newest.entries))
}

func (r *ring) renewalOf(n *entry) *uint16 { return &r.renewal[n.lease%uint64(len(r.renewal))] }

// replace puts a renewal in the place of its lease's last one, which keeps its id, if what that stands for began less
// than renewalsApart ago.
func (r *ring) replace(n *entry) bool {
	at := *r.renewalOf(n)
	if at == 0 {
		return false
	}
	last := &r.newest.entries[at-1]
	since := n.at - last.at + int64(last.stands)
	if last.lease != n.lease || n.at < last.at || since >= renewalsApart.Milliseconds() {
		return false
	}
	n.id, n.stands = last.id, uint8(since)
	*last = *n
	r.newest.latest = max(r.newest.latest, n.at)
	return true
}
