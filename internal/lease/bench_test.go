package lease_test

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"legible.sh/mutex/internal/lease"
)

// bench drives a topic with as little around it as can be.
type bench struct {
	state  *lease.State
	now    time.Time
	events []lease.Event
	serial uint64
}

func newBench() *bench {
	return &bench{state: lease.New(0, 30*time.Second), now: time.Now(), events: make([]lease.Event, 0, 64)}
}

// step runs one command a microsecond after the one before.
func (b *bench) step(tb testing.TB, c *lease.Command) lease.Outcome {
	b.now = b.now.Add(time.Microsecond)
	outcome, events, err := b.state.Step(c, b.now, b.events[:0])
	if err != nil {
		tb.Fatal(err)
	}
	b.events = events
	return outcome
}

func (b *bench) token() (t lease.Token) {
	b.serial++
	t[0] = 1
	binary.LittleEndian.PutUint64(t[8:], b.serial)
	return t
}

func (b *bench) acquire(tb testing.TB, wait time.Duration) lease.Token {
	c := lease.Command{Op: lease.Acquire, Token: b.token(), Who: lease.Who{Name: "bench"}, TTL: time.Hour, Wait: wait}
	b.step(tb, &c)
	return c.Token
}

func (b *bench) release(tb testing.TB, t lease.Token) {
	b.step(tb, &lease.Command{Op: lease.Release, Token: t})
}

// cycle is one acquire and one release. With waiters queued, the acquire goes to the end of the queue and the
// release hands over to its head.
func (b *bench) cycle(tb testing.TB, holder lease.Token, waiters int) lease.Token {
	if waiters == 0 {
		holder = b.acquire(tb, 0)
		b.release(tb, holder)
		return holder
	}
	b.acquire(tb, time.Hour)
	b.release(tb, holder)
	for i := range b.events {
		if e := &b.events[i]; e.Kind == lease.Granted {
			return e.Token
		}
	}
	tb.Fatal("nobody was granted")
	return holder
}

// queued makes a topic with one holder and many waiters.
func queued(tb testing.TB, waiters int) (*bench, lease.Token) {
	b := newBench()
	if waiters == 0 {
		return b, lease.Token{}
	}
	holder := b.acquire(tb, 0)
	for range waiters {
		b.acquire(tb, time.Hour)
	}
	return b, holder
}

// BenchmarkCycle: an acquire and a release, with nobody waiting and with many.
func BenchmarkCycle(b *testing.B) {
	for _, waiters := range []int{0, 1, 64, 1024, 16384} {
		b.Run(fmt.Sprint("waiters=", waiters), func(b *testing.B) {
			t, holder := queued(b, waiters)
			b.ReportAllocs()
			for b.Loop() {
				holder = t.cycle(b, holder, waiters)
			}
		})
	}
}

// BenchmarkCycleBesideAway: an acquire and a release while many places in the queue are away and passed over.
func BenchmarkCycleBesideAway(b *testing.B) {
	t := newBench()
	t.state = lease.New(0, 24*time.Hour)
	holder := t.acquire(b, 0)
	for range 1024 {
		c := lease.Command{Op: lease.Acquire, Token: t.token(), TTL: time.Hour, Wait: time.Hour}
		binary.LittleEndian.PutUint64(c.Key[:], t.serial)
		t.step(b, &c)
		t.step(b, &lease.Command{Op: lease.Abandon, Token: c.Token})
	}
	t.release(b, holder)
	b.ReportAllocs()
	for b.Loop() {
		t.release(b, t.acquire(b, 0))
	}
}

// BenchmarkTicketCycle: an acquire with a key and a release, which spends the key and in time forgets it.
func BenchmarkTicketCycle(b *testing.B) {
	t := newBench()
	b.ReportAllocs()
	for b.Loop() {
		c := lease.Command{Op: lease.Acquire, Token: t.token(), TTL: time.Hour}
		binary.LittleEndian.PutUint64(c.Key[:], t.serial)
		t.step(b, &c)
		t.release(b, c.Token)
	}
}

func BenchmarkRenew(b *testing.B) {
	for _, holders := range []int{1, 1024} {
		b.Run(fmt.Sprint("holders=", holders), func(b *testing.B) {
			t := newBench()
			var last lease.Token
			for range holders {
				c := lease.Command{Op: lease.Acquire, Token: t.token(), TTL: time.Hour, Capacity: holders}
				t.step(b, &c)
				last = c.Token
			}
			b.ReportAllocs()
			for b.Loop() {
				t.step(b, &lease.Command{Op: lease.Renew, Token: last})
			}
		})
	}
}

func BenchmarkCheck(b *testing.B) {
	t := newBench()
	holder := t.acquire(b, 0)
	b.ReportAllocs()
	for b.Loop() {
		t.step(b, &lease.Command{Op: lease.Check, Token: holder})
	}
}

// BenchmarkHandoff: a release that grants the next, with the queue filled anew outside the clock.
func BenchmarkHandoff(b *testing.B) {
	t, holder := queued(b, 1024)
	b.ReportAllocs()
	for b.Loop() {
		t.release(b, holder)
		holder = t.events[1].Token
		if t.state.Waiting() == 0 {
			b.StopTimer()
			for range 1024 {
				t.acquire(b, time.Hour)
			}
			b.StartTimer()
		}
	}
}

// BenchmarkLeaving: what each of many costs that leave from the middle of the queue, and the grant behind them.
func BenchmarkLeaving(b *testing.B) {
	const crowd = 10_000
	for b.Loop() {
		b.StopTimer()
		t, holder := queued(b, crowd)
		b.StartTimer()
		for serial := uint64(2); serial <= crowd; serial++ {
			c := lease.Command{Op: lease.Abandon, Token: lease.Token{0: 1}}
			binary.LittleEndian.PutUint64(c.Token[8:], serial)
			t.step(b, &c)
		}
		t.release(b, holder)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/crowd, "ns/leaving")
}

func BenchmarkStatus(b *testing.B) {
	t, _ := queued(b, 64)
	b.ReportAllocs()
	for b.Loop() {
		t.state.Status()
	}
}

// TestAllocations pins that the rules themselves allocate nothing once slices and maps have grown.
func TestAllocations(t *testing.T) {
	for _, waiters := range []int{0, 1, 1024} {
		b, holder := queued(t, waiters)
		for range 4 * (waiters + 32) {
			holder = b.cycle(t, holder, waiters)
		}
		got := testing.AllocsPerRun(2000, func() { holder = b.cycle(t, holder, waiters) })
		if got > 0 {
			t.Errorf("acquire and release beside %d waiters: %v allocations", waiters, got)
		}
	}
}
