package lease_test

import (
	"fmt"
	"slices"
	"time"

	"legible.sh/mutex/internal/lease"
)

// witness sees nothing but the events, and holds the promises against them.
type witness struct {
	fence   lease.Fence
	granted map[lease.Token]bool
	ended   map[lease.Token]bool // waits that are over, granted or not
	queue   []witnessed          // in the order they came
	at      time.Time
}

type witnessed struct {
	token    lease.Token // zero: away
	key      lease.Key
	deadline time.Time
}

func newWitness(floor lease.Fence) witness {
	return witness{fence: floor, granted: map[lease.Token]bool{}, ended: map[lease.Token]bool{}}
}

func (w *witness) see(events []lease.Event) error {
	for i := range events {
		e := &events[i]
		if e.At.Before(w.at) {
			return fmt.Errorf("%v goes back in time", e.Kind)
		}
		w.at = e.At
		switch e.Kind {
		case lease.Granted:
			if err := w.seeGrant(e); err != nil {
				return err
			}
		case lease.Enqueued:
			w.queue = append(w.queue, witnessed{e.Token, e.Key, e.Deadline})
		case lease.Detached:
			w.ended[e.Token] = true
			w.queue[w.find(e)].token = lease.Token{}
		case lease.Reattached:
			w.ended[e.Superseded] = true
			mine := &w.queue[w.find(e)]
			mine.token, mine.deadline = e.Token, e.Deadline
		case lease.Left:
			w.ended[e.Token] = true
			i := w.find(e)
			w.queue = slices.Delete(w.queue, i, i+1)
		}
	}
	return nil
}

func (w *witness) seeGrant(e *lease.Event) error {
	switch {
	case e.Fence != w.fence+1:
		return fmt.Errorf("fence %d after %d", e.Fence, w.fence)
	case w.granted[e.Token]:
		return fmt.Errorf("a token was granted twice")
	case w.ended[e.Token]:
		return fmt.Errorf("a request was granted that had left")
	}
	w.fence = e.Fence
	w.granted[e.Token], w.ended[e.Token] = true, true
	i := w.find(e)
	first := slices.IndexFunc(w.queue, func(q witnessed) bool { return !q.token.IsZero() })
	if first >= 0 && first != i {
		return fmt.Errorf("fence %d went to one who was not the first of those present", e.Fence)
	}
	if i < 0 {
		return nil
	}
	if q := w.queue[i]; q.token == e.Token && !q.deadline.After(e.At) {
		return fmt.Errorf("fence %d was granted at %v to one who waited until %v", e.Fence, e.At, q.deadline)
	}
	w.queue = slices.Delete(w.queue, i, i+1)
	return nil
}

// find gives the place that an event is about, or -1.
func (w *witness) find(e *lease.Event) int {
	return slices.IndexFunc(w.queue, func(q witnessed) bool {
		return !e.Key.IsZero() && q.key == e.Key || e.Key.IsZero() && q.key.IsZero() && q.token == e.Token
	})
}

// restart: whoever waited has left; places with a key are kept.
func (w *witness) restart() {
	for i := range w.queue {
		w.ended[w.queue[i].token] = true
		w.queue[i].token = lease.Token{}
	}
	w.queue = slices.DeleteFunc(w.queue, func(q witnessed) bool { return q.key.IsZero() })
}
