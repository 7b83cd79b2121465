package cli

import (
	"context"
	"errors"
	"fmt"

	"legible.sh/mutex/internal/locker"
	"legible.sh/mutex/internal/supervise"
)

// runLease is the leases of one run as the supervisor sees them: one lease, which is lost when any of them is. The
// supervisor makes one call at a time.
type runLease struct {
	hold    hold
	service locker.Locker
	request locker.Request // to take a lease back with
}

var _ supervise.Lease = (*runLease)(nil)

// Renew confirms every lease, all at once.
func (l *runLease) Renew(ctx context.Context) (supervise.Renewal, error) {
	if len(l.hold) == 1 {
		return l.renew(ctx, l.hold[0])
	}
	type answer struct {
		supervise.Renewal
		err error
	}
	answers := make(chan answer, len(l.hold))
	for _, one := range l.hold {
		go func() { // each call has the same short deadline, so they cannot stand in line
			r, err := l.renew(ctx, one)
			answers <- answer{r, err}
		}()
	}
	var all supervise.Renewal
	var errs []error
	for range l.hold {
		a := <-answers
		errs = append(errs, a.err)
		if all.TTL == 0 || a.TTL > 0 && a.TTL < all.TTL {
			all.TTL = a.TTL
		}
		all.Reclaimed = all.Reclaimed || a.Reclaimed
	}
	return all, errors.Join(errs...)
}

func (l *runLease) renew(ctx context.Context, h *held) (supervise.Renewal, error) {
	r, err := l.service.Renew(ctx, h.key, h.grant.Token, 0)
	if errors.Is(err, locker.ErrNotHeld) {
		if reclaimer, ok := l.service.(locker.Reclaimer); ok {
			return l.reclaim(ctx, reclaimer, h)
		}
	}
	if err != nil {
		return supervise.Renewal{}, l.verdict(h, err)
	}
	return supervise.Renewal{TTL: r.TTL}, nil
}

// reclaim takes back a lease that somebody cleared.
func (l *runLease) reclaim(ctx context.Context, from locker.Reclaimer, h *held) (supervise.Renewal, error) {
	g, err := from.Reclaim(ctx, h.key, h.grant.Token, l.request)
	if err != nil {
		return supervise.Renewal{}, l.verdict(h, err)
	}
	h.grant = g
	return supervise.Renewal{TTL: g.TTL, Fence: g.Fence, Reclaimed: true}, nil
}

// Release gives every lease back, the last taken first.
func (l *runLease) Release(ctx context.Context) error {
	var errs []error
	for i := range l.hold {
		h := l.hold[len(l.hold)-1-i]
		if _, err := l.service.Release(ctx, h.key, h.grant.Token); err != nil {
			errs = append(errs, l.verdict(h, err))
		}
	}
	return errors.Join(errs...)
}

// verdict makes a service's error the supervisor's, in words that a terminal can be shown.
func (l *runLease) verdict(h *held, err error) error {
	text := clean(err.Error())
	if len(l.hold) > 1 {
		text = clean(h.key) + ": " + text
	}
	if errors.Is(err, locker.ErrGone) {
		return fmt.Errorf("%w: %s", supervise.ErrLost, text)
	}
	return errors.New(text)
}
