package dirstore_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"legible.sh/mutex/internal/dirstore"
	"legible.sh/mutex/internal/locker"
)

// clocks are a machine's clocks in a test's hands.
type clocks struct {
	mu   sync.Mutex
	wall time.Duration // by how much the wall clock is off
	up   time.Duration // by how much all clocks have gone on
	boot string        // another boot, if set
}

func (c *clocks) drive(s *dirstore.Store) *dirstore.Store {
	s.Clock(func() (time.Time, time.Duration, string) {
		c.mu.Lock()
		defer c.mu.Unlock()
		now, up, boot := dirstore.ReadClock()
		if c.boot != "" {
			boot, up = c.boot, c.up
		}
		return now.Add(c.up + c.wall).Round(0), up + c.up, boot
	})
	return s
}

func (c *clocks) set(change func(*clocks)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(c)
}

func TestExpiry(t *testing.T) {
	c := &clocks{}
	s := c.drive(open(t, t.TempDir()))
	g := acquire(t, s, "k", time.Minute)
	c.set(func(c *clocks) { c.up = time.Minute - 5*time.Second })
	if st := status(t, s, "k"); st.State != locker.Held {
		t.Fatalf("before its end: %s", st.State)
	}
	c.set(func(c *clocks) { c.up = time.Minute + time.Second })
	if st := status(t, s, "k"); st.State != locker.Expired || len(st.Holders) != 1 || st.Holders[0].Name != "tester" {
		t.Fatalf("after its end: %+v", st)
	}
	if st, err := s.Wait(t.Context(), "k"); err != nil || st.State != locker.Expired {
		t.Errorf("wait: %v, %v", st.State, err)
	}
	if _, err := s.Renew(t.Context(), "k", g.Token, 0); !errors.Is(err, locker.ErrNotHeld) {
		t.Errorf("renewal: %v", err)
	}
	if _, err := s.Check(t.Context(), "k", g.Token); !errors.Is(err, locker.ErrNotHeld) {
		t.Errorf("check: %v", err)
	}
	if st := status(t, s, "k"); st.State != locker.Expired {
		t.Errorf("a refused renewal changed it to %s", st.State)
	}
	next, err := s.Acquire(t.Context(), "k", locker.Request{Who: locker.Who{Name: "next"}})
	if err != nil || next.Fence != g.Fence+1 {
		t.Fatalf("take-over: %+v, %v", next, err)
	}
	if _, err := s.Release(t.Context(), "k", g.Token); !errors.Is(err, locker.ErrNotHolder) {
		t.Errorf("release after the take-over: %v", err)
	}
	wantHistory(t, s, "acquired next", "expired tester", "acquired tester")
}

func TestOwnerClearsItsExpiredLease(t *testing.T) {
	c := &clocks{}
	s := c.drive(open(t, t.TempDir()))
	g := acquire(t, s, "k", time.Minute)
	c.set(func(c *clocks) { c.up = time.Hour })
	if _, err := s.Release(t.Context(), "k", g.Token); !errors.Is(err, locker.ErrNotHeld) {
		t.Fatal(err)
	}
	if st := status(t, s, "k"); st.State != locker.Free {
		t.Errorf("it is %s", st.State)
	}
	wantHistory(t, s, "expired tester", "acquired tester")
}

func TestPruneClearsTheExpired(t *testing.T) {
	c := &clocks{}
	s := c.drive(open(t, t.TempDir()))
	acquire(t, s, "short", time.Minute)
	long := acquire(t, s, "long", 2*time.Hour)
	c.set(func(c *clocks) { c.up = time.Hour })
	if p, err := s.Prune(t.Context()); err != nil || p.Pruned != 1 || p.Remaining != 1 {
		t.Fatalf("%+v, %v", p, err)
	}
	if st := status(t, s, "short"); st.State != locker.Free {
		t.Errorf("the expired one is %s", st.State)
	}
	if _, err := s.Check(t.Context(), "long", long.Token); err != nil {
		t.Errorf("the held one: %v", err)
	}
	if g := acquire(t, s, "short", time.Minute); g.Fence != 2 {
		t.Errorf("pruning took the fence back to %d", g.Fence)
	}
}

// TestTheWallClockIsSet: a lease ends when its time has passed, whatever the wall clock says.
func TestTheWallClockIsSet(t *testing.T) {
	for name, step := range map[string]time.Duration{"ahead": 5 * time.Hour, "back": -5 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			c := &clocks{}
			s := c.drive(open(t, t.TempDir()))
			acquire(t, s, "k", time.Minute)
			c.set(func(c *clocks) { c.wall = step })
			if st := status(t, s, "k"); st.State != locker.Held {
				t.Errorf("right after: %s", st.State)
			}
			c.set(func(c *clocks) { c.up = 2 * time.Minute })
			if st := status(t, s, "k"); st.State != locker.Expired {
				t.Errorf("two minutes later: %s", st.State)
			}
		})
	}
}

// TestAcrossABoot the wall clock counts, and a lease never gets longer than its ttl.
func TestAcrossABoot(t *testing.T) {
	c := &clocks{}
	s := c.drive(open(t, t.TempDir()))
	acquire(t, s, "k", time.Hour)
	c.set(func(c *clocks) { c.boot, c.up = "another", 30*time.Minute })
	if st := status(t, s, "k"); st.State != locker.Held {
		t.Errorf("half-way: %s", st.State)
	}
	c.set(func(c *clocks) { c.wall = -5 * time.Hour })
	if left := time.Until(status(t, s, "k").Holders[0].Expires) + 5*time.Hour - 30*time.Minute; left > time.Hour+time.Minute {
		t.Errorf("the clock went back, and the lease has %v", left)
	}
	c.set(func(c *clocks) { c.wall = 31 * time.Minute })
	if st := status(t, s, "k"); st.State != locker.Expired {
		t.Errorf("after it: %s", st.State)
	}
}
