package supervise

import "time"

// Instant is a moment on the clock by which leases are judged here: nanoseconds since some fixed point, most
// often the boot. It never steps when the wall clock is set, and it goes on while the machine sleeps, as the
// lease does. Instants of different machines or boots cannot be compared.
type Instant int64

// Now reads the clock.
func Now() Instant { return now() }

// Add gives the moment d after i.
func (i Instant) Add(d time.Duration) Instant { return i + Instant(d) }

// Sub gives the time from j to i.
func (i Instant) Sub(j Instant) time.Duration { return time.Duration(i - j) }

// tick bounds every timed wait. Go's timers stand still while the machine sleeps and the lease does not, so no
// wait is trusted for longer than this before the clock above is read again.
const tick = time.Second

// until is a timer for the moment at, or for the next tick if that comes first.
func until(now, at Instant) <-chan time.Time {
	return time.After(min(max(at.Sub(now), 0), tick))
}
