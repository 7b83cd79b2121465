package registry

import (
	"context"
	"time"

	"legible.sh/mutex/internal/lease"
)

// Run reaps topics that have been idle for the idle spell, until the context ends.
func (r *Registry) Run(ctx context.Context) error {
	tick := time.NewTicker(max(min(r.options.TopicIdle/4, time.Minute), time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			r.reap(now.Add(-r.options.TopicIdle))
		case <-ctx.Done():
			return nil
		}
	}
}

// Prune retires every idle topic now and says how many.
func (r *Registry) Prune() int { return r.reap(time.Now()) }

// reap retires the topics that have been idle since then or longer, a few at a time, so that requests get the lock
// in between.
func (r *Registry) reap(then time.Time) (n int) {
	for {
		batch := r.reapSome(then, 64)
		n += batch
		if batch == 0 {
			return n
		}
	}
}

func (r *Registry) reapSome(then time.Time, most int) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for n < most && !r.ended {
		e := r.idle.oldest()
		if e == nil || e.since.After(then) {
			return n
		}
		r.reapOne()
		n++
	}
	return n
}

// reapOne retires the topic that has been idle longest. Called under the lock, where nobody can send to it.
func (r *Registry) reapOne() bool {
	e := r.idle.oldest()
	if e == nil {
		return false
	}
	r.idle.remove(e)
	fence := e.actor.Fence()
	r.floor = max(r.floor, fence)
	r.options.Journal.Floor(e.actor.Topic(), fence)
	r.drop(e)
	return true
}

// Floor is the fence above which a topic made now would start.
func (r *Registry) Floor() lease.Fence {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.floor
}
