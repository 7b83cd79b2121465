package web

import (
	"time"

	"legible.sh/mutex/api"
)

// Past is all topics seen from above, over a span of time that ends now.
type Past struct {
	Since, Until time.Time
	Contention   []Bucket           // oldest first, parts of equal length
	Waits        Spread             // of all grants; who did not queue waited 0
	Holds        Spread             // of all leases that ended
	LongestWaits []api.HistoryEvent // grants, the longest wait first
	LongestHolds []api.HistoryEvent // ends, the longest hold first
}

// Bucket is the contention in one part of the time.
type Bucket struct {
	Start   time.Time
	Grants  int
	Queued  int           // grants that had waited
	Waited  time.Duration // by all of them together
	Longest time.Duration // wait
}

// Spread says how durations are distributed.
type Spread struct {
	Count         int
	P50, P90, P99 time.Duration
	Max           time.Duration
}

// sums adds the buckets up.
func (p *Past) sums() Bucket {
	sum := Bucket{Start: p.Since}
	for _, b := range p.Contention {
		sum.Grants += b.Grants
		sum.Queued += b.Queued
		sum.Waited += b.Waited
		sum.Longest = max(sum.Longest, b.Longest)
	}
	return sum
}
