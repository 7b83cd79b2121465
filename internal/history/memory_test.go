package history_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"legible.sh/mutex/internal/history"
	"legible.sh/mutex/internal/lease"
)

// everything reads all pages, and makes sure that ids fall.
func everything(t testing.TB, h past, q history.Query) (all []history.Event) {
	t.Helper()
	q.Limit = history.MaxLimit
	for {
		page := query(t, h, q)
		for i := range page {
			if before := q.Before; before != 0 && page[i].ID >= before {
				t.Fatalf("event %d comes after %d", page[i].ID, before)
			}
			q.Before = page[i].ID
		}
		all = append(all, page...)
		if len(page) < q.Limit {
			return all
		}
	}
}

// withinBytes fails when a history has more than it may.
func withinBytes(t testing.TB, h past, limit int64) {
	t.Helper()
	if n := h.Stats().Bytes; n > limit {
		t.Fatalf("%d bytes, of %d", n, limit)
	}
}

func TestMemoryKeepsTheNewestWithinItsBytes(t *testing.T) {
	for name, who := range map[string]func(n int) lease.Who{
		"one holder": func(int) lease.Who { return lease.Who{Name: "worker", Host: "ci-7"} },
		"long texts, each new": func(n int) lease.Who {
			return lease.Who{
				Name: fmt.Sprintf("%0128d", n), Reason: fmt.Sprintf("%0256d", n), Host: fmt.Sprintf("%0255d", n),
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			const events, limit = 40_000, 1 << 20
			h := history.NewMemory(history.MemoryOptions{MaxBytes: limit})
			for n := range events {
				e := granted(n % 3000)
				e.Fence, e.Who = lease.Fence(n), who(n)
				h.Observe(lease.Topic(fmt.Sprint("topic-", n%100)), []lease.Event{e})
				withinBytes(t, h, limit)
			}
			all := everything(t, h, history.Query{})
			if len(all) < 400 || len(all) == events {
				t.Errorf("%d events are left of %d", len(all), events)
			}
			for i, e := range all {
				n := events - 1 - i
				if e.ID != int64(n+1) || e.Fence != lease.Fence(n) || e.Name != who(n).Name || e.Reason != who(n).Reason || e.Host != who(n).Host {
					t.Fatalf("event %d from the end is %+v", i, e)
				}
			}
			if st := h.Stats(); st.Written != events || st.Dropped != 0 || st.Queued != 0 || st.Failing {
				t.Errorf("stats %+v", st)
			}
		})
	}
}

func TestMemoryOfRenewalsAndOfChangesDoNotPushEachOtherOut(t *testing.T) {
	const limit = 1 << 20
	h := history.NewMemory(history.MemoryOptions{MaxBytes: limit})
	renewal := func(n int) lease.Event {
		e := granted(n)
		e.Kind = lease.Renewed
		return e
	}
	for n := range 100 {
		h.Observe("grants", []lease.Event{granted(n)})
	}
	for n := range 50_000 {
		h.Observe("renewals", []lease.Event{renewal(n)})
	}
	withinBytes(t, h, limit)
	if got := query(t, h, history.Query{Topic: "grants", Limit: 1000}); len(got) != 100 {
		t.Errorf("%d of 100 grants are left", len(got))
	}
	before := everything(t, h, history.Query{Topic: "renewals", Renewals: true})
	if len(before) < 1000 || before[0].ID != 50_100 {
		t.Fatalf("%d renewals", len(before))
	}
	for n := range 50_000 {
		h.Observe("grants", []lease.Event{granted(n)})
	}
	withinBytes(t, h, limit)
	if after := everything(t, h, history.Query{Topic: "renewals", Renewals: true}); len(after) != len(before) {
		t.Errorf("%d of %d renewals are left", len(after), len(before))
	}
}

// heap is what the program holds.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestMemoryForgetsNamesWithTheirEvents: names that were used once take nothing from those that come later, and what
// Stats says is what is there.
func TestMemoryForgetsNamesWithTheirEvents(t *testing.T) {
	const once, limit, slack = 100_000, 4 << 20, 256 << 10
	honest := func(h past, base int64) {
		t.Helper()
		withinBytes(t, h, limit)
		if grown, said := heap()-base, h.Stats().Bytes; grown > said+slack || grown < said-slack {
			t.Errorf("the heap grew by %d bytes, Stats says %d", grown, said)
		}
	}
	feed := func(h past, n int, name func(n int) string) {
		for n := range n {
			e := granted(n % 3000)
			e.Who.Name = name(n)
			h.Observe(lease.Topic(name(n)), []lease.Event{e})
		}
	}
	worker := func(int) string { return "worker" }
	fresh := history.NewMemory(history.MemoryOptions{MaxBytes: limit})
	feed(fresh, once, worker)
	want := len(everything(t, fresh, history.Query{}))

	base := heap()
	h := history.NewMemory(history.MemoryOptions{MaxBytes: limit})
	if idle := h.Stats().Bytes; idle > 64<<10 {
		t.Errorf("%d bytes before anything has happened", idle)
	}
	feed(h, once, func(n int) string { return strings.Repeat("name-", 10) + fmt.Sprint(n) })
	honest(h, base)
	feed(h, once, worker)
	honest(h, base)
	if got := len(everything(t, h, history.Query{})); got < want*95/100 {
		t.Errorf("%d events of one name, want %d as in a new history", got, want)
	}
	runtime.KeepAlive(h)
}

func TestMemoryDoesNotShowWhatIsTooOldAndLetsItGo(t *testing.T) {
	now := time.Now()
	h := history.NewMemory(history.MemoryOptions{MaxAge: time.Hour, Now: func() time.Time { return now }})
	grants := func(n int) {
		for range n {
			e := granted(1)
			e.At = now
			h.Observe("t", []lease.Event{e})
		}
	}
	count := func() (events, inOverview int) {
		t.Helper()
		o, err := h.Overview(t.Context(), history.OverviewQuery{Since: now.Add(-24 * time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		return len(everything(t, h, history.Query{})), o.Waits.Count
	}
	grants(20_000)
	full := h.Stats().Bytes
	now = now.Add(time.Hour)
	if events, overview := count(); events != 20_000 || overview != 20_000 {
		t.Errorf("after an hour: %d events, %d in the overview", events, overview)
	}
	now = now.Add(time.Millisecond)
	if events, overview := count(); events != 0 || overview != 0 {
		t.Errorf("after more than an hour: %d events, %d in the overview", events, overview)
	}
	grants(2000)
	if events, overview := count(); events != 2000 || overview != 2000 {
		t.Errorf("afterwards: %d events, %d in the overview", events, overview)
	}
	if n := h.Stats().Bytes; n > full/4 {
		t.Errorf("%d bytes of %d are kept for what is too old", n, full)
	}
}

func TestObservingInMemoryAllocatesNothing(t *testing.T) {
	h := history.NewMemory(history.MemoryOptions{MaxBytes: 1 << 20})
	n := 0
	turns := func() {
		for range 2000 {
			n++
			g := granted(n)
			turn := [...]lease.Event{g, after(g, time.Second, lease.Renewed), after(g, 2*time.Second, lease.Forced)}
			turn[2].By = "root"
			h.Observe("deploy", turn[:])
		}
	}
	for range 10 {
		turns() // fills it
	}
	if allocs := testing.AllocsPerRun(20, turns); allocs != 0 {
		t.Errorf("%v allocations in 6000 events", allocs)
	}
}

// TestMemoryIsReadWhileItIsWritten: readers see whole events in order, whatever is overwritten meanwhile.
func TestMemoryIsReadWhileItIsWritten(t *testing.T) {
	const observers, each = 4, 8000
	h := history.NewMemory(history.MemoryOptions{MaxBytes: 1 << 20})
	var observing, reading sync.WaitGroup
	done := make(chan struct{})
	for o := range observers {
		observing.Go(func() {
			topic := lease.Topic(fmt.Sprint("topic-", o))
			for n := range each {
				e := granted(o)
				e.Fence = lease.Fence(n)
				e.Who.Name = fmt.Sprintf("%s %d", topic, n)
				h.Observe(topic, []lease.Event{e, after(e, time.Duration(n)*time.Millisecond, lease.Renewed)})
			}
		})
	}
	for range 2 {
		reading.Go(func() {
			for {
				for _, e := range everything(t, h, history.Query{Renewals: true}) {
					if want := fmt.Sprintf("%s %d", e.Topic, e.Fence); e.Name != want {
						t.Errorf("%q on %s with the fence %d", e.Name, e.Topic, e.Fence)
					}
				}
				if _, err := h.Overview(context.Background(), history.OverviewQuery{Since: start}); err != nil {
					t.Error(err)
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	observing.Wait()
	close(done)
	reading.Wait()
	withinBytes(t, h, 1<<20)
	for o := range observers {
		got := query(t, h, history.Query{Topic: fmt.Sprint("topic-", o), Renewals: true})
		if len(got) > 0 && got[0].Fence != each-1 {
			t.Errorf("the newest of topic %d is %+v", o, got[0])
		}
	}
}

func TestReadsOfMemoryEndWithTheirCaller(t *testing.T) {
	h := history.NewMemory(history.MemoryOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := h.Query(ctx, history.Query{})
	if !errors.Is(err, context.Canceled) || !isUnavailable(err) {
		t.Errorf("Query: %v", err)
	}
	_, err = h.Overview(ctx, history.OverviewQuery{Since: start})
	if !errors.Is(err, context.Canceled) || !isUnavailable(err) {
		t.Errorf("Overview: %v", err)
	}
	if err := h.Close(ctx); err != nil {
		t.Errorf("Close: %v", err)
	}
}
