package client

import (
	"context"
	"net/http"
	"time"

	"legible.sh/mutex/api"
)

const (
	slice = 25 * time.Second // how long one request waits; proxies cut idle connections at 60 s and less
	lead  = time.Second      // how long before its end the next one takes over
	grace = 5 * time.Second  // how much longer than its wait one request may take
	look  = 150 * time.Millisecond
)

// Grant takes a lease that does not renew itself: for programs that hand it on. Most want [Client.Acquire].
//
// It repeats itself under one key until the answer is clear; when it fails it gives up what it may have got.
func (c *Client) Grant(ctx context.Context, topic string, opts ...AcquireOption) (*api.Grant, error) {
	g, _, err := c.grant(ctx, topic, newRequest(opts))
	return g, err
}

// grant also gives the moment from which the lease's ttl counts at the least.
func (c *Client) grant(ctx context.Context, topic string, r request) (*api.Grant, instant, error) {
	if err := checkTopic(topic); err != nil {
		return nil, 0, err
	}
	a := &acquisition{c: c, topic: topic, request: r, slice: slice, answers: make(chan answer)}
	return a.run(ctx)
}

// acquisition is one acquire until it is decided. Its fields belong to the goroutine that called run; each request
// has a goroutine that makes it and hands over its answer.
type acquisition struct {
	c     *Client
	topic string
	request

	key     string
	first   instant // when the first request with this key was sent
	end     instant // of the wait; never if it has none
	retries instant // when to stop repeating what gets no clear answer
	slice   time.Duration
	answers chan answer
	out     int         // requests that wait in the queue, or on their way there
	kept    bool        // the key may have a place or a lease without them
	next    *time.Timer // for the next request that waits
	look    *time.Timer // for the next that asks how the wait stands

	pause    backoff
	troubled instant // since when there is no clear answer; 0 while there is
}

// answer is what came of one request.
type answer struct {
	grant    *api.Grant
	err      error
	key      string
	sent     instant
	probe    bool // it did not wait
	last     bool // its wait ended with the whole one
	replayed bool
}

func (a *acquisition) run(outer context.Context) (*api.Grant, instant, error) {
	ctx, cancel := context.WithCancel(outer)
	defer cancel() // ends the requests that are still out
	a.begin()
	defer a.next.Stop()
	defer a.look.Stop()
	g, sent, err := a.loop(ctx)
	if err != nil && (a.kept || a.out > 0) {
		cancel()
		a.giveUp(outer)
	}
	return g, sent, err
}

func (a *acquisition) begin() {
	a.key, a.end, a.retries = newKey(), never, never
	if a.wait >= 0 {
		start := a.c.now()
		a.end, a.retries = start.add(a.wait), start.add(max(a.wait, floor))
	}
	a.next, a.look = time.NewTimer(0), time.NewTimer(look)
	if a.progress == nil || a.wait == 0 {
		a.look.Stop()
	}
}

func (a *acquisition) loop(ctx context.Context) (*api.Grant, instant, error) {
	for {
		select {
		case <-ctx.Done():
			return nil, 0, context.Cause(ctx)
		case <-a.next.C:
			a.sendSlice(ctx)
		case <-a.look.C:
			a.send(ctx, answer{probe: true}, 0)
		case r := <-a.answers:
			if !r.probe {
				a.out--
			}
			if r.grant != nil {
				return r.grant, a.grantedSince(r), nil
			}
			if err := a.refused(r); err != nil {
				return nil, 0, err
			}
		}
	}
}

// sendSlice makes the next request that waits, and plans the one after it, which takes the wait over.
func (a *acquisition) sendSlice(ctx context.Context) {
	a.out++
	left := max(a.end.sub(a.c.now()), 0)
	if left <= a.slice {
		a.send(ctx, answer{last: true}, left)
		return
	}
	a.send(ctx, answer{}, a.slice)
	a.next.Reset(a.slice - min(lead, a.slice/5))
}

// send makes one request and hands r over with its answer.
func (a *acquisition) send(ctx context.Context, r answer, wait time.Duration) {
	r.key, r.sent = a.key, a.c.now()
	if a.first == 0 {
		a.first = r.sent
	}
	params := a.params
	params.IdempotencyKey, params.Wait = &r.key, seconds(wait.Round(time.Millisecond))
	go func() { // so that the next request can take the wait over before this one ends
		one, cancel := attempt(ctx, wait+grace)
		defer cancel()
		r.grant, r.replayed, r.err = a.c.acquire(one, a.topic, &params)
		select {
		case a.answers <- r:
		case <-ctx.Done():
		}
	}()
}

func (c *Client) acquire(ctx context.Context, topic string, params *api.AcquireParams) (*api.Grant, bool, error) {
	g, r, err := call[api.Grant](ctx, c, user, func(a *api.Client, edit api.RequestEditorFn) (*http.Response, error) {
		return a.Acquire(ctx, topic, params, edit)
	})
	if err != nil {
		return nil, false, err
	}
	if g.Lease == "" || g.Fence < 1 || !isTTL(g.TTL) {
		return nil, false, c.isNo("grant")
	}
	return g, r.Header.Get("Idempotency-Replayed") != "", nil
}

// grantedSince is a moment before the grant. If this very request brought it about, that is when it was sent;
// else it may have been any earlier one with this key.
func (a *acquisition) grantedSince(r answer) instant {
	if r.replayed || r.probe {
		return a.first
	}
	return r.sent
}

// giveUp leaves the queue, or ends a lease whose grant was lost on its way. It is best effort: a place that could
// not be given up is passed over, and a lease ends by its ttl.
func (a *acquisition) giveUp(outer context.Context) {
	ctx, cancel := attempt(context.WithoutCancel(outer), a.c.giveUp)
	defer cancel()
	_ = a.c.abandon(ctx, a.topic, a.key)
}
