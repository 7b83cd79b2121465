package supervise

import (
	"context"
	"errors"
	"sync"
	"time"
)

// keeper renews one lease. Its goroutine owns the plan and is the lease's only renewer; whoever started it hears
// of each change by a report, and stops it by ending ctx.
type keeper struct {
	lease   Lease
	now     func() Instant
	reports chan report // one slot; the keeper waits for room, or for its end
	done    chan struct{}
	cancel  context.CancelFunc
	calls   sync.WaitGroup // the call that is out; the keeper is done when it has returned
}

type reportKind int

const (
	reportRenewed reportKind = iota
	reportUncertain
	reportRefused // the service said that the lease is over
	reportOverdue // nothing was confirmed in time
)

// report says what the keeper has learnt, and what it counts on since.
type report struct {
	kind    reportKind
	renewal Renewal
	err     error // why a renewal was not confirmed; of the last attempt when overdue
	terms   terms
}

// terms are the moments that follow from the last confirmation.
type terms struct {
	stopAt   Instant // the lease counts as lost from here on
	killBy   Instant // the command must be dead from here on
	deadline Instant // somebody else may hold the lease from here on
}

func (p *plan) terms() terms { return terms{p.stopAt(), p.killBy(), p.deadline()} }

// keep starts the goroutine that renews the lease until ctx ends, stop is called, or the lease is lost.
func keep(ctx context.Context, lease Lease, p plan, now func() Instant) *keeper {
	ctx, cancel := context.WithCancel(ctx)
	k := &keeper{lease: lease, now: now, reports: make(chan report, 1), done: make(chan struct{}), cancel: cancel}
	go k.run(ctx, p)
	return k
}

// stop ends the renewals and waits for one that is on its way to return, because a release must not overtake
// it. An implementation that ignores its context is not waited for longer than limit. An answer that comes now
// is ignored.
func (k *keeper) stop(limit time.Duration) {
	k.cancel()
	select {
	case <-k.done:
	case <-time.After(limit):
	}
}

func (k *keeper) run(ctx context.Context, p plan) {
	defer close(k.done)
	defer k.calls.Wait()
	defer k.cancel()
	var last error
	for ctx.Err() == nil {
		switch now := k.now(); {
		case p.lost(now):
			k.report(ctx, p, report{kind: reportOverdue, err: last})
			return
		case p.due(now):
			var over bool
			if over, last = k.attempt(ctx, &p, now); over {
				return
			}
		default:
			select {
			case <-until(now, p.wake()):
			case <-ctx.Done():
			}
		}
	}
}

// attempt renews once and reports how it went. It is over when the lease is, or when ctx ended meanwhile.
func (k *keeper) attempt(ctx context.Context, p *plan, sent Instant) (over bool, err error) {
	renewal, err := k.renew(ctx, p, sent)
	switch {
	case ctx.Err() != nil:
		return true, nil
	case errors.Is(err, ErrLost):
		k.report(ctx, *p, report{kind: reportRefused, err: err})
		return true, err
	case err != nil:
		if now := k.now(); !p.lost(now) { // else the loss says it all
			p.unconfirmed(now)
			k.report(ctx, *p, report{kind: reportUncertain, err: err})
		}
		return false, err
	}
	p.confirmed(sent, renewal.TTL)
	if !p.lost(k.now()) { // else it was stopped so long that even this confirmation is of no use
		k.report(ctx, *p, report{kind: reportRenewed, renewal: renewal})
	}
	return false, nil
}

type answer struct {
	renewal Renewal
	err     error
}

var errNoAnswer = errors.New("no answer in time")

// renew makes one call under its own short deadline. The call has a goroutine of its own so that an
// implementation that hangs cannot hide the moment at which the lease is lost; there is never more than one,
// since a call that does not return holds up the next.
func (k *keeper) renew(ctx context.Context, p *plan, sent Instant) (Renewal, error) {
	call, cancel := context.WithTimeout(ctx, p.timeout(sent))
	defer cancel()
	answers := make(chan answer, 1)
	k.calls.Go(func() {
		renewal, err := k.lease.Renew(call)
		answers <- answer{renewal, err}
	})
	for {
		select {
		case a := <-answers:
			return a.renewal, a.err
		case <-until(k.now(), p.stopAt()):
		}
		if p.lost(k.now()) {
			return k.lastWord(cancel, answers)
		}
	}
}

// lastWord gives a call that is still out when the lease counts as lost the chance to have been answered in
// this very moment, and no longer.
func (k *keeper) lastWord(cancel context.CancelFunc, answers <-chan answer) (Renewal, error) {
	cancel()
	select {
	case a := <-answers:
		return a.renewal, a.err
	default:
		return Renewal{}, errNoAnswer
	}
}

// report sends what was learnt, stamped with what the plan now counts on.
func (k *keeper) report(ctx context.Context, p plan, r report) {
	r.terms = p.terms()
	select {
	case k.reports <- r:
	case <-ctx.Done():
	}
}
