package journal

import (
	"legible.sh/mutex/internal/journal/record"
	"legible.sh/mutex/internal/lease"
)

// chunkSize is about how many bytes of a snapshot are made at a time: as long as the fold is locked for one chunk,
// no answer can get out.
const chunkSize = 64 << 10

// snapshot is a walk over a fold that goes on changing: between two chunks records may be acknowledged. Those on
// topics that were copied already are in the fold's tail, the others are in what is copied later, so that the chunks
// in order come to the fold at the end of the walk.
type snapshot struct {
	names []lease.Topic
	next  int
	chunk int // bytes at a time
}

// beginSnapshot starts a walk. There is at most one.
func (f *fold) beginSnapshot() *snapshot {
	f.snapshot++
	f.snapshotting, f.tail = true, nil
	s := &snapshot{names: make([]lease.Topic, 0, len(f.topics)), chunk: chunkSize}
	for name := range f.topics {
		s.names = append(s.names, name)
	}
	return s
}

// endSnapshot ends the walk; nothing is kept for it any more.
func (f *fold) endSnapshot() { f.snapshotting, f.tail = false, nil }

// chunk appends what was acknowledged since the last one on topics that were copied before, and then copies the next
// topics; more tells whether some are left. In that order, since what the tail says of all topics, that the clock was
// set, is in a later copy already.
func (f *fold) chunk(s *snapshot, b []byte, now instant) (out []byte, more bool) {
	b = f.takeTail(b)
	for start := len(b); s.next < len(s.names) && len(b)-start < s.chunk; s.next++ {
		b = f.copyTopic(s.names[s.next], b, now)
	}
	return b, s.next < len(s.names)
}

func (f *fold) copyTopic(name lease.Topic, b []byte, now instant) []byte {
	t := f.topics[name]
	if t == nil || t.copied == f.snapshot { // retired, or made anew since: the tail has it all
		return b
	}
	t.copied = f.snapshot
	f.forget(t, now)
	if t.isBlank(f.floor) {
		f.drop(name, t)
		return b
	}
	events := t.events(f.keep, now)
	for i := range events {
		b = record.AppendEvent(b, name, &events[i])
	}
	return b
}

func (f *fold) takeTail(b []byte) []byte {
	b = append(b, f.tail...)
	f.tail = f.tail[:0]
	return b
}

// follow keeps lines that were acknowledged on a topic for the snapshot in progress, if that has the topic already.
// It must come after the lines' events were applied.
func (f *fold) follow(name lease.Topic, lines []byte) {
	if !f.snapshotting {
		return
	}
	if t := f.topics[name]; t == nil || t.copied == f.snapshot {
		f.tail = append(f.tail, lines...)
	}
}

// followAll is the same for a line that is about all topics. Those which are copied later have it in their copy.
func (f *fold) followAll(line []byte) {
	if f.snapshotting {
		f.tail = append(f.tail, line...)
	}
}

// limits appends what the fold knows apart from its topics.
func (f *fold) limits(b []byte) []byte { return record.AppendLimits(b, f.floor, f.high) }
