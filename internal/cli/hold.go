package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"legible.sh/mutex/internal/locker"
	"legible.sh/mutex/internal/supervise"
)

// held is one lease that this command has taken.
type held struct {
	key   string
	grant locker.Grant
	sent  supervise.Instant // a moment before the last confirmation

	// What became of it. A run's lease writes these, one call at a time.
	reclaimed bool // taken back, and not said yet
	released  bool
	unclear   bool  // a release had no clear answer
	gone      error // the service's word that it had ended before
}

// hold is the leases that one command has taken, in the order in which their keys were given.
type hold []*held

func (h hold) grants() []locker.Grant {
	grants := make([]locker.Grant, len(h))
	for i := range h {
		grants[i] = h[i].grant
	}
	return grants
}

// acquireAll takes a lease on every key, or on none. Whatever order the keys were given in, they are taken by name,
// so that two who want the same ones never wait for each other.
func (d *door) acquireAll(ctx context.Context, c call, r locker.Request, quiet bool) (hold, error) {
	byName := slices.Sorted(slices.Values(c.keys))
	if again := slices.Compact(slices.Clone(byName)); len(again) != len(byName) {
		return nil, usagef("the same %s twice", d.Noun)
	}
	start := supervise.Now()
	all := make(hold, len(c.keys))
	var taken hold
	for _, key := range byName {
		one := r
		if r.Wait > 0 && len(taken) > 0 {
			one.Wait = max(r.Wait-supervise.Now().Sub(start), 0)
		}
		stop := keepAlive(ctx, c.service, taken)
		h, err := d.acquireOne(ctx, c, key, one, quiet)
		if err = errors.Join(err, stop()); err != nil {
			if h != nil {
				taken = append(taken, h)
			}
			return nil, errors.Join(err, d.giveBack(ctx, c.service, taken))
		}
		taken = append(taken, h)
		all[slices.Index(c.keys, key)] = h
	}
	return all, nil
}

func (d *door) acquireOne(ctx context.Context, c call, key string, r locker.Request, quiet bool) (*held, error) {
	w := d.waiting(key, quiet)
	r.Progress, r.ProgressEvery = w.tell, w.every()
	sent := supervise.Now()
	g, err := c.service.Acquire(ctx, key, r)
	w.end()
	if err != nil {
		return nil, err
	}
	return &held{key: key, grant: g, sent: sent}, nil
}

// keepAlive renews leases while the command waits for the next one. The function it gives stops that, and says
// whether one of them was lost.
func keepAlive(ctx context.Context, service locker.Locker, h hold) (stop func() error) {
	if len(h) == 0 {
		return func() error { return nil }
	}
	ctx, cancel := context.WithCancel(ctx)
	lost := make(chan error, 1)
	go func() { lost <- renewUntil(ctx, service, h) }()
	return func() error {
		cancel()
		return <-lost
	}
}

// renewUntil renews every lease at a third of its ttl until ctx ends. It gives an error only if one is gone.
func renewUntil(ctx context.Context, service locker.Locker, h hold) error {
	for {
		next := h[0].grant.TTL / 3
		for _, one := range h {
			next = min(next, one.grant.TTL/3)
		}
		select {
		case <-time.After(min(next, 10*time.Second)):
		case <-ctx.Done():
			return nil
		}
		for _, one := range h {
			if err := one.renew(ctx, service); errors.Is(err, locker.ErrGone) {
				// The kind stays behind: no work has begun that would have to stop.
				return fmt.Errorf("%s was lost while waiting for the next: %s", one.key, phrase(err))
			}
		}
	}
}

// renew confirms the lease if that is due.
func (h *held) renew(ctx context.Context, service locker.Locker) error {
	sent := supervise.Now()
	if sent.Sub(h.sent) < h.grant.TTL/4 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, max(h.grant.TTL/6, 250*time.Millisecond))
	defer cancel()
	v, err := service.Renew(ctx, h.key, h.grant.Token, 0)
	if err == nil {
		h.sent, h.grant.Expires = sent, v.Expires
	}
	return err
}

// giveBackTime is how long a command that failed or was interrupted takes to give back what it holds.
const giveBackTime = 80 * time.Millisecond

// giveBack releases leases, best effort: what it cannot reach ends by its ttl.
func (d *door) giveBack(ctx context.Context, service locker.Locker, h hold) error {
	limit := giveBackTime
	if ctx.Err() == nil {
		limit = 5 * time.Second
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	var all []error
	for _, one := range slices.Backward(h) {
		if _, err := service.Release(ctx, one.key, one.grant.Token); err != nil && !errors.Is(err, locker.ErrGone) {
			all = append(all, fmt.Errorf("%s was not given back and stays held until its ttl has passed: %w", one.key, err))
		}
	}
	return errors.Join(all...)
}
