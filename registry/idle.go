package registry

// idleList is a ring of the entries that could be reaped, in the order they became so. It is intrusive: no operation
// allocates.
type idleList struct{ root entry }

func (l *idleList) init() { l.root.prev, l.root.next = &l.root, &l.root }

func (l *idleList) front() *entry {
	if l.root.next == &l.root {
		return nil
	}
	return l.root.next
}

func (l *idleList) push(e *entry) {
	last := l.root.prev
	e.prev, e.next = last, &l.root
	last.next, l.root.prev = e, e
}

// remove takes an entry out, if it is in.
func (l *idleList) remove(e *entry) {
	if !e.listed() {
		return
	}
	e.prev.next, e.next.prev = e.next, e.prev
	e.prev, e.next = nil, nil
}

func (e *entry) listed() bool { return e.next != nil }
