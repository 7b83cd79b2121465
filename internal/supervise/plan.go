package supervise

import "time"

// plan is the timetable of one lease: when to renew, and when to count it as lost. It is pure; the caller reads
// the clock once and passes it in.
type plan struct {
	ttl    time.Duration
	sent   Instant        // when the last confirmed request was sent: nobody can have the lease before sent + ttl
	next   Instant        // when to renew
	jitter func() float64 // in [0, 1)
}

const (
	minMargin  = 250 * time.Millisecond
	minAttempt = 250 * time.Millisecond
	maxAttempt = 10 * time.Second
	minRetry   = 50 * time.Millisecond
	maxRetry   = 2 * time.Second
	maxKilling = 500 * time.Millisecond
)

func newPlan(held Held, jitter func() float64) plan {
	p := plan{jitter: jitter}
	p.confirmed(held.Sent, held.TTL)
	return p
}

// confirmed starts the count anew from when the confirmed request was sent. The next renewal is due after a
// third of the ttl, up to a tenth of that earlier, so that many holders do not come together.
func (p *plan) confirmed(sent Instant, ttl time.Duration) {
	if ttl > 0 {
		p.ttl = ttl
	}
	p.sent = sent
	p.next = sent.Add(p.spread(p.ttl / 3))
}

// unconfirmed plans the next try: often enough to find a server back in good time, never in step with others.
func (p *plan) unconfirmed(now Instant) {
	p.next = now.Add(p.spread(min(max(p.ttl/20, minRetry), maxRetry)))
}

// spread takes up to a tenth off d.
func (p *plan) spread(d time.Duration) time.Duration {
	return d - time.Duration(p.jitter()*float64(d)/10)
}

// deadline is the first moment at which somebody else may hold the lease.
func (p *plan) deadline() Instant { return p.sent.Add(p.ttl) }

// stopAt is when to stop the work if nothing was confirmed until then: before the deadline by a tenth of the
// ttl, and by at least 250 ms. A ttl so short that this would leave no time to work keeps half of it.
func (p *plan) stopAt() Instant {
	return p.deadline().Add(-p.margin())
}

func (p *plan) margin() time.Duration { return min(max(p.ttl/10, minMargin), p.ttl/2) }

// killBy is when to kill what has not ended by itself: just before the deadline, since that takes a moment too.
func (p *plan) killBy() Instant { return p.deadline().Add(-min(p.margin()/2, maxKilling)) }

func (p *plan) lost(now Instant) bool { return now >= p.stopAt() }
func (p *plan) due(now Instant) bool  { return now >= p.next }

// stale says that the grant is so old by our count that it should be confirmed before work rests on it.
func (p *plan) stale(now Instant) bool { return now >= p.sent.Add(p.ttl/3) }

// confirmFirst makes the next renewal due at once and counts from now until it is confirmed: a grant that has just
// come out of a queue was made at an unknown moment since its request was sent.
func (p *plan) confirmFirst(now Instant) { p.sent, p.next = now, now }

// wake is when to look again: at the next renewal or when the lease counts as lost.
func (p *plan) wake() Instant { return min(p.next, p.stopAt()) }

// timeout is how long one attempt may take: short, so that a dead connection leaves time for another try, and
// never beyond the moment at which the lease counts as lost.
func (p *plan) timeout(now Instant) time.Duration {
	return min(max(p.ttl/6, minAttempt), maxAttempt, p.stopAt().Sub(now))
}
