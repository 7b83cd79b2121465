package lease

import "time"

// deadline is embedded in what ends at a time. Its position lets the heap move or remove it in O(log n).
type deadline struct {
	at  time.Time
	seq uint64 // of what ends at the same time, the earlier comer ends first
	pos int    // index in the heap
}

func (d *deadline) due() *deadline { return d }

// timed is anything that embeds a deadline.
type timed interface{ due() *deadline }

// deadlines is a heap with the nearest deadline first.
type deadlines[T timed] struct {
	items []T
	seq   uint64
}

func (h *deadlines[T]) len() int { return len(h.items) }

// nearest gives what ends first; the heap must not be empty.
func (h *deadlines[T]) nearest() T { return h.items[0] }

func (h *deadlines[T]) push(x T) {
	h.seq++
	x.due().seq, x.due().pos = h.seq, len(h.items)
	h.items = append(h.items, x)
	h.up(len(h.items) - 1)
}

func (h *deadlines[T]) remove(x T) {
	i, last := x.due().pos, len(h.items)-1
	h.swap(i, last)
	var none T
	h.items[last] = none
	h.items = h.items[:last]
	if i < last {
		h.fix(i)
	}
}

// move gives x another deadline.
func (h *deadlines[T]) move(x T, at time.Time) {
	x.due().at = at
	h.fix(x.due().pos)
}

func (h *deadlines[T]) fix(i int) {
	h.down(i)
	h.up(i)
}

func (h *deadlines[T]) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !h.less(i, parent) {
			return
		}
		h.swap(i, parent)
		i = parent
	}
}

func (h *deadlines[T]) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(h.items) {
			return
		}
		if right := child + 1; right < len(h.items) && h.less(right, child) {
			child = right
		}
		if !h.less(child, i) {
			return
		}
		h.swap(i, child)
		i = child
	}
}

func (h *deadlines[T]) less(i, j int) bool {
	a, b := h.items[i].due(), h.items[j].due()
	if c := a.at.Compare(b.at); c != 0 {
		return c < 0
	}
	return a.seq < b.seq
}

func (h *deadlines[T]) swap(i, j int) {
	h.items[i], h.items[j] = h.items[j], h.items[i]
	h.items[i].due().pos = i
	h.items[j].due().pos = j
}
