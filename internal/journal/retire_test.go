package journal_test

import (
	"testing"

	"legible.sh/mutex/internal/lease"
)

// A name that is used again before its retirement is on disk begins as a new one. What was known of it is not to be told
// any more: its capacity would not be said again, and a restart would find as many holders, and room for one.
func TestRecallAfterARetirementOnItsWay(t *testing.T) {
	w := newWorld(t)
	hung := w.syncThatHangs()
	w.open()
	p := w.topic("x")
	take := func(n int) lease.Command {
		c := acquire(n)
		c.Capacity = 5
		return c
	}
	p.must(take(1))
	p.must(lease.Command{Op: lease.Release, Token: token(1)})

	hung.armed.Store(true)
	other, done := w.topic("other"), make(chan struct{})
	go func() {
		defer close(done)
		other.acquire(9)
	}()
	<-hung.reached
	fence := p.state.Fence()
	w.file.Floor("x", fence)
	p.state = lease.New(fence, keep) // as an actor that is made anew
	for _, e := range w.file.Recall("x", w.clock.now()) {
		p.state.Apply(&e)
	}
	close(hung.letGo)
	<-done
	p.must(take(2))
	p.must(take(3))
	before := p.describe()
	w.restart()
	if got := w.topic("x").describe(); got != before {
		t.Errorf("after a restart %s, before %s", got, before)
	}
	w.close()
}
