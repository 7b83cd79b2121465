package client

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"legible.sh/mutex/api"
)

// Lease is a lease that is held and renews itself, until it is released or lost. Make it with [Client.Acquire].
type Lease struct {
	c     *Client
	grant api.Grant
	ctx   context.Context
	end   context.CancelCauseFunc // the first cause stands

	lostAt  atomic.Int64  // an instant: when the lease counts as lost unless it is confirmed
	stop    chan struct{} // closed by Release, once: the keeper must end
	stopped chan struct{} // closed by the keeper
	once    sync.Once

	mu       sync.Mutex // makes callers of Release wait for one another, and guards what follows
	released bool
	tried    bool // a release that failed may have been carried out
}

// Acquire takes a lease on topic and keeps it alive until [Lease.Release]. By default it waits in line for as long
// as ctx lives. ctx bounds the wait only: the lease goes on after ctx has ended.
//
// When it fails, nothing is held. The error is [ErrBusy], [ErrTimeout], an [*Error] with the server's refusal, an
// [*UnreachableError], or ctx's cause.
func (c *Client) Acquire(ctx context.Context, topic string, opts ...AcquireOption) (*Lease, error) {
	g, sent, err := c.grant(ctx, topic, newRequest(opts))
	if err != nil {
		return nil, err
	}
	t := timetable{}
	t.confirmed(sent, duration(g.TTL))
	l := &Lease{c: c, grant: *g, stop: make(chan struct{}), stopped: make(chan struct{})}
	l.ctx, l.end = context.WithCancelCause(context.WithoutCancel(ctx))
	if t.stale(c.now()) {
		if err := l.confirmOnce(ctx, &t); err != nil {
			return nil, err
		}
	}
	l.lostAt.Store(int64(t.end()))
	go l.keep(t)
	return l, nil
}

// confirmOnce renews a lease whose grant may have been long on its way, before any work rests on it.
func (l *Lease) confirmOnce(ctx context.Context, t *timetable) error {
	v, err := repeat(ctx, l.c, floor, func(ctx context.Context) (*api.Renewal, error) {
		sent := l.c.now()
		v, err := l.c.Renew(ctx, l.grant.Topic, l.grant.Lease, 0)
		if err == nil {
			t.confirmed(sent, duration(v.TTL))
		}
		return v, err
	})
	if err == nil {
		l.grant.Expires = v.Expires
		return nil
	}
	l.end(err)
	ctx, cancel := attempt(context.WithoutCancel(ctx), l.c.giveUp)
	defer cancel()
	_, _ = l.c.Release(ctx, l.grant.Topic, l.grant.Lease)
	return fmt.Errorf("the lease was granted but could not be confirmed: %w", err)
}

// Context ends when the lease does. [context.Cause] then says why: [ErrReleased], [ErrLost], or an
// [ErrUnconfirmed], which comes early enough to stop before another can hold the topic. It has the values of the
// context that Acquire was called with, but not its end.
func (l *Lease) Context() context.Context { return l.ctx }

// Err is nil while the lease is held, and the cause of its end after.
func (l *Lease) Err() error { return context.Cause(l.ctx) }

// Remaining is how much longer the lease can be relied on if nothing more is confirmed: 0 or less when it is over.
// Ask it before a step that must not be cut short; it counts the time that the machine slept.
func (l *Lease) Remaining() time.Duration {
	if l.ctx.Err() != nil {
		return 0
	}
	return instant(l.lostAt.Load()).sub(l.c.now())
}

// Topic is what is held.
func (l *Lease) Topic() string { return l.grant.Topic }

// Fence is higher than that of every earlier lease of the topic. Send it along with every write, and have the
// resource refuse a lower one.
func (l *Lease) Fence() int64 { return l.grant.Fence }

// Slot is the lowest number below the topic's capacity that was free: which GPU, port or simulator is yours until
// the lease ends.
func (l *Lease) Slot() int { return l.grant.Slot }

// Token is the secret with which the lease can be renewed and released elsewhere.
func (l *Lease) Token() string { return l.grant.Lease }

// Grant is the server's answer to the acquire.
func (l *Lease) Grant() api.Grant { return l.grant }

// Release ends the lease, and first its context with [ErrReleased], so stop the work before. It repeats itself
// until the server has answered, ctx has ended, or the lease is over by itself. A nil error says that the lease
// was held until it was released; calling again changes nothing then. An [ErrLost] says that it had ended before; any
// other error, that it ends by its ttl unless another call gets through.
func (l *Lease) Release(ctx context.Context) error {
	l.once.Do(func() { close(l.stop) })
	<-l.stopped
	l.end(ErrReleased)
	if cause := l.Err(); errors.Is(cause, ErrLost) && !errors.Is(cause, ErrUnconfirmed) {
		return cause
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.released {
		return nil
	}
	left := max(instant(l.lostAt.Load()).sub(l.c.now()), minAttempt)
	ctx, cancel := attempt(ctx, left)
	defer cancel()
	_, err := l.c.Release(ctx, l.grant.Topic, l.grant.Lease)
	if l.tried && errors.Is(err, ErrLost) {
		err = nil
	}
	l.released, l.tried = err == nil, l.tried || unclear(err)
	return err
}
