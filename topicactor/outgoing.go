package topicactor

import (
	"sync"
	"time"

	"legible.sh/mutex/internal/lease"
)

// outgoing is what a turn will let out once it is safe. Turns of all topics share a pool of them, so that an idle
// topic keeps no buffer.
type outgoing struct {
	events  []lease.Event
	answers []*request
	frames  []*Frame
	stored  time.Duration
}

var outgoings = sync.Pool{New: func() any { return &outgoing{events: make([]lease.Event, 0, 8)} }}

// free empties the buffers, so that no name or lease outlives its turn in here.
func (o *outgoing) free() {
	clear(o.events)
	clear(o.answers)
	clear(o.frames)
	*o = outgoing{events: o.events[:0], answers: o.answers[:0], frames: o.frames[:0]}
	outgoings.Put(o)
}

func (o *outgoing) answer(r *request, err error) {
	r.err = err
	o.answers = append(o.answers, r)
}

func (o *outgoing) durable() bool {
	for i := range o.events {
		if o.events[i].Durable() {
			return true
		}
	}
	return false
}
