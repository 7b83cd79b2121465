package lease

import "math/bits"

// slots gives out the lowest free number below a capacity. A bit a slot: the longest search is one word for
// every 64 slots, 16 words at the default limit.
type slots []uint64

// lowest gives the lowest free slot without taking it.
func (s slots) lowest() int {
	for i, word := range s {
		if word != ^uint64(0) {
			return i*64 + bits.TrailingZeros64(^word)
		}
	}
	return len(s) * 64
}

func (s *slots) take(slot int) {
	for slot/64 >= len(*s) {
		*s = append(*s, 0)
	}
	(*s)[slot/64] |= 1 << (slot % 64)
}

func (s slots) taken(slot int) bool {
	return slot/64 < len(s) && s[slot/64]&(1<<(slot%64)) != 0
}

func (s slots) free(slot int) { s[slot/64] &^= 1 << (slot % 64) }
