package client

import (
	"math/rand/v2"
	"time"
)

// timetable says when to renew one lease and when to count it as lost. It is pure but for its jitter; the caller
// reads the clock once and passes it in.
type timetable struct {
	ttl  time.Duration
	sent instant // when the last confirmed request was sent: nobody else can hold the lease before sent + ttl
	next instant // when to renew
}

const (
	minMargin  = 250 * time.Millisecond
	minAttempt = 250 * time.Millisecond
	maxAttempt = 10 * time.Second
	minRetry   = 50 * time.Millisecond
	maxRetry   = 2 * time.Second
)

// confirmed counts anew from when the confirmed request was sent.
func (t *timetable) confirmed(sent instant, ttl time.Duration) {
	t.sent, t.ttl = sent, ttl
	t.next = sent.add(spread(ttl / 3))
}

// unconfirmed plans the next try: often enough to find a server that is back in good time.
func (t *timetable) unconfirmed(now instant) {
	t.next = now.add(spread(min(max(t.ttl/20, minRetry), maxRetry)))
}

// spread takes up to a tenth off, so that many holders do not renew in step.
func spread(d time.Duration) time.Duration { return d - rand.N(d/10+1) }

// end is when the lease counts as lost if nothing is confirmed until then: before another could hold it, by a
// tenth of the ttl and 250 ms at least, but never by more than half of it.
func (t *timetable) end() instant {
	return t.sent.add(t.ttl - min(max(t.ttl/10, minMargin), t.ttl/2))
}

// stale says that the grant is so old by our count that it should be confirmed before work rests on it.
func (t *timetable) stale(now instant) bool { return now >= t.sent.add(t.ttl/3) }

// timeout is what one try may take: short, so that a dead connection leaves time for another.
func (t *timetable) timeout(now instant) time.Duration {
	return min(max(t.ttl/6, minAttempt), maxAttempt, t.end().sub(now))
}
