package cli

import (
	"context"
	"errors"
	"slices"
	"strings"

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
	}
	if errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil }); len(errs) == 0 {
		all.Fence, all.Reclaimed = l.reclaimed()
		return all, nil
	}
	lost := slices.ContainsFunc(errs, func(err error) bool { return errors.Is(err, supervise.ErrLost) })
	return supervise.Renewal{}, &verdict{errs, lost}
}

func (l *runLease) renew(ctx context.Context, h *held) (supervise.Renewal, error) {
	r, err := l.service.Renew(ctx, h.key, h.grant.Token, 0)
	if errors.Is(err, locker.ErrNotHeld) {
		if reclaimer, ok := l.service.(locker.Reclaimer); ok {
			return l.reclaim(ctx, reclaimer, h)
		}
	}
	if err != nil {
		return supervise.Renewal{}, l.refused(h, err)
	}
	return supervise.Renewal{TTL: r.TTL}, nil
}

// reclaim takes back a lease that somebody cleared.
func (l *runLease) reclaim(ctx context.Context, from locker.Reclaimer, h *held) (supervise.Renewal, error) {
	g, err := from.Reclaim(ctx, h.key, h.grant.Token, l.request)
	if err != nil {
		return supervise.Renewal{}, l.refused(h, err)
	}
	h.grant, h.reclaimed = g, true
	return supervise.Renewal{TTL: g.TTL, Fence: g.Fence, Reclaimed: true}, nil
}

// reclaimed says once that some of several leases were taken back, and what the fence is now that stands for all.
func (l *runLease) reclaimed() (fence int64, any bool) {
	for _, h := range l.hold {
		any, h.reclaimed = any || h.reclaimed, false
	}
	return l.hold[0].grant.Fence, any
}

// refused notes if it is the service's word that the lease is over.
func (l *runLease) refused(h *held, err error) error {
	if errors.Is(err, locker.ErrGone) {
		h.gone = err
	}
	return l.verdict(h, err)
}

// Release gives back what is not given back yet, the last taken first. Each lease has an end of its own: the error names
// all that failed or had ended before, and is [supervise.ErrLost] only when there is nothing left to try.
func (l *runLease) Release(ctx context.Context) error {
	var failed, gone []error
	for _, h := range slices.Backward(l.hold) {
		if err := h.release(ctx, l.service); err != nil {
			failed = append(failed, l.verdict(h, err))
		}
		if h.gone != nil {
			gone = append(gone, l.verdict(h, h.gone))
		}
	}
	if all := append(failed, gone...); len(all) > 0 {
		return &verdict{all, len(failed) == 0}
	}
	return nil
}

// release makes one try. A lease that is gone after a try that nobody confirmed was given back by that.
func (h *held) release(ctx context.Context, service locker.Locker) error {
	if h.released || h.gone != nil {
		return nil
	}
	_, err := service.Release(ctx, h.key, h.grant.Token)
	switch gone := errors.Is(err, locker.ErrGone); {
	case err == nil, gone && h.unclear:
		h.released = true
	case gone:
		h.gone = err
	default:
		h.unclear = true
		return err
	}
	return nil
}

// rest is what still lives when the service has refused another of the leases.
func (l *runLease) rest() hold {
	refused := slices.ContainsFunc(l.hold, func(h *held) bool { return h.gone != nil })
	if !refused {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(l.hold), func(h *held) bool { return h.released || h.gone != nil })
}

// verdict makes a service's error the supervisor's, in words that a terminal can be shown.
func (l *runLease) verdict(h *held, err error) error {
	text := phrase(err)
	if len(l.hold) > 1 {
		text = clean(h.key) + ": " + text
	}
	return &verdict{[]error{errors.New(text)}, errors.Is(err, locker.ErrGone)}
}

// verdict is what there is to say of one lease or more, in one line.
type verdict struct {
	all  []error
	lost bool // it is [supervise.ErrLost]
}

func (v *verdict) Error() string {
	texts := make([]string, len(v.all))
	for i, err := range v.all {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "; ")
}

// Is answers for [errors.Is].
func (v *verdict) Is(target error) bool { return v.lost && target == supervise.ErrLost }
