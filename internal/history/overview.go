package history

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// Limits of an [OverviewQuery].
const (
	DefaultBuckets = 48
	MaxBuckets     = 500
	DefaultTop     = 10
	MaxTop         = 100
)

// overviewTimeout bounds an overview: it may have to look at every event there is.
const overviewTimeout = 15 * time.Second

// OverviewQuery says what an [Overview] is to cover.
type OverviewQuery struct {
	Since   time.Time // until now
	Buckets int       // parts of that time: 1 to MaxBuckets; 0 for DefaultBuckets
	Top     int       // how many of the longest: 1 to MaxTop; 0 for DefaultTop
}

// Overview is all topics seen from above.
type Overview struct {
	Since, Until time.Time
	Contention   []Bucket // oldest first, every part of the time
	Waits        Spread   // of all grants; those that did not queue waited 0
	Holds        Spread   // of all leases that ended
	LongestWaits []Event  // grants, the longest wait first
	LongestHolds []Event  // ends, the longest hold first
}

// Bucket is the contention in one part of the time.
type Bucket struct {
	Start   time.Time
	Grants  int
	Queued  int           // grants that had waited
	Waited  time.Duration // by all of them together
	Longest time.Duration // wait
}

// Spread says how durations are distributed. Percentiles are up to 9% too high, except that none is above Max.
type Spread struct {
	Count         int
	P50, P90, P99 time.Duration
	Max           time.Duration
}

// check sets the defaults.
func (q OverviewQuery) check(until time.Time) (OverviewQuery, error) {
	switch {
	case !q.Since.Before(until):
		return q, fmt.Errorf("%w: since is not in the past", ErrBadQuery)
	case q.Buckets < 0 || q.Buckets > MaxBuckets:
		return q, fmt.Errorf("%w: buckets is %d; send 1 to %d", ErrBadQuery, q.Buckets, MaxBuckets)
	case q.Top < 0 || q.Top > MaxTop:
		return q, fmt.Errorf("%w: top is %d; send 1 to %d", ErrBadQuery, q.Top, MaxTop)
	}
	q.Buckets = cmp.Or(q.Buckets, DefaultBuckets)
	q.Top = cmp.Or(q.Top, DefaultTop)
	return q, nil
}

// Overview reads what the dashboard shows. It looks at every event since q.Since, so only one runs at a time.
// The error is [ErrBadQuery] or [ErrUnavailable].
func (s *Store) Overview(ctx context.Context, q OverviewQuery) (*Overview, error) {
	until := s.opts.Now()
	q, err := q.check(until)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, overviewTimeout)
	defer cancel()
	select {
	case s.overviews <- struct{}{}:
		defer func() { <-s.overviews }()
	case <-ctx.Done():
		return nil, unavailable(ctx.Err())
	}
	s.settle(ctx)
	db, err := s.db()
	if err != nil {
		return nil, err
	}
	o, err := overview(ctx, db, q, until)
	return o, s.seen(db, err)
}

func overview(ctx context.Context, db *sql.DB, q OverviewQuery, until time.Time) (_ *Overview, err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, ignoreDone(tx.Rollback())) }()
	first, err := firstEvent(ctx, tx, q.Since)
	if err != nil {
		return nil, err
	}
	o := &Overview{Since: q.Since, Until: until, Contention: emptyBuckets(q, until)}
	v := view{tx: tx, first: first, since: q.Since.UnixMilli()}
	if o.Waits, err = v.contention(ctx, o.Contention, until.Sub(q.Since)); err != nil {
		return nil, err
	}
	if o.Holds, err = v.holds(ctx); err != nil {
		return nil, err
	}
	if o.LongestWaits, err = v.longest(ctx, "kind = 1 AND lasted > 0", q.Top); err != nil {
		return nil, err
	}
	o.LongestHolds, err = v.longest(ctx, "kind IN (3, 4, 5)", q.Top)
	return o, err
}

// firstEvent gives an id below which no event is as late as since.
func firstEvent(ctx context.Context, tx *sql.Tx, since time.Time) (id int64, err error) {
	err = tx.QueryRowContext(ctx, "SELECT id FROM blocks WHERE latest >= ? ORDER BY id LIMIT 1", since.UnixMilli()).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return math.MaxInt64, nil
	}
	return firstOf(id), err
}

func emptyBuckets(q OverviewQuery, until time.Time) []Bucket {
	buckets := make([]Bucket, q.Buckets)
	width := until.Sub(q.Since) / time.Duration(q.Buckets)
	for i := range buckets {
		buckets[i].Start = q.Since.Add(time.Duration(i) * width)
	}
	return buckets
}

// view is the part of the events that an overview covers.
type view struct {
	tx    *sql.Tx
	first int64 // id
	since int64 // ms
}

// contention fills the buckets and gives the spread of the waits, in one pass over the events.
func (v view) contention(ctx context.Context, buckets []Bucket, whole time.Duration) (Spread, error) {
	rows, err := v.tx.QueryContext(ctx, `SELECT min((at - ?1) * ?3 / ?4, ?3 - 1) AS part,
		CAST(log2(ifnull(lasted, 0) + 1) * 8 AS INTEGER) AS class,
		count(*), count(lasted), ifnull(sum(lasted), 0), ifnull(max(lasted), 0)
		FROM events WHERE id >= ?2 AND at >= ?1 AND kind = 1 GROUP BY part, class`,
		v.since, v.first, len(buckets), max(whole.Milliseconds(), 1))
	if err != nil {
		return Spread{}, err
	}
	var h histogram
	err = each(rows, func() error {
		var part, class, grants, queued int
		var total, longest int64
		if err := rows.Scan(&part, &class, &grants, &queued, &total, &longest); err != nil {
			return err
		}
		b := &buckets[part]
		b.Grants += grants
		b.Queued += queued
		b.Waited += ms(total)
		b.Longest = max(b.Longest, ms(longest))
		h.add(class, grants, ms(longest))
		return nil
	})
	return h.spread(), err
}

func (v view) holds(ctx context.Context) (Spread, error) {
	rows, err := v.tx.QueryContext(ctx, `SELECT CAST(log2(max(lasted, 0) + 1) * 8 AS INTEGER) AS class, count(*), max(lasted)
		FROM events WHERE id >= ? AND at >= ? AND kind IN (3, 4, 5) AND lasted IS NOT NULL GROUP BY class`, v.first, v.since)
	if err != nil {
		return Spread{}, err
	}
	var h histogram
	err = each(rows, func() error {
		var class, count int
		var longest int64
		if err := rows.Scan(&class, &count, &longest); err != nil {
			return err
		}
		h.add(class, count, ms(longest))
		return nil
	})
	return h.spread(), err
}

// longest gives the events of some kinds that lasted longest. The condition is a text of ours.
func (v view) longest(ctx context.Context, condition string, n int) ([]Event, error) {
	rows, err := v.tx.QueryContext(ctx, selectEvents+` WHERE e.id IN (SELECT id FROM events
		WHERE id >= ? AND at >= ? AND `+condition+` ORDER BY lasted DESC, id LIMIT ?)
		ORDER BY e.lasted DESC, e.id`, v.first, v.since, n)
	if err != nil {
		return nil, err
	}
	return appendEvents(make([]Event, 0, n), rows)
}

// each calls row for every row, and closes them.
func each(rows *sql.Rows, row func() error) (err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := row(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// histogram counts durations by class: class c is from 2^(c/8) - 1 ms up to 2^((c+1)/8) - 1.
type histogram struct {
	counts map[int]int
	total  int
	max    time.Duration
}

// classOf gives the class of so many milliseconds, as the database computes it.
func classOf(n int64) int { return int(math.Log2(float64(n)+1) * 8) }

func (h *histogram) add(class, count int, longest time.Duration) {
	if h.counts == nil {
		h.counts = make(map[int]int)
	}
	h.counts[class] += count
	h.total += count
	h.max = max(h.max, longest)
}

func (h *histogram) spread() Spread {
	return Spread{Count: h.total, P50: h.at(0.5), P90: h.at(0.9), P99: h.at(0.99), Max: h.max}
}

// at gives the upper end of the class in which that part of all durations is reached.
func (h *histogram) at(part float64) time.Duration {
	classes := make([]int, 0, len(h.counts))
	for c := range h.counts {
		classes = append(classes, c)
	}
	slices.Sort(classes)
	seen := 0
	for _, c := range classes {
		seen += h.counts[c]
		if float64(seen) >= part*float64(h.total) {
			if c == 0 {
				return 0
			}
			upper := math.Exp2(float64(c+1)/8) - 1
			return min(time.Duration(upper*float64(time.Millisecond)), h.max)
		}
	}
	return 0
}
