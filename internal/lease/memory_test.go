package lease_test

import (
	"encoding/binary"
	"runtime"
	"testing"
	"time"

	"legible.sh/mutex/internal/lease"
)

// TestCrowdLeavesNothing: a topic that a thousand held, awaited and had tickets for is as small as before once they
// are gone.
func TestCrowdLeavesNothing(t *testing.T) {
	const topics, crowd, most = 32, 1024, 2048 // bytes a topic
	states := make([]*lease.State, topics)
	before := heap()
	for i := range states {
		states[i] = crowded(t, crowd)
	}
	if got := (heap() - before) / topics; got > most {
		t.Errorf("%d bytes a topic are left, want at most %d", got, most)
	}
	for _, s := range states {
		if !s.Idle() {
			t.Fatal("not idle")
		}
	}
}

// crowded makes a topic that many used and left.
func crowded(t *testing.T, n int) *lease.State {
	s, now := lease.New(0, time.Second), start
	var c lease.Command
	var events []lease.Event
	for i := range 2 * n {
		c = lease.Command{Op: lease.Acquire, TTL: time.Minute, Wait: time.Minute, Capacity: n}
		binary.LittleEndian.PutUint64(c.Token[8:], uint64(i+1))
		binary.LittleEndian.PutUint64(c.Key[8:], uint64(i+1))
		var err error
		if _, events, err = s.Step(&c, now, events[:0]); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 { // waits run out, leases expire, places lapse, keys are forgotten
		now = now.Add(time.Minute)
		events = s.Settle(now, events[:0])
	}
	return s
}

// TestQueueDoesNotGrow: a queue that is never empty takes room for who waits, not for who ever did.
func TestQueueDoesNotGrow(t *testing.T) {
	const few, cycles, most = 4, 50_000, 16 << 10
	b, holder := queued(t, few)
	before := heap()
	for range cycles {
		holder = b.cycle(t, holder, few)
	}
	if got := heap() - before; got > most {
		t.Errorf("grew by %d bytes in %d cycles, want at most %d", got, cycles, most)
	}
	if got := b.state.Waiting(); got != few {
		t.Errorf("%d are waiting, want %d", got, few)
	}
}

// TestLeftAreNotKept: closing the gaps of a queue keeps nobody alive who leaves later.
func TestLeftAreNotKept(t *testing.T) {
	const topics, crowd, most = 8, 1024, 170 << 10 // bytes a topic; 80 KiB more with those who left
	states := make([]*lease.State, topics)
	before := heap()
	for i := range states {
		b, _ := queued(t, crowd)
		leave := func(serial uint64) {
			c := lease.Command{Op: lease.Abandon, Token: lease.Token{0: 1}}
			binary.LittleEndian.PutUint64(c.Token[8:], serial)
			b.step(t, &c)
		}
		for serial := uint64(2); serial <= crowd/2+2; serial++ {
			leave(serial)
		}
		last := b.acquire(t, time.Hour) // closes the gaps
		for serial := uint64(crowd/2 + 3); serial <= crowd+1; serial++ {
			leave(serial)
		}
		if states[i] = b.state; b.state.Waiting() != 1 || last.IsZero() {
			t.Fatalf("%d are waiting", b.state.Waiting())
		}
	}
	if got := (heap() - before) / topics; got > most {
		t.Errorf("%d bytes a topic are left, want at most %d", got, most)
	}
	runtime.KeepAlive(states)
}

func heap() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
