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
// answered, and then the sender again.
type request struct {
	lease.Command
	watch   *Watch // subscribe (or, with leaving, unsubscribe)
	leaving bool
	sent    time.Time

	answer   Answer
	err      error
	answered chan struct{} // holds one
}

// Pool lends requests to the actors that share it. It is safe for concurrent use; the zero value is ready.
type Pool struct{ requests sync.Pool }

func (p *Pool) get() *request {
	if r, ok := p.requests.Get().(*request); ok {
		return r
	}
	return &request{answered: make(chan struct{}, 1)}
}

// put takes an answered request back. One that the actor may still hold is left to the garbage collector.
func (p *Pool) put(r *request) {
	*r = request{answered: r.answered}
	p.requests.Put(r)
}

// Do runs one command. An acquire that may wait returns when it is decided. When the context ends, the actor is told
// that nobody waits any more (a place is left or kept, a grant that won the race is taken back) and the
// context's error is returned.
func (a *Actor) Do(ctx context.Context, c lease.Command) (Answer, error) {
	r := a.config.Pool.get()
	r.Command = c
	if err := a.send(ctx, r); err != nil {
		a.config.Pool.put(r)
		return Answer{}, err
	}
	if c.Op == lease.Acquire {
		select {
		case <-r.answered:
		case <-ctx.Done():
			a.abandon(c.Token)
			return Answer{}, context.Cause(ctx)
		case <-a.done:
			return Answer{}, a.last(r)
		}
	} else if err := a.await(r); err != nil {
		return Answer{}, err
	}
	answer, err := r.answer, r.err
	a.config.Pool.put(r)
	return answer, err
}

// send puts a request into the mailbox.
func (a *Actor) send(ctx context.Context, r *request) error {
	r.sent = time.Now()
	select {
	case a.mailbox <- r:
		return nil
	default:
	}
	select {
	case a.mailbox <- r:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-a.done:
		return ErrStopped
	}
}

// await waits for the answer to anything but an acquire: never longer than a turn and its sync to disk, so it
// does not look at the context. The actor has no message of ours left then.
func (a *Actor) await(r *request) error {
	select {
	case <-r.answered:
		return nil
	case <-a.done:
		return a.last(r)
	}
}

// last gives the answer of an actor that ended: it may have answered before.
func (a *Actor) last(r *request) error {
	select {
	case <-r.answered:
		return r.err
	default:
		return ErrStopped
	}
}

// abandon tells the actor that the acquire under token has nobody left to answer, and waits until it knows.
func (a *Actor) abandon(token lease.Token) {
	r := a.config.Pool.get()
	r.Command = lease.Command{Op: lease.Abandon, Token: token}
	if a.send(context.Background(), r) == nil && a.await(r) == nil {
		a.config.Pool.put(r)
	}
}
