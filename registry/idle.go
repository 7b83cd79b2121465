package registry

// idleList is a ring of the entries that could be reaped, in the order they became so. It is intrusive: no operation
// allocates.
type idleList struct{ root entry }

func (l *idleList) init() { l.root.prev, l.root.next = &l.root, &l.root }

// oldest gives the entry that could be reaped first: the first that nobody is just looking at.
func (l *idleList) oldest() *entry {
	for e := l.root.next; e != &l.root; e = e.next {
		if e.refs == 0 {
			return e
		}
	}
	return nil
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
