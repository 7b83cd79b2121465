package supervise

import (
	"context"
	"errors"
	"time"
)

// release gives the lease back, and tries again until it worked, the lease's own end, the grace, or ctx's end.
// After an attempt that nobody confirmed, a lease that is gone counts as given back by that attempt.
func release(ctx context.Context, lease Lease, deadline Instant, grace time.Duration, now func() Instant) error {
	start := now()
	giveUp := min(start.Add(grace), deadline)
	for attempt := 1; ; attempt++ {
		err := releaseOnce(ctx, lease, max(giveUp.Sub(start)/4, minAttempt))
		if attempt > 1 && errors.Is(err, ErrLost) {
			return nil
		}
		if err == nil || errors.Is(err, ErrLost) {
			return err
		}
		pause := min(minRetry<<min(attempt-1, 10), time.Second)
		if now().Add(pause) >= giveUp || !sleep(ctx, pause) {
			return err
		}
	}
}

func releaseOnce(ctx context.Context, lease Lease, timeout time.Duration) error {
	call, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return lease.Release(call)
}

// sleep waits for d and reports whether ctx lived that long.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
