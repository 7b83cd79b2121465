package history

import (
	"time"

	"legible.sh/mutex/internal/lease"
)

// renewalsApart is how far apart the renewals of one lease lie that are kept. A renewal says that its holder lived at
// that time, and one a fifth of a second later says the same: a client that renews in a loop should not cost history
// more than the lock itself.
const renewalsApart = 200 * time.Millisecond

// thinner remembers, within one batch, when the next renewal of each lease was.
type thinner map[lease.Token]time.Time

// thin leaves out the renewals that another of the same lease follows too closely, and gives what remains, which is
// the end of the same slice.
func (t thinner) thin(events []observed) []observed {
	defer clear(t) // of leases
	kept := len(events)
	for i := len(events) - 1; i >= 0; i-- {
		if t.stale(&events[i]) {
			continue
		}
		if kept--; kept != i {
			events[kept] = events[i]
		}
	}
	return events[kept:]
}

func (t thinner) stale(o *observed) bool {
	if o.Kind != Renewed {
		return false
	}
	next, ok := t[o.token]
	if ok && next.Sub(o.At) < renewalsApart && !next.Before(o.At) {
		return true
	}
	t[o.token] = o.At
	return false
}
