package supervise

import (
	"context"
	"errors"
	"time"
)

// release gives the lease back, and tries again until that worked, the lease's own end, the grace, or ctx's end.
func release(ctx context.Context, lease Lease, deadline Instant, grace time.Duration, now func() Instant) error {
	start := now()
	giveUp := min(start.Add(grace), deadline)
	share := max(giveUp.Sub(start)/4, minAttempt)
	timeout, pause := share, minRetry
	for {
		err := releaseOnce(ctx, lease, timeout)
		left := giveUp.Sub(now())
		if err == nil || errors.Is(err, ErrLost) || left <= minRetry {
			return err
		}
		wait := min(pause, left-minRetry) // so that the last try comes just before the end, not a pause before it
		if !sleep(ctx, wait) {
			return err
		}
		pause = min(2*pause, maxRetry/2)
		if timeout = share; left-wait < share+minAttempt {
			timeout = left - wait // what would be too short for one more try belongs to this one
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
