package dirstore

import (
	"time"

	"legible.sh/mutex/internal/locker"
)

// reporter tells the caller of Acquire how the wait goes.
type reporter struct {
	store   *Store
	claim   *claim
	request locker.Request
	told    time.Time // zero: never
	trouble bool      // the last word was of trouble
}

// tell says how the wait stands, if it is time to or if that has changed.
func (r *reporter) tell(trouble error) {
	now := r.store.clock().now
	every := r.request.ProgressEvery
	due := r.told.IsZero() || every > 0 && now.Sub(r.told) >= every
	if r.request.Progress == nil || !due && (trouble != nil) == r.trouble {
		return
	}
	r.told, r.trouble = now, trouble != nil
	if trouble != nil {
		r.request.Progress(locker.Progress{Trouble: trouble})
		return
	}
	r.request.Progress(r.progress())
}

func (r *reporter) progress() (p locker.Progress) {
	at := r.store.clock()
	s, places := r.store.view(r.claim.key, at)
	for i, w := range s.Waiters {
		if places[i].name == r.claim.place {
			p.Position = w.Position
		}
	}
	for _, h := range s.Holders {
		p.Holders = append(p.Holders, h.Name)
		p.RetryAfter = max(h.Expires.Sub(at.now.Round(0)), 0)
	}
	p.Waiting = s.Waiting
	return p
}
