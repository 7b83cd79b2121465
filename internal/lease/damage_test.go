package lease_test

import (
	"math"
	"testing"
	"time"

	"legible.sh/mutex/internal/lease"
)

// FuzzDamaged applies events that no rule ever made, as a damaged journal would hold them, mixed with commands.
// Nothing is promised of what they mean, but the state stays whole, every settling ends, and no grant goes past
// the capacity.
func FuzzDamaged(f *testing.F) {
	addNoise(f, 64, 2000)
	f.Fuzz(func(t *testing.T, data []byte) {
		p, more := fromBytes(data)
		s := lease.New(choose[lease.Fence](p, 0, 7, lease.MaxFence, math.MaxUint64), choose[time.Duration](p, 0, 4*time.Second))
		now := start
		for more() {
			now = now.Add(choose[time.Duration](p, 0, 0, 0, time.Millisecond, time.Second, time.Hour))
			if p(3) > 0 {
				e := damagedEvent(p, now)
				s.Apply(&e)
			} else {
				stepDamaged(t, s, p, now)
			}
			if err := s.CheckInvariants(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// stepDamaged runs a command on a state that damaged events have made.
func stepDamaged(t *testing.T, s *lease.State, p pick, now time.Time) {
	s.Suspend(p(8) == 0)
	c := lease.Command{
		Op: lease.Op(p(10)), Token: damagedToken(p), Key: randomKey(p), TTL: damagedSpan(p), TTLOmitted: p(2) == 0,
		Capacity: p(4), Wait: choose[time.Duration](p, 0, time.Second), Fence: lease.Fence(p(3)),
	}
	_, events, _ := s.Step(&c, now, nil)
	held := s.Held()
	for i := len(events) - 1; i >= 0; i-- { // backwards, to how many held when each grant was made
		switch e := &events[i]; {
		case e.Kind == lease.Granted:
			if held > max(s.Capacity(), 1) {
				t.Fatalf("a grant made it %d holders, capacity %d", held, s.Capacity())
			}
			held--
		case e.Ends():
			held++
		}
	}
	if due, ok := s.NextDue(); ok && !due.After(now) && c.Op != lease.Acquire {
		t.Fatalf("due at %v, and not settled at %v", due, now)
	}
	s.Status()
	s.HolderNames()
}

func damagedEvent(p pick, now time.Time) lease.Event {
	e := lease.Event{
		Kind: lease.Kind(p(15)), Cause: lease.Cause(p(8)), At: damagedTime(p, now),
		Token: damagedToken(p), Superseded: damagedToken(p), Key: randomKey(p),
		Fence: choose[lease.Fence](p, 0, 1, 2, 3, 1000), Slot: choose(p, -1, 0, 0, 1, 2, 63, 64), Capacity: p(4),
		TTL: damagedSpan(p), Since: damagedTime(p, now), Enqueued: damagedTime(p, now),
		Expires: damagedTime(p, now), Deadline: damagedTime(p, now),
	}
	if p(32) == 0 { // seldom, since it ends all grants
		e.Fence = choose[lease.Fence](p, lease.MaxFence-2, lease.MaxFence, math.MaxUint64)
	}
	if p(16) == 0 {
		e.Slot, e.Capacity = choose(p, 5000, math.MaxInt, math.MinInt), choose(p, -1, 70, math.MaxInt, math.MinInt)
	}
	_, _ = e.Kind.String(), e.Cause.String()
	if p(4) == 0 {
		e = e.Rebase(now)
	}
	return e
}

func damagedToken(p pick) lease.Token { return lease.Token{15: byte(p(6))} }

func damagedSpan(p pick) time.Duration {
	return choose(p, time.Second, time.Second, 0, -time.Second, time.Hour, math.MaxInt64, math.MinInt64)
}

func damagedTime(p pick, now time.Time) time.Time {
	return choose(p, now, now.Add(time.Second), now.Add(-time.Second), now.Add(time.Hour), time.Time{},
		time.Unix(math.MaxInt64, 0), time.Unix(math.MinInt64, 0), time.Now())
}
