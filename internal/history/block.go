package history

import (
	"encoding/binary"
	"iter"
	"slices"
)

// A block is blockSize events with consecutive ids: the unit in which reads skip and retention forgets.
// Smaller ones mean more rows to walk for a topic that occurs rarely, larger ones more events to look through
// where it does.
const (
	blockBits = 11
	blockSize = 1 << blockBits
)

func blockOf(id int64) int64      { return id >> blockBits }
func firstOf(block int64) int64   { return block << blockBits }
func lastOf(block int64) int64    { return firstOf(block+1) - 1 }
func isLastOfBlock(id int64) bool { return id == lastOf(blockOf(id)) }

// block is what the block row says about its events.
type block struct {
	id               int64
	earliest, latest int64   // ms
	changes          []int64 // topics with events other than renewals; neither sorted nor unique
	renewals         []int64
}

// begin makes it the block id, with no events.
func (b *block) begin(id int64) {
	*b = block{id: id, changes: b.changes[:0], renewals: b.renewals[:0]}
}

// span widens the block's time to an event's.
func (b *block) span(at int64) {
	if b.earliest == 0 || at < b.earliest {
		b.earliest = at
	}
	b.latest = max(b.latest, at)
}

// encodeSet packs topic ids: sorted, each as the difference from the one before. An empty set is nil.
func encodeSet(ids []int64) []byte {
	if len(ids) == 0 {
		return nil
	}
	slices.Sort(ids)
	set := make([]byte, 0, len(ids)+len(ids)/2)
	before := int64(0)
	for i, id := range ids {
		if i > 0 && id == before {
			continue
		}
		set = binary.AppendUvarint(set, uint64(id-before))
		before = id
	}
	return set
}

// topicsIn gives the ids of a set. A damaged set ends where the damage begins.
func topicsIn(set []byte) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		id := int64(0)
		for len(set) > 0 {
			step, n := binary.Uvarint(set)
			if n <= 0 {
				return
			}
			id += int64(step)
			if !yield(id) {
				return
			}
			set = set[n:]
		}
	}
}
