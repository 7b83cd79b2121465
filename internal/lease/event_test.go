package lease_test

import (
	"testing"
	"time"

	"legible.sh/mutex/internal/lease"
)

func TestRebase(t *testing.T) {
	at := func(offset time.Duration) time.Time { return start.Add(offset) }
	never := time.Time{}
	for _, c := range []struct {
		name            string
		ttl             time.Duration
		past, end       time.Time
		wantPast, wantE time.Time
	}{
		{"still to live", time.Minute, at(-20 * time.Second), at(40 * time.Second), at(-20 * time.Second), at(40 * time.Second)},
		{"exactly its ttl", time.Minute, at(0), at(time.Minute), at(0), at(time.Minute)},
		{"a moment more than its ttl", time.Minute, at(0), at(time.Minute + 1), at(0), at(time.Minute)},
		{"the clock was set back an hour", time.Minute, at(time.Hour), at(time.Hour + 40*time.Second), at(0), at(time.Minute)},
		{"the clock was set ahead an hour", time.Minute, at(-time.Hour), at(20*time.Second - time.Hour), at(-time.Hour), at(20*time.Second - time.Hour)},
		{"over for long", time.Minute, at(-time.Hour), at(-59 * time.Minute), at(-time.Hour), at(-59 * time.Minute)},
		{"no ttl to hold it against", 0, at(0), at(time.Hour), at(0), at(time.Hour)},
		{"nothing said", time.Minute, never, never, never, never},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := lease.Event{TTL: c.ttl, At: c.past, Since: c.past, Enqueued: c.past, Expires: c.end}.Rebase(start)
			for _, got := range []time.Time{e.At, e.Since, e.Enqueued} {
				if !got.Equal(c.wantPast) {
					t.Errorf("the past is %v, want %v", got, c.wantPast)
				}
			}
			if !e.Expires.Equal(c.wantE) {
				t.Errorf("expires %v, want %v", e.Expires, c.wantE)
			}
		})
	}
}

// TestRebaseKeepsMonotonic: the times of a file are moved onto the clock of now, so that setting the wall clock
// afterwards changes no deadline.
func TestRebaseKeepsMonotonic(t *testing.T) {
	now := time.Now()
	e := lease.Event{
		TTL: time.Minute, At: now.Round(0).Add(-time.Second), Expires: now.Round(0).Add(time.Second),
		Deadline: now.Round(0).Add(2 * time.Second),
	}.Rebase(now)
	for what, c := range map[string]struct {
		got  time.Time
		want time.Duration
	}{
		"at": {e.At, -time.Second}, "expires": {e.Expires, time.Second}, "deadline": {e.Deadline, 2 * time.Second},
	} {
		if c.got.Sub(now) != c.want {
			t.Errorf("%s is %v from now, want %v", what, c.got.Sub(now), c.want)
		}
		if c.got == c.got.Round(0) {
			t.Errorf("%s has lost its monotonic reading", what)
		}
	}
}

func TestDurable(t *testing.T) {
	key := lease.KeyOf("k")
	for kind, want := range map[lease.Kind][2]bool{ // without and with a key
		lease.Declared: {true, true}, lease.Granted: {true, true}, lease.Renewed: {true, true},
		lease.Released: {true, true}, lease.Expired: {true, true}, lease.Forced: {true, true},
		lease.Enqueued: {false, true}, lease.Left: {false, true}, lease.Spent: {true, true},
		lease.Detached: {false, false}, lease.Reattached: {false, false}, lease.Forgotten: {false, false},
	} {
		bare, keyed := lease.Event{Kind: kind}, lease.Event{Kind: kind, Key: key}
		if got := [2]bool{bare.Durable(), keyed.Durable()}; got != want {
			t.Errorf("%v: durable %v, want %v", kind, got, want)
		}
	}
}
