package history_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"legible.sh/mutex/internal/history"
	"legible.sh/mutex/internal/lease"
)

// sample fills a store with some blocks of events on 40 topics, and gives them as they should come back.
func sample(t testing.TB, s past) []history.Event {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	kinds := []lease.Kind{lease.Granted, lease.Renewed, lease.Renewed, lease.Renewed, lease.Released, lease.Expired, lease.Forced}
	var all []history.Event
	for n := range 3*blockSize + 100 {
		e := granted(n)
		e.Kind = kinds[random.IntN(len(kinds))]
		e.At = start.Add(time.Duration(n+random.IntN(50)) * 100 * time.Millisecond)
		topic := lease.Topic(fmt.Sprintf("t%d", random.IntN(40)))
		if n == 5 || n == 2*blockSize {
			topic = "rare:one"
		}
		s.Observe(topic, []lease.Event{e})
		h, _ := history.FromLease(string(topic), &e)
		h.ID, h.At = int64(n+1), e.At.UTC()
		all = append(all, h)
		if n%1024 == 0 {
			flush(t, s)
		}
	}
	flush(t, s)
	slices.Reverse(all)
	return all
}

// model answers a query by looking at everything.
func model(all []history.Event, q history.Query) (page []history.Event) {
	for _, e := range all {
		if len(page) < q.Limit && (q.Topic == "" || e.Topic == q.Topic) && strings.HasPrefix(e.Topic, q.Prefix) &&
			!e.At.Before(q.Since) && (q.Before == 0 || e.ID < q.Before) && (q.Renewals || e.Kind != history.Renewed) {
			page = append(page, e)
		}
	}
	return page
}

func TestQueriesGiveWhatLookingAtEverythingGives(t *testing.T) {
	both(t, nil, func(t *testing.T, s past) {
		all := sample(t, s)
		for _, base := range []history.Query{
			{}, {Topic: "t7"}, {Topic: "rare:one"}, {Prefix: "t"}, {Prefix: "t1"}, {Prefix: "rare"}, {Prefix: "%"}, {Topic: "t7", Before: 1},
			{Before: 2 * blockSize}, {Topic: "t7", Before: blockSize + 1}, {Since: start.Add(200 * time.Second)},
			{Topic: "rare:one", Since: start.Add(200 * time.Second)}, {Since: start.Add(200*time.Second + time.Nanosecond)},
			{Topic: "t7", Since: start.Add(time.Hour)}, {Since: latest(all)}, {Since: latest(all).Add(time.Nanosecond)},
		} {
			for _, limit := range []int{1, 20, 1000} {
				for _, renewals := range []bool{false, true} {
					q := base
					q.Limit, q.Renewals = limit, renewals
					if q.Since.Equal(latest(all)) && renewals && len(model(all, q)) == 0 {
						t.Fatal("the last event is missing from the sample")
					}
					same(t, query(t, s, q), model(all, q))
				}
			}
		}
	})
}

// latest is when the last of the events happened.
func latest(all []history.Event) time.Time {
	return slices.MaxFunc(all, func(a, b history.Event) int { return a.At.Compare(b.At) }).At
}

func TestPagesJoinWithoutGapOrRepetition(t *testing.T) {
	both(t, nil, func(t *testing.T, s past) {
		all := sample(t, s)
		q := history.Query{Topic: "t3", Renewals: true, Limit: 7}
		var got []history.Event
		for {
			page := query(t, s, q)
			got = append(got, page...)
			if len(page) < q.Limit {
				break
			}
			q.Before = page[len(page)-1].ID
		}
		same(t, got, model(all, history.Query{Topic: "t3", Renewals: true, Limit: len(all)}))
	})
}

func TestAClockSetBackHidesNothing(t *testing.T) {
	both(t, nil, func(t *testing.T, s past) {
		for n, minutes := range []int{0, 60, 10, 20, 70} {
			e := granted(n)
			e.At = start.Add(time.Duration(minutes) * time.Minute)
			s.Observe("t", []lease.Event{e})
		}
		flush(t, s)
		var ids []int64
		for _, e := range query(t, s, history.Query{Since: start.Add(20 * time.Minute)}) {
			ids = append(ids, e.ID)
		}
		if !slices.Equal(ids, []int64{5, 4, 2}) {
			t.Errorf("got %v, want those at or after 20 minutes, by id: 5 4 2", ids)
		}
	})
}

func TestBadQueriesSayWhatToSend(t *testing.T) {
	both(t, nil, func(t *testing.T, s past) {
		for want, q := range map[string]history.Query{
			"1 to 10000":      {Limit: history.MaxLimit + 1},
			"limit is -1":     {Limit: -1},
			"before is -5":    {Before: -5},
			"not both":        {Topic: "a", Prefix: "b"},
			"topic is not":    {Topic: strings.Repeat("x", 257)},
			"prefix is not":   {Prefix: "\xff"},
			"since is not in": {},
		} {
			var err error
			if strings.HasPrefix(want, "since") {
				_, err = s.Overview(t.Context(), history.OverviewQuery{Since: time.Now().Add(time.Hour)})
			} else {
				_, err = s.Query(t.Context(), q)
			}
			if !errors.Is(err, history.ErrBadQuery) || !strings.Contains(err.Error(), want) {
				t.Errorf("%+v: %v, want %q", q, err, want)
			}
		}
	})
}

func FuzzQuery(f *testing.F) {
	histories := []past{open(f, history.Options{Path: path(f)}), history.NewMemory(history.MemoryOptions{})}
	var all []history.Event
	for _, h := range histories {
		all = sample(f, h)
	}
	f.Add("t1", "", int64(0), int64(0), 10, true)
	f.Add("", "t1", int64(300), int64(2500), 1000, false)
	f.Add("'; DROP TABLE events; --", "", int64(-1), int64(1<<62), 1, true)
	f.Add("", "t\x00", int64(1)<<40, int64(1), 0, false)
	f.Add("", "\U0010ffff", int64(0), int64(-1), -1, false)
	f.Fuzz(func(t *testing.T, topic, prefix string, since, before int64, limit int, renewals bool) {
		q := history.Query{Topic: topic, Prefix: prefix, Before: before, Limit: limit, Renewals: renewals}
		if since != 0 {
			q.Since = time.UnixMilli(start.UnixMilli() + since%1_000_000)
		}
		for _, h := range histories {
			got, err := h.Query(t.Context(), q)
			if errors.Is(err, history.ErrBadQuery) {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if q.Limit == 0 {
				q.Limit = history.DefaultLimit
			}
			same(t, got, model(all, q))
		}
	})
}
