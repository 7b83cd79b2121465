package history

import (
	"hash/maphash"
	"time"
	"unsafe"

	"legible.sh/mutex/internal/lease"
)

// entry is an event in memory. It points to nothing, so the garbage collector passes a whole ring of them over.
type entry struct {
	id     int64
	at     int64  // ms
	lease  uint64 // the lease's public id
	fence  lease.Fence
	ttl    int64 // ms
	lasted int64 // ms; none: -1
	slot   int32
	pid    int32

	topic, name, reason, host, by, detail uint16 // numbers in the segment's texts

	kind   Kind
	stands uint8 // ms: a renewal stands for others that were up to so much earlier
}

const entryBytes = int64(unsafe.Sizeof(entry{}))

// newEntry takes over everything but the texts and the id.
func newEntry(e *Event, id uint64) entry {
	n := entry{
		at: e.At.UnixMilli(), lease: id, fence: e.Fence, ttl: e.TTL.Milliseconds(), lasted: -1,
		slot: int32(e.Slot), pid: int32(e.PID), kind: e.Kind,
	}
	if d, ok := e.lasted(); ok {
		n.lasted = d.Milliseconds()
	}
	return n
}

// segment is some consecutive entries of a ring with all their texts: the unit in which reads skip and the ring
// forgets. Only the newest of a ring changes: it grows, and may have a renewal replaced while nobody reads.
type segment struct {
	entries []entry // never grows past what it was made with
	latest  int64   // ms
	texts   texts
}

func (s *segment) bytes() int64 { return int64(cap(s.entries))*entryBytes + s.texts.bytes() }

// event makes of an entry what was observed.
func (s *segment) event(n *entry) Event {
	e := Event{
		ID: n.id, At: time.UnixMilli(n.at).UTC(), Kind: n.kind, LeaseID: unpackLeaseID(int64(n.lease)),
		Topic: s.texts.string(n.topic), Name: s.texts.string(n.name), Reason: s.texts.string(n.reason),
		Host: s.texts.string(n.host), By: s.texts.string(n.by), Detail: s.texts.string(n.detail),
		PID: int(n.pid), Fence: n.fence, Slot: int(n.slot), TTL: ms(n.ttl),
	}
	if e.ends() {
		e.Held = ms(n.lasted)
	} else {
		e.Waited = ms(max(n.lasted, 0))
	}
	return e
}

// texts are a segment's texts, each said once, one behind the other. A text is its number; 0 is the empty one.
type texts struct {
	all  []byte
	ends []uint32 // of the text n in all; it begins where n-1 ends
}

func (t *texts) bytes() int64 { return int64(cap(t.all)) + 4*int64(cap(t.ends)) }

func (t *texts) text(n uint16) []byte {
	if n == 0 {
		return nil
	}
	return t.all[t.ends[n-1]:t.ends[n]]
}

func (t *texts) string(n uint16) string { return string(t.text(n)) }

func (t *texts) add(s string) uint16 {
	t.all = append(t.all, s...)
	t.ends = append(t.ends, uint32(len(t.all)))
	return uint16(len(t.ends) - 1)
}

// empty forgets the texts. The room for them stays if what came last would fill a good part of it.
func (t *texts) empty(last *texts) {
	const some = 1024
	if cap(t.all) > 2*len(last.all)+some {
		t.all = nil
	}
	if cap(t.ends) > 2*len(last.ends)+some {
		t.ends = nil
	}
	t.all, t.ends = t.all[:0], append(t.ends[:0], 0)
}

const (
	maxTexts     = 4096 // of a segment: as many as its events can have, if each brings a topic and three texts more
	textsOfEvent = 6
)

// index finds the number of a text in the newest segment of a ring: a hash table with open addressing, at most half
// full, so that a look-up neither allocates nor keeps the text it is asked for.
type index struct {
	seed  maphash.Seed
	slots [2 * maxTexts]uint16 // 0: free
}

// number gives the number of a text, new or not.
func (x *index) number(t *texts, s string) uint16 {
	if s == "" {
		return 0
	}
	for at := maphash.String(x.seed, s); ; at++ {
		slot := &x.slots[at%uint64(len(x.slots))]
		switch {
		case *slot == 0:
			*slot = t.add(s)
			return *slot
		case string(t.text(*slot)) == s:
			return *slot
		}
	}
}
