package history_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"legible.sh/mutex/internal/history"
	"legible.sh/mutex/internal/lease"
)

// TestTheTwoHistoriesCannotBeToldApart: whatever happens, memory answers as the file does.
func TestTheTwoHistoriesCannotBeToldApart(t *testing.T) {
	dir, runs := t.TempDir(), 0
	now := start.Add(time.Hour)
	clock := func() time.Time { return now }
	rapid.Check(t, func(r *rapid.T) {
		runs++
		file := history.Open(history.Options{
			Path: filepath.Join(dir, fmt.Sprint(runs)), Linger: time.Hour, MaxAge: -1, Now: clock,
		})
		defer func() {
			if err := file.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}()
		// So little that there are many segments, and enough for all that happens.
		memory := history.NewMemory(history.MemoryOptions{MaxBytes: 1 << 20, MaxAge: -1, Now: clock})
		life := life{r: r, at: start}
		for range rapid.IntRange(0, 10).Draw(r, "turns") {
			topic, events := life.turn()
			file.Observe(topic, events)
			memory.Observe(topic, events)
		}
		if err := file.Flush(t.Context()); err != nil { // a query would not wait as long as it may take
			r.Fatal(err)
		}
		for range 8 {
			sameQuery(r, file, memory, life.query())
		}
		for range 3 {
			sameOverview(r, file, memory, life.overview(now))
		}
	})
}

// life makes up what happens.
type life struct {
	r  *rapid.T
	at time.Time
	n  int // events
}

var (
	someTopics   = rapid.SampledFrom([]lease.Topic{"a", "ab", "ab:c", "b", "b-1", "Ab"})
	someKinds    = rapid.SampledFrom([]lease.Kind{lease.Granted, lease.Renewed, lease.Released, lease.Expired, lease.Forced, lease.Enqueued})
	someTexts    = rapid.SampledFrom([]string{"", "", "a", "worker-1", "worker-2", "näme 名", "a longer text, which no small buffer holds"})
	someCauses   = rapid.SampledFrom([]lease.Cause{lease.NoCause, lease.NoCause, lease.Undelivered})
	someTimes    = rapid.SampledFrom([]time.Duration{0, 1, time.Millisecond - 1, time.Millisecond, 7 * time.Millisecond, 127 * time.Millisecond, time.Second, 90 * time.Minute, 1 << 55})
	someDuration = rapid.OneOf(someTimes, rapid.Map(rapid.Int64Range(0, int64(time.Hour)), func(n int64) time.Duration { return time.Duration(n) }))
)

// turn is what happens to a topic at once: often little, sometimes much of a kind.
func (l *life) turn() (topic lease.Topic, events []lease.Event) {
	topic = someTopics.Draw(l.r, "topic")
	e := lease.Event{
		Kind: someKinds.Draw(l.r, "kind"), Cause: someCauses.Draw(l.r, "cause"), By: someTexts.Draw(l.r, "by"),
		Who: lease.Who{
			Name: someTexts.Draw(l.r, "name"), Reason: someTexts.Draw(l.r, "reason"), Host: someTexts.Draw(l.r, "host"),
			PID: rapid.IntRange(0, 1<<31-1).Draw(l.r, "pid"),
		},
		TTL: someDuration.Draw(l.r, "ttl"), Slot: rapid.IntRange(-1, 1023).Draw(l.r, "slot"),
	}
	lasted := someDuration.Draw(l.r, "lasted")
	step := time.Duration(rapid.Int64Range(-int64(time.Minute), int64(2*time.Minute)).Draw(l.r, "step"))
	for range rapid.OneOf(rapid.IntRange(1, 3), rapid.IntRange(1, 250)).Draw(l.r, "times") {
		l.n++
		l.at = l.at.Add(step)
		e.At, e.Since, e.Enqueued = l.at, l.at.Add(-lasted), time.Time{}
		if l.n%2 == 0 {
			e.Enqueued = e.Since
		}
		e.Token = token(l.n % 50)
		if e.Kind == lease.Renewed {
			e.Token = token(1000 + l.n) // those of one lease may stand for each other
		}
		e.Fence = lease.Fence(l.n) << (l.n % 40)
		events = append(events, e)
		step, lasted = step*3/4, lasted*3/4
	}
	return topic, events
}

// moment is near an event, often to the millisecond.
func (l *life) moment(what string) time.Time {
	near := l.at.Truncate(time.Millisecond).Add(time.Duration(rapid.IntRange(-1, 1).Draw(l.r, what+" off")))
	return near.Add(-time.Duration(rapid.SampledFrom([]int64{0, 0, int64(time.Minute), int64(time.Hour)}).Draw(l.r, what)))
}

func (l *life) query() history.Query {
	q := history.Query{
		Limit: rapid.SampledFrom([]int{0, 1, 30, history.MaxLimit}).Draw(l.r, "limit"), Renewals: rapid.Bool().Draw(l.r, "renewals"),
		Before: int64(rapid.SampledFrom([]int{-1, 0, 0, 1, l.n / 2, l.n, l.n + 5}).Draw(l.r, "before")),
	}
	switch rapid.IntRange(0, 3).Draw(l.r, "which") {
	case 0:
		q.Topic = string(someTopics.Draw(l.r, "topic asked for"))
	case 1:
		q.Prefix = rapid.SampledFrom([]string{"a", "ab", "b-", "x", "worker-1"}).Draw(l.r, "prefix")
	}
	if rapid.Bool().Draw(l.r, "bounded") {
		q.Since = l.moment("since")
	}
	return q
}

func (l *life) overview(now time.Time) history.OverviewQuery {
	q := history.OverviewQuery{
		Since: l.moment("overview"), Buckets: rapid.SampledFrom([]int{0, 1, 7, history.MaxBuckets, -1}).Draw(l.r, "buckets"),
		Top: rapid.SampledFrom([]int{0, 1, 3, history.MaxTop, history.MaxTop + 1}).Draw(l.r, "top"),
	}
	if rapid.Bool().Draw(l.r, "everything") {
		q.Since = now.Add(-1000 * time.Hour)
	}
	return q
}

func sameQuery(r *rapid.T, file, memory past, q history.Query) {
	want, wantErr := file.Query(r.Context(), q)
	got, err := memory.Query(r.Context(), q)
	if fmt.Sprint(err) != fmt.Sprint(wantErr) || errors.Is(err, history.ErrBadQuery) != errors.Is(wantErr, history.ErrBadQuery) {
		r.Fatalf("%+v: memory says %v, the file %v", q, err, wantErr)
	}
	if len(got) != len(want) {
		r.Fatalf("%+v: memory gives %d events, the file %d", q, len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			r.Fatalf("%+v, event %d:\nmemory %+v\n  file %+v", q, i, got[i], want[i])
		}
	}
}

func sameOverview(r *rapid.T, file, memory past, q history.OverviewQuery) {
	want, wantErr := file.Overview(r.Context(), q)
	got, err := memory.Overview(r.Context(), q)
	if fmt.Sprint(err) != fmt.Sprint(wantErr) {
		r.Fatalf("%+v: memory says %v, the file %v", q, err, wantErr)
	}
	if !reflect.DeepEqual(got, want) {
		r.Fatalf("%+v:\nmemory %+v\n  file %+v", q, got, want)
	}
}
