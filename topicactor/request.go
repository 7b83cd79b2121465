package topicactor

import (
	"context"
	"errors"
	"sync"
	"time"

	"legible.sh/mutex/internal/lease"
)

// ErrStopped is the answer of a topic that is going away because the server is.
var ErrStopped = errors.New("the topic's actor has stopped")

// Answer is what a request came to.
type Answer struct {
	lease.Outcome
	Holders []string       // Acquire: the names of all who hold the topic now, by fence
	Forced  []lease.Holder // Force: whose leases ended
	Status  lease.Status   // Look
	Queued  time.Duration  // from being sent to being decided, waiting for a permit included
	Stored  time.Duration  // in the journal
}

// request is one message to the actor. The sender owns it until it is in the mailbox, the actor until it has
// answered, and then the sender again. Every request is answered, by whatever end.
type request struct {
	lease.Command
	watch   *Watch // subscribe (or, with leaving, unsubscribe)
	leaving bool
	ctx     context.Context
	sent    time.Time
	ignore  func() bool // parked: stops looking at the context

	answer   *Answer
	err      error
	answered chan struct{} // holds one
}

// pool lends requests to the actors that share it.
type pool struct{ free sync.Pool }

func (p *pool) get() *request {
	if r, ok := p.free.Get().(*request); ok {
		return r
	}
	return &request{answered: make(chan struct{}, 1)}
}

// put takes an answered request back. One that the actor may still hold is left to the garbage collector.
func (p *pool) put(r *request) {
	*r = request{answered: r.answered}
	p.free.Put(r)
}

// collect takes the answer out of a request and the request back.
func (p *pool) collect(r *request) (*Answer, error) {
	answer, err := r.answer, r.err
	p.put(r)
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// Do runs one command. An acquire that may wait returns when it is decided. When the context ends meanwhile, the actor is
// told that nobody waits any more (a place is left or kept, a grant that won the race is taken back) and the
// context's cause is returned.
//
// Thousands may be parked here, each on a stack of its own. So command and answer go by pointer, and the wait is a plain
// receive: it is the actor that looks at a parked request's context, not a select in here.
func (a *Actor) Do(ctx context.Context, c *lease.Command) (*Answer, error) {
	r := a.config.requests.get()
	r.Command = *c
	if err := a.send(ctx, r); err != nil {
		a.config.requests.put(r)
		return nil, err
	}
	<-r.answered
	if c.Op == lease.Acquire && ctx.Err() != nil {
		a.abandon(c.Token)
		return nil, context.Cause(ctx)
	}
	return a.config.requests.collect(r)
}

// send puts a request into the mailbox. Without an error it will be answered: by the loop, or, when that has ended, by
// whoever finds it in the mailbox.
func (a *Actor) send(ctx context.Context, r *request) error {
	r.ctx, r.sent, r.answer = ctx, time.Now(), new(Answer)
	select {
	case a.mailbox <- r:
	default:
		if err := a.sendSlowly(ctx, r); err != nil {
			return err
		}
	}
	if a.ended.Load() {
		a.refuseAll()
	}
	return nil
}

// sendSlowly waits for room in the mailbox. An actor that ends makes room too: it goes on taking until nobody is left who
// waits for some.
func (a *Actor) sendSlowly(ctx context.Context, r *request) error {
	select {
	case a.mailbox <- r:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// refuseAll answers what lies in the mailbox of an actor that ends or has ended.
func (a *Actor) refuseAll() {
	for {
		select {
		case r := <-a.mailbox:
			if r != wake && r != poke {
				r.err = ErrStopped
				r.answered <- struct{}{}
			}
		default:
			return
		}
	}
}

// errAbandoned answers an acquire whose context ended while it was parked.
var errAbandoned = errors.New("nobody waits any more")

// abandon tells the actor that the acquire under token has nobody left to answer. It runs on a goroutine of its own,
// started by the context's end and over when the actor has heard of it.
func (a *Actor) abandon(token lease.Token) {
	r := a.config.requests.get()
	r.Command = lease.Command{Op: lease.Abandon, Token: token}
	if a.send(context.Background(), r) == nil {
		<-r.answered
		a.config.requests.put(r)
	}
}
