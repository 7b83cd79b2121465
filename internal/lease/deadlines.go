package lease

import "time"

// deadlines is a heap with the nearest deadline first. What is in it knows its index, by which it can be moved and
// removed in O(log n). Times lie in the heap itself, so that comparing them follows no pointer.
type deadlines[T any] struct {
	heap   []deadline[T]
	pushed uint64
}

type deadline[T any] struct {
	at    time.Time
	seq   uint64 // of what ends at the same time, the earlier comer ends first
	what  T
	index *int // where what keeps its index
}

func (d *deadline[T]) before(e *deadline[T]) bool {
	if c := d.at.Compare(e.at); c != 0 {
		return c < 0
	}
	return d.seq < e.seq
}

func (h *deadlines[T]) len() int { return len(h.heap) }

// nearest gives what ends first; the heap must not be empty.
func (h *deadlines[T]) nearest() *deadline[T] { return &h.heap[0] }

// due tells whether something ends at now or before.
func (h *deadlines[T]) due(now time.Time) bool {
	return len(h.heap) > 0 && !h.heap[0].at.After(now)
}

// push adds what ends at a time, and keeps its index up to date.
func (h *deadlines[T]) push(what T, index *int, at time.Time) {
	h.pushed++
	h.heap = append(h.heap, deadline[T]{at, h.pushed, what, index})
	h.up(len(h.heap) - 1)
}

func (h *deadlines[T]) remove(i int) {
	last := len(h.heap) - 1
	moved := h.heap[last]
	h.heap[last] = deadline[T]{}
	h.heap = h.heap[:last]
	if i < last {
		h.put(i, moved)
		h.fix(i)
	}
}

// move gives what is at i another deadline.
func (h *deadlines[T]) move(i int, at time.Time) {
	h.heap[i].at = at
	h.fix(i)
}

func (h *deadlines[T]) fix(i int) {
	if i > 0 && h.heap[i].before(&h.heap[(i-1)/2]) {
		h.up(i)
	} else {
		h.down(i)
	}
}

func (h *deadlines[T]) up(i int) {
	rising := h.heap[i]
	for i > 0 {
		parent := (i - 1) / 2
		if !rising.before(&h.heap[parent]) {
			break
		}
		h.put(i, h.heap[parent])
		i = parent
	}
	h.put(i, rising)
}

func (h *deadlines[T]) down(i int) {
	sinking := h.heap[i]
	for {
		child := 2*i + 1
		if child >= len(h.heap) {
			break
		}
		if right := child + 1; right < len(h.heap) && h.heap[right].before(&h.heap[child]) {
			child = right
		}
		if !h.heap[child].before(&sinking) {
			break
		}
		h.put(i, h.heap[child])
		i = child
	}
	h.put(i, sinking)
}

func (h *deadlines[T]) put(i int, d deadline[T]) {
	h.heap[i] = d
	*d.index = i
}
