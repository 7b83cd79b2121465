package topicactor

import (
	"errors"
	"fmt"
	"slices"
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

// seen tells whether somebody whose request was answered looks at the topic next, as the registry does with everybody who
// gives a reference back. One who abandons may have given it back already.
func (o *outgoing) seen() bool {
	for _, r := range o.answers {
		if r.Op != lease.Abandon {
			return true
		}
	}
	return false
}

func (o *outgoing) durable() bool {
	for i := range o.events {
		if o.events[i].Durable() {
			return true
		}
	}
	return false
}

// store makes the turn's events safe. A journal that has no room for a grant says so before it writes anything, which is
// no failure of storage.
func (t *topic) store(now time.Time, out *outgoing) error {
	if !out.durable() {
		return nil
	}
	switch err := t.config.Journal.Append(t.topic, out.events); {
	case errors.Is(err, lease.ErrSuspended):
		return err
	case err != nil:
		return fmt.Errorf("%w: %w", lease.ErrStorage, err)
	}
	out.stored = time.Since(now)
	return nil
}

// fail takes back a turn that could not be stored: whoever asked is told just that, and watchers see the topic as
// it is without it.
func (t *topic) fail(err error, now time.Time, out *outgoing) {
	for _, r := range out.answers {
		r.err = err
	}
	for token := range t.parked {
		out.answer(t.unpark(token), err)
	}
	t.watched.takeBack(out)
	out.events = out.events[:0]
	t.rebuild(time.Now()) // not the turn's: the disk may have taken its time, and the wall clock may have been set meanwhile
	t.watched.restate(t, now, out)
}

// publish shows the registry what may be reaped, and tells whether the topic has just become idle.
func (t *topic) publish() (idled bool) {
	now := busy
	if t.state.Idle() {
		now = idle
		if t.state.Capacity() == 0 {
			now = pristine
		}
	}
	t.fence.Store(uint64(t.state.Fence()))
	t.held.Store(int32(t.state.Held()))
	t.waiting.Store(int32(t.state.Waiting()))
	before := life(t.life.Swap(uint32(now)))
	return before == busy && now != busy
}

// deliver lets out what is safe now. The last goroutine that is woken is the first to run when this one sleeps, and a
// grant stands in the list before the release that made room for it: so the list is gone through from its end, and the
// next holder does not wait until the last one has its answer. That takes a sixth off the median of a handoff.
func (t *topic) deliver(out *outgoing) {
	t.watched.deliver(out.frames)
	for _, r := range slices.Backward(out.answers) {
		r.answer.Stored = out.stored
		r.answered <- struct{}{} // holds one: never blocks
	}
	if t.config.Observe != nil && len(out.events) > 0 {
		t.config.Observe(t.topic, out.events)
	}
}
