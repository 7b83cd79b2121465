package dirstore

import (
	"context"
	"errors"
	"slices"
	"time"

	"legible.sh/mutex/internal/lease"
	"legible.sh/mutex/internal/locker"
)

// Acquire takes the key, waiting in line as r.Wait says.
func (s *Store) Acquire(ctx context.Context, key string, r locker.Request) (locker.Grant, error) {
	c, err := s.newClaim(key, r)
	if err != nil {
		return locker.Grant{}, err
	}
	if err := context.Cause(ctx); err != nil {
		return locker.Grant{}, err
	}
	if err = s.ask(ctx, c); err == nil && c.granted == nil {
		err = s.stand(ctx, c, r)
	}
	if c.granted == nil {
		s.giveUp(ctx, c)
		return locker.Grant{}, err
	}
	return c.grant(), nil // also if something failed after the grant was safe
}

// ask takes the key or a place in its queue.
func (s *Store) ask(ctx context.Context, c *claim) error {
	return s.change(ctx, c.key, c, func(t *turn) error {
		if t.found.broken != nil {
			return t.found.broken
		}
		if err := t.itself(); err != nil {
			return err
		}
		wait := c.until.Sub(t.at.now)
		if c.wait == 0 {
			wait = 0
		}
		_, err := t.step(lease.Command{Op: lease.Acquire, Token: c.handle, Who: c.who, TTL: c.ttl, Wait: wait})
		return busy(c.key, 0, err)
	})
}

// itself refuses to wait for a lease that this process runs under.
func (t *turn) itself() error {
	h := t.found.live(t.at)
	if h == nil || !slices.Contains(t.store.under, Under{t.key, int64(h.Fence)}) {
		return nil
	}
	return &locker.SelfError{Key: t.key, Fence: int64(h.Fence)}
}

// busy turns the rules' refusal into the caller's.
func busy(key string, waited time.Duration, err error) error {
	var held *lease.HeldError
	if !errors.As(err, &held) {
		return err
	}
	kind := locker.ErrBusy
	if errors.Is(held.Kind, lease.ErrTimeout) {
		kind = locker.ErrTimeout
	}
	return &locker.BusyError{
		Key: key, Kind: kind, Holders: held.Holders, Waiting: held.Waiting, RetryAfter: max(held.RetryAfter, 0), Waited: waited,
	}
}
