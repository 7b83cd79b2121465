package registry

import (
	"context"
	"errors"
	"sync"
	"time"

	"legible.sh/mutex/internal/lease"
	"legible.sh/mutex/topicactor"
)

// ErrTopicLimit says that as many topics are in use as may be, so that no new name can be taken now.
var ErrTopicLimit = errors.New("too many topics are in use")

// Journal is what the registry and its actors need of durability.
type Journal interface {
	topicactor.Journal
	// Floor says that a topic was reaped at this fence. It must not block: it is called under the lock, and its place
	// in the order of records is what counts.
	Floor(topic lease.Topic, fence lease.Fence)
}

// Options are a registry's settings; Journal must be set.
type Options struct {
	MaxTopics int           // live topics at once
	TopicIdle time.Duration // after which a topic that nothing lives in is reaped
	Keep      time.Duration // see [topicactor.Config]
	Journal   Journal
	Floor     lease.Fence   // as the journal kept it
	Topics    []lease.Topic // those that the journal knows
	Observe   func(lease.Topic, []lease.Event)
	// Release gives freed memory back to the system. [Registry.Run] calls it when many topics have come or gone since the
	// last time, at most as often as it looks for idle ones. May be nil.
	Release func()
}

// Registry maps names to actors.
type Registry struct {
	options Options
	gate    chan struct{} // closed by open
	open    func()
	shared  topicactor.Config

	mu     sync.Mutex // guards all below
	topics map[lease.Topic]*entry
	idle   idleList // entries that could be reaped, longest idle first
	floor  lease.Fence
	ended  bool
}

// entry is one live topic. Its fields are guarded by the registry's mutex.
type entry struct {
	actor *topicactor.Actor
	refs  int
	since time.Time // in the idle list since
	prev  *entry
	next  *entry
}

// New builds the registry and, behind a gate, the actors of all topics that the journal knows. Nothing runs until
// [Registry.Open].
func New(o Options) *Registry {
	r := &Registry{options: o, gate: make(chan struct{}), topics: make(map[lease.Topic]*entry), floor: o.Floor}
	r.open = sync.OnceFunc(func() { close(r.gate) })
	r.shared = topicactor.Config{Keep: o.Keep, Journal: o.Journal, Gate: r.gate, Observe: o.Observe, OnIdle: r.onIdle}
	r.idle.init()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range o.Topics {
		r.spawn(t, 0) // the journal tells its fence
	}
	return r
}

// Open lets the actors begin. It must be called when the journal can be asked.
func (r *Registry) Open() { r.open() }

// Do runs one command on a topic. Only an acquire, and a give-up (which must stop an acquire still on its way), make
// a topic; to every other one a name never used is one where nothing is held.
func (r *Registry) Do(ctx context.Context, topic lease.Topic, c *lease.Command) (*topicactor.Answer, error) {
	e, err := r.take(topic, useOf(c.Op))
	if err != nil {
		return nil, err
	}
	if e == nil {
		return absent(c.Op)
	}
	defer r.give(e)
	return e.actor.Do(ctx, c)
}

// use is what a reference is taken for.
type use uint8

const (
	looking use = iota // changes nothing, so an idle topic goes on being as long idle as it was
	using
	making // using, and makes the topic
)

func useOf(op lease.Op) use {
	switch op {
	case lease.Acquire, lease.GiveUp:
		return making
	case lease.Look, lease.Check:
		return looking
	}
	return using
}

// absent is the answer of a topic that does not exist.
func absent(op lease.Op) (*topicactor.Answer, error) {
	switch op {
	case lease.Renew, lease.Release, lease.Check:
		return nil, lease.ErrGone
	}
	return new(topicactor.Answer), nil
}

// Watch subscribes to a topic, which need not have been used. The function given back ends the subscription and
// must be called.
func (r *Registry) Watch(ctx context.Context, topic lease.Topic, after string) (*topicactor.Watch, func(), error) {
	e, err := r.take(topic, making)
	if err != nil {
		return nil, nil, err
	}
	w, err := e.actor.Watch(ctx, after)
	if err != nil {
		r.give(e)
		return nil, nil, err
	}
	return w, func() {
		e.actor.Unwatch(w)
		r.give(e)
	}, nil
}

// take finds a topic's actor, or makes it, and counts a reference. Unless it makes, a nil entry says there is none.
func (r *Registry) take(topic lease.Topic, u use) (*entry, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return nil, topicactor.ErrStopped
	}
	e := r.topics[topic]
	if e == nil {
		if u != making {
			return nil, nil
		}
		if len(r.topics) >= r.options.MaxTopics && !r.reapOne() {
			return nil, ErrTopicLimit
		}
		e = r.spawn(topic, r.floor)
	}
	e.refs++
	if u != looking {
		r.idle.remove(e)
	}
	return e, nil
}

// give takes a reference back.
func (r *Registry) give(e *entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.refs--
	r.rest(e)
}

// rest puts an entry among those that can be reaped, if it can; a topic that was never really used goes at once.
func (r *Registry) rest(e *entry) {
	switch {
	case e.refs > 0 || e.listed() || r.ended || !e.actor.Idle():
	case e.actor.Pristine():
		r.drop(e)
	default:
		e.since = time.Now()
		r.idle.push(e)
	}
}

// onIdle is an actor's word that it became idle by the passing of time.
func (r *Registry) onIdle(a *topicactor.Actor) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.topics[a.Topic()]; e != nil && e.actor == a {
		r.rest(e)
	}
}

func (r *Registry) spawn(topic lease.Topic, floor lease.Fence) *entry {
	e := &entry{actor: topicactor.Start(topic, floor, &r.shared)}
	r.topics[topic] = e
	return e
}

// drop ends an actor that nobody refers to and nothing lives in.
func (r *Registry) drop(e *entry) {
	delete(r.topics, e.actor.Topic())
	e.actor.Stop()
}
