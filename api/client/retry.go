package client

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"time"

	"legible.sh/mutex/api"
)

const (
	// unaryTimeout is what one attempt at a call that does not wait may take.
	unaryTimeout = 10 * time.Second
	// floor is how long a call is repeated that gets no clear answer, even if it is not to wait: about what a
	// proxy takes to start anew.
	floor = 2 * time.Second
	// releaseBudget is how long a release is repeated whose context has no end.
	releaseBudget = 10 * time.Second

	minPause = 25 * time.Millisecond
	maxPause = 2 * time.Second
)

// backoff gives growing pauses, spread so that many clients do not come back together.
type backoff struct{ last time.Duration }

func (b *backoff) next() time.Duration {
	b.last = min(max(2*b.last, minPause), maxPause)
	return b.last/2 + rand.N(b.last/2+1)
}

func (b *backoff) reset() { b.last = 0 }

// sleep waits for d or ctx.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// transient says that an error is no verdict: the same call may be answered a moment later. Every 5xx is one but
// UNSUPPORTED, those with a code unknown to this client among them.
func transient(err error) bool {
	var refused *Error
	if !errors.As(err, &refused) {
		return errors.Is(err, ErrUnreachable)
	}
	switch refused.Code {
	case api.ErrorCodeTopicLimit, api.ErrorCodeWaitersLimit:
		return true
	case api.ErrorCodeUnsupported:
		return false
	}
	return refused.Status >= 500
}

// brief says that a transient error is hardly worth a long wait: a name that does not exist, somebody else's
// answer, a bug of the server.
func brief(err error) bool {
	var refused *Error
	var unreachable *UnreachableError
	var dns *net.DNSError
	switch {
	case errors.As(err, &refused):
		return refused.Code == api.ErrorCodeInternal
	case errors.As(err, &dns) && dns.IsNotFound:
		return true
	case errors.As(err, &unreachable):
		return unreachable.Status != 0 && unreachable.Status < 500 && unreachable.Status != 408 && unreachable.Status != 429
	}
	return false
}

// unclear says that a call may have been done although it failed.
func unclear(err error) bool {
	var refused *Error
	if errors.As(err, &refused) {
		return refused.Status >= 500 && refused.Code != api.ErrorCodeUnsupported
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return false
	}
	return err != nil
}

// pauseAfter is the time to the next try: what the server asked for, and at least the backoff's.
func (b *backoff) pauseAfter(err error) time.Duration {
	var refused *Error
	if errors.As(err, &refused) {
		return max(b.next(), refused.RetryAfter)
	}
	return b.next()
}

// repeat calls try until its error is a verdict, or no other try can begin within budget or before ctx's deadline; then
// its last error stands. If ctx is cancelled, its cause does.
func repeat[T any](ctx context.Context, c *Client, budget time.Duration, try func(context.Context) (*T, error)) (*T, error) {
	end := c.now().add(budget)
	var pause backoff
	for {
		one, cancel := attempt(ctx, unaryTimeout)
		v, err := try(one)
		cancel()
		if err == nil || !transient(err) {
			return v, err
		}
		d := pause.pauseAfter(err)
		if end.sub(c.now()) < d {
			return nil, err
		}
		switch cause := sleep(ctx, d); {
		case cause == nil:
		case errors.Is(cause, context.DeadlineExceeded), errors.Is(cause, errSlow):
			return nil, err // time is over, and this is what it was lost to
		default:
			return nil, cause
		}
	}
}
