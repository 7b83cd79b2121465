package registry

import (
	"context"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"legible.sh/mutex/internal/lease"
	"legible.sh/mutex/topicactor"
)

// Listed is one topic and its status.
type Listed struct {
	Topic  lease.Topic
	Status lease.Status
}

// listers is how many topics are asked at once. More would only wait for each other.
const listers = 4

// List gives the status of every topic whose name begins with prefix, by name. Each is true at its own moment, not
// all at one.
func (r *Registry) List(ctx context.Context, prefix string) ([]Listed, error) {
	names := r.names(prefix)
	all := make([]Listed, len(names))
	var asking errgroup.Group
	for first := range listers {
		asking.Go(func() error {
			for i := first; i < len(names); i += listers {
				answer, err := r.Do(ctx, names[i], &lease.Command{Op: lease.Look})
				if err != nil {
					return err
				}
				all[i] = Listed{names[i], answer.Status}
			}
			return nil
		})
	}
	if err := asking.Wait(); err != nil {
		return nil, err
	}
	// Capacity is 0 in topics that are only watched so far, or were reaped meanwhile.
	return slices.DeleteFunc(all, func(l Listed) bool { return l.Status.Capacity == 0 }), nil
}

func (r *Registry) names(prefix string) []lease.Topic {
	r.mu.Lock()
	defer r.mu.Unlock()
	var names []lease.Topic
	for t := range r.topics {
		if strings.HasPrefix(string(t), prefix) {
			names = append(names, t)
		}
	}
	slices.Sort(names)
	return names
}

// Len is how many topics are live.
func (r *Registry) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.topics)
}

// Load is how many topics live, how many hold them, and how many wait.
func (r *Registry) Load() (topics, held, waiting int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.topics {
		h, w := e.actor.Load()
		held, waiting = held+h, waiting+w
	}
	return len(r.topics), held, waiting
}

// Poke makes every topic settle again, because what the journal can keep has changed.
func (r *Registry) Poke() {
	for _, a := range r.actors() {
		a.Poke()
	}
}

// Stop ends all actors and waits until their goroutines have ended or the context has. Whoever waits in a topic is
// told [topicactor.ErrStopped], as is whoever comes later.
func (r *Registry) Stop(ctx context.Context) error {
	r.mu.Lock()
	r.ended = true
	r.mu.Unlock()
	r.open() // actors that have not begun can only end through their loop
	for _, a := range r.actors() {
		a.Stop()
	}
	ended := make(chan struct{})
	go func() { // longer than the context only if a journal hangs, and then until that lets go
		r.shared.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *Registry) actors() []*topicactor.Actor {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]*topicactor.Actor, 0, len(r.topics))
	for _, e := range r.topics {
		all = append(all, e.actor)
	}
	return all
}
