package supervise

import (
	"context"
	"errors"
	"syscall"
	"time"
)

// giveBack releases the lease, trying again for the grace or until it ends by itself. An ending signal leaves it a
// moment more.
func (r *run) giveBack() {
	ctx, cancel := context.WithCancel(r.ctx)
	defer cancel()
	result := make(chan error, 1)
	go func() { result <- release(ctx, r.config.Lease, r.terms.deadline, r.config.Grace, now) }()
	for {
		select {
		case err := <-result:
			r.released(err)
			return
		case sig := <-r.signals.ch:
			if number, ok := sig.(syscall.Signal); ok && roleOf(number, r.term != nil) == roleEnd {
				time.AfterFunc(giveUp, cancel)
			}
		}
	}
}

// released notes and says how the release went.
func (r *run) released(err error) {
	if err == nil {
		r.emit(Event{Kind: Released})
		return
	}
	r.outcome.ReleaseErr = err
	r.outcome.EndsAt = time.Now().Add(r.left())
	if errors.Is(err, ErrLost) {
		r.emit(Event{Kind: Lost, Error: "release: " + err.Error()})
		r.words.warn("the lease had already ended when it was to be released (%v)", err)
		return
	}
	r.emit(Event{Kind: Uncertain, Left: r.left(), Error: "release: " + err.Error()})
	r.words.warn("the lease was not released (%v); it ends by itself at %s", err, r.outcome.EndsAt.Format(time.TimeOnly))
}
