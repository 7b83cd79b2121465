package dirstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"legible.sh/mutex/internal/lease"
	"legible.sh/mutex/internal/locker"
)

// Renew makes the lease live for ttl from now, or for its own ttl again if ttl is 0.
func (s *Store) Renew(ctx context.Context, key string, token locker.Token, ttl time.Duration) (locker.Renewal, error) {
	if ttl != 0 {
		if err := checkTTL(ttl); err != nil {
			return locker.Renewal{}, err
		}
	}
	var renewal locker.Renewal
	err := s.changeOwn(ctx, key, token, func(t *turn, handle lease.Token) error {
		_, err := t.step(lease.Command{Op: lease.Renew, Token: handle, TTL: ttl})
		if err == nil {
			renewal = t.found.holder.renewal(key)
		}
		return err
	})
	return renewal, err
}

// Release ends the lease.
func (s *Store) Release(ctx context.Context, key string, token locker.Token) (locker.Released, error) {
	released := locker.Released{Key: key}
	err := s.changeOwn(ctx, key, token, func(t *turn, handle lease.Token) error {
		t.sweeps = true // its owner says itself that the work is over: nothing is left to be looked for
		outcome, err := t.step(lease.Command{Op: lease.Release, Token: handle})
		if err == nil {
			released.Name, released.Fence = outcome.Lease.Who.Name, int64(outcome.Lease.Fence)
			s.forget(idOf(handle))
		}
		return err
	})
	return released, err
}

// changeOwn changes a key for the one who has its lease.
func (s *Store) changeOwn(ctx context.Context, key string, token locker.Token, body func(*turn, lease.Token) error) error {
	if err := checkKey(key); err != nil {
		return err
	}
	return s.change(ctx, key, nil, func(t *turn) error {
		if t.found.broken != nil {
			return t.found.broken
		}
		h := t.found.holder
		if err := owned(key, h, token); err != nil {
			return err
		}
		if err := body(t, handleOf(h.LeaseID)); !errors.Is(err, lease.ErrGone) {
			return err
		}
		return expired(key, h)
	})
}

// owned says why the token is not the present holder's. The rules know a lease by its public id, so this is where
// the secret is asked for.
func owned(key string, h *holder, token locker.Token) error {
	switch {
	case h == nil:
		return fmt.Errorf("%s: %w", key, locker.ErrNotHeld)
	case !h.owns(token):
		return fmt.Errorf("%s: %w: %s, with fence %d", key, locker.ErrNotHolder, h.Agent, h.Fence)
	}
	return nil
}

func expired(key string, h *holder) error {
	return fmt.Errorf("%s: %w: the lease expired at %s", key, locker.ErrNotHeld, time.Time(h.ExpiresAt).Format(stampLayout))
}

// Check tells whether the lease lives.
func (s *Store) Check(ctx context.Context, key string, token locker.Token) (locker.Renewal, error) {
	if err := errors.Join(checkKey(key), context.Cause(ctx)); err != nil {
		return locker.Renewal{}, err
	}
	c := read(s.path(key))
	if c.broken != nil {
		return locker.Renewal{}, c.broken
	}
	if err := owned(key, c.holder, token); err != nil {
		return locker.Renewal{}, err
	}
	if c.holder.left(s.clock()) <= 0 {
		return locker.Renewal{}, expired(key, c.holder)
	}
	return c.holder.renewal(key), nil
}

func (h *holder) renewal(key string) locker.Renewal {
	return locker.Renewal{Key: key, Name: h.Agent, Fence: int64(h.Fence), TTL: h.ttl(), Expires: time.Time(h.ExpiresAt)}
}

// Reclaim takes back a lease that this process had and somebody cleared, under a new token and a higher fence, if
// nobody was granted the key since and nobody waits for it.
func (s *Store) Reclaim(ctx context.Context, key string, token locker.Token, r locker.Request) (locker.Grant, error) {
	r.Wait = 0
	c, err := s.newClaim(key, r)
	if err != nil {
		return locker.Grant{}, err
	}
	old, err := lease.ParseToken(token.Reveal())
	if err != nil {
		return locker.Grant{}, fmt.Errorf("%s: %w", key, locker.ErrNotHolder)
	}
	err = s.change(ctx, key, c, func(t *turn) error { return t.reclaim(old.ID()) })
	if err != nil {
		return locker.Grant{}, err
	}
	return c.grant(), nil
}

func (t *turn) reclaim(old string) error {
	c := t.claim
	had := t.store.recall(old)
	switch {
	case t.found.broken != nil:
		return t.found.broken
	case t.found.holder != nil && t.found.holder.LeaseID == old:
		return expired(t.key, t.found.holder) // or it lives, and there is nothing to take back
	case had == 0 || had != t.found.fence():
		return fmt.Errorf("%s: %w", t.key, locker.ErrNotHolder)
	}
	t.reclaims = true
	_, err := t.step(lease.Command{Op: lease.Acquire, Token: c.handle, Who: c.who, TTL: c.ttl})
	if errors.Is(err, lease.ErrBusy) {
		return fmt.Errorf("%s: %w", t.key, locker.ErrNotHolder)
	}
	if err == nil {
		t.store.forget(old)
	}
	return err
}
