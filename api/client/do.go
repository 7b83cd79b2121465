package client

import (
	"context"
	"errors"
	"time"
)

// releaseAfterDo bounds the release of [Client.Do] whose context has ended.
const releaseAfterDo = 5 * time.Second

// Do acquires topic, calls fn, and releases it again, also if fn panics. fn's context ends with ctx, and the
// moment the lease is lost or can no longer be proven; [context.Cause] says which. fn must return soon after.
//
// The error is fn's, joined with the lease's loss if it was lost meanwhile, or with the release's failure; fn was
// not called if [Client.Acquire] failed. fn may release the lease itself, before other work.
func (c *Client) Do(ctx context.Context, topic string, fn func(ctx context.Context, lease *Lease) error, opts ...AcquireOption) (err error) {
	l, err := c.Acquire(ctx, topic, opts...)
	if err != nil {
		return err
	}
	work, cancel := context.WithCancelCause(ctx)
	unlink := context.AfterFunc(l.ctx, func() { cancel(l.Err()) })
	defer func() {
		unlink()
		cancel(ErrReleased)
		lost := l.Err()
		if errors.Is(lost, ErrReleased) { // by fn, which may end the lease before its own end
			lost = nil
		}
		last, stop := context.WithTimeout(context.WithoutCancel(ctx), releaseAfterDo)
		defer stop()
		if released := l.Release(last); lost == nil && released != nil {
			lost = released
		}
		if lost != nil && !errors.Is(err, lost) {
			err = errors.Join(err, lost)
		}
	}()
	return fn(work, l)
}
