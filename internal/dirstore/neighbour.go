package dirstore

// neighbour is the waiter in front, whose process is watched: when it dies in the queue, nobody else says so.
type neighbour struct {
	name  string
	ended <-chan struct{} // nil while nothing is watched
	stop  func()
}

func (n *neighbour) watch(p *place) {
	if n.name == p.name {
		return
	}
	n.forget()
	n.name = p.name
	n.ended, n.stop = p.waiter.Process.watch()
}

func (n *neighbour) forget() {
	if n.stop != nil {
		n.stop()
	}
	*n = neighbour{}
}
