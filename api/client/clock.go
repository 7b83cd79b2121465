package client

import (
	"math"
	"time"
)

// instant is a moment on the clock by which a lease is judged here: nanoseconds since some fixed point. It does
// not step when the wall clock is set, and it goes on while the machine sleeps, as the lease does.
type instant int64

func (i instant) add(d time.Duration) instant { return i + instant(d) }

// never is a moment that does not come.
const never instant = math.MaxInt64

func (i instant) sub(j instant) time.Duration { return time.Duration(i - j) }

// tick bounds every timed wait: Go's timers stand still while the machine sleeps, so none is trusted for longer
// than this before the clock above is read again.
const tick = time.Second
