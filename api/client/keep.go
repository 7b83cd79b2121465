package client

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// keep renews the lease until it is released or lost: the goroutine of a [Lease], and its only renewer.
func (l *Lease) keep(t timetable) {
	defer close(l.stopped)
	ctx, cancel := context.WithCancel(l.ctx)
	defer cancel() // ends a renewal that is still out
	answers := make(chan renewal, 1)
	out := false
	var last error
	for {
		now := l.c.now()
		if now >= t.end() {
			l.end(unconfirmed(last))
			return
		}
		if now >= t.next && !out {
			out = true
			go l.renew(ctx, now, t.timeout(now), answers)
		}
		wake := t.end()
		if !out {
			wake = min(wake, t.next)
		}
		timer := time.NewTimer(min(max(wake.sub(now), 0), tick))
		select {
		case <-timer.C:
		case r := <-answers:
			out, last = false, r.err
			if errors.Is(r.err, ErrLost) {
				l.end(r.err)
				return
			}
			l.take(&t, r)
		case <-l.stop:
			timer.Stop()
			return
		}
		timer.Stop()
	}
}

// renewal is what came of one try to renew.
type renewal struct {
	sent instant
	ttl  time.Duration
	err  error
}

// renew makes one try, on a goroutine of its own so that a try that hangs cannot hide the moment at which the
// lease is lost. answers has room for it.
func (l *Lease) renew(ctx context.Context, sent instant, timeout time.Duration, answers chan<- renewal) {
	ctx, cancel := attempt(ctx, timeout)
	defer cancel()
	r := renewal{sent: sent}
	v, err := l.c.Renew(ctx, l.grant.Topic, l.grant.Lease, 0)
	if r.err = err; err == nil {
		r.ttl = duration(v.TTL)
	}
	answers <- r
}

func (l *Lease) take(t *timetable, r renewal) {
	if r.err != nil {
		t.unconfirmed(l.c.now())
		return
	}
	t.confirmed(r.sent, r.ttl)
	l.lostAt.Store(int64(t.end()))
}

func unconfirmed(last error) error {
	if last == nil {
		return ErrUnconfirmed
	}
	return fmt.Errorf("%w: %w", ErrUnconfirmed, last)
}
