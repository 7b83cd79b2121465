package registry

import (
	"context"
	"maps"
	"time"

	"legible.sh/mutex/internal/lease"
)

// many is how many topics must have come or gone for their memory to be worth a collection.
const many = 1024

// Run reaps topics that have been idle for the idle spell, until the context ends. At each tick it gives back memory
// first, and reaps then: so the goroutines of what it reaped have until the next tick to end and leave theirs.
func (r *Registry) Run(ctx context.Context) error {
	tick := time.NewTicker(max(min(r.options.TopicIdle/4, time.Minute), time.Millisecond))
	defer tick.Stop()
	tidied := r.Len()
	for {
		select {
		case now := <-tick.C:
			tidied = r.tidy(tidied)
			r.reap(now.Add(-r.options.TopicIdle))
		case <-ctx.Done():
			return nil
		}
	}
}

// tidy gives memory back, which the runtime would take minutes over, and keep a part of. It is worth it when many topics
// have come or gone since the last time; it is told how many there were then, and tells what it is to be told next.
func (r *Registry) tidy(last int) int {
	now := r.Len()
	if max(now-last, last-now) < many {
		return last
	}
	if now < last {
		r.shrink()
	}
	if r.options.Release != nil {
		r.options.Release()
	}
	return now
}

// shrink makes the map anew: one that was large stays so, whatever is deleted from it.
func (r *Registry) shrink() {
	r.mu.Lock()
	defer r.mu.Unlock()
	topics := make(map[lease.Topic]*entry, len(r.topics))
	maps.Copy(topics, r.topics)
	r.topics = topics
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
