package history_test

import (
	"testing"
	"time"

	"legible.sh/mutex/internal/history"
	"legible.sh/mutex/internal/lease"
)

func TestOverviewShowsContentionAndWhatTookLongest(t *testing.T) {
	now := time.Now().Truncate(time.Second)
	both(t, func() time.Time { return now }, func(t *testing.T, s past) {
		since := now.Add(-100 * time.Second)
		put := func(n int, second int, waited time.Duration, held time.Duration) {
			g := granted(n)
			g.At = since.Add(time.Duration(second) * time.Second)
			g.Since, g.Enqueued = g.At, g.At.Add(-waited)
			if waited == 0 {
				g.Enqueued = time.Time{}
			}
			s.Observe("t", []lease.Event{g, after(g, held, lease.Renewed), after(g, held, lease.Released)})
		}
		put(1, -50, time.Hour, 10*time.Second) // before the time asked for
		for n := range 98 {
			put(100+n, n/10, 0, time.Second)
		}
		put(2, 55, 10*time.Second, 40*time.Second)
		put(3, 56, 20*time.Second, 2*time.Second)

		flush(t, s)
		o, err := s.Overview(t.Context(), history.OverviewQuery{Since: since, Buckets: 10, Top: 2})
		if err != nil {
			t.Fatal(err)
		}
		if len(o.Contention) != 10 || !o.Contention[3].Start.Equal(since.Add(30*time.Second)) {
			t.Fatalf("buckets %+v", o.Contention)
		}
		if b := o.Contention[0]; b.Grants != 98 || b.Queued != 0 || b.Waited != 0 {
			t.Errorf("first bucket %+v", b)
		}
		if b := o.Contention[5]; b.Grants != 2 || b.Queued != 2 || b.Waited != 30*time.Second || b.Longest != 20*time.Second {
			t.Errorf("sixth bucket %+v", b)
		}
		if w := o.Waits; w.Count != 100 || w.P50 != 0 || w.P90 != 0 || !within(w.P99, 10*time.Second) || w.Max != 20*time.Second {
			t.Errorf("waits %+v", w)
		}
		if h := o.Holds; h.Count != 100 || !within(h.P50, time.Second) || !within(h.P99, 2*time.Second) || h.Max != 40*time.Second {
			t.Errorf("holds %+v", h)
		}
		if l := o.LongestWaits; len(l) != 2 || l[0].Fence != 3 || l[1].Fence != 2 {
			t.Errorf("longest waits %+v", l)
		}
		if l := o.LongestHolds; len(l) != 2 || l[0].Fence != 2 || l[0].Held != 40*time.Second {
			t.Errorf("longest holds %+v", l)
		}
	})
}

// within allows for the classes of the percentiles.
func within(got, want time.Duration) bool { return got >= want && got <= want*110/100 }

func TestOverviewOfNothing(t *testing.T) {
	both(t, nil, func(t *testing.T, s past) {
		o, err := s.Overview(t.Context(), history.OverviewQuery{Since: time.Now().Add(-time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		if len(o.Contention) != history.DefaultBuckets || o.Waits != (history.Spread{}) || len(o.LongestHolds) != 0 {
			t.Errorf("got %+v", o)
		}
	})
}
