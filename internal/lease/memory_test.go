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

func heap() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
