package client

import (
	"context"
	"errors"
	"net/http"
	"time"

	"legible.sh/mutex/api"
)

// byHeader stands for the lease in a path: no log of URLs then holds it.
const byHeader = "-"

// Renew makes a lease live for ttl from now, or for its own ttl again if ttl is 0. It tries once: [ErrLost] says
// that the lease is gone, any other error that it is not known whether it lives. A [Lease] does this by itself.
func (c *Client) Renew(ctx context.Context, topic, lease string, ttl time.Duration) (*api.Renewal, error) {
	if err := checkTopic(topic); err != nil {
		return nil, err
	}
	params := &api.RenewParams{XLease: &lease, TTL: seconds(ttl)}
	ctx, cancel := attempt(ctx, unaryTimeout)
	defer cancel()
	v, _, err := call[api.Renewal](ctx, c, user, func(a *api.Client, edit api.RequestEditorFn) (*http.Response, error) {
		return a.Renew(ctx, topic, byHeader, params, edit)
	})
	if err == nil && (v.Fence < 1 || !isTTL(v.TTL)) { // it would confirm a lease that nobody has heard of
		return nil, c.isNo("renewal")
	}
	return v, err
}

// Release ends a lease. It repeats itself until the server has answered, ctx has ended, or, if ctx has no
// deadline, 10 s have passed. [ErrLost] says that there was nothing to end; after a try whose answer was lost that
// counts as released, and then the result has no name or fence.
func (c *Client) Release(ctx context.Context, topic, lease string) (*api.Release, error) {
	if err := checkTopic(topic); err != nil {
		return nil, err
	}
	budget := releaseBudget
	if end, ok := ctx.Deadline(); ok {
		budget = time.Until(end)
	}
	mayHaveWorked := false
	params := &api.ReleaseParams{XLease: &lease}
	return repeat(ctx, c, budget, func(ctx context.Context) (*api.Release, error) {
		v, err := c.release(ctx, topic, params)
		if errors.Is(err, ErrLost) && mayHaveWorked {
			return &api.Release{Released: true, Topic: topic}, nil
		}
		mayHaveWorked = mayHaveWorked || unclear(err)
		return v, err
	})
}

// abandon gives up whatever a key has, in one try.
func (c *Client) abandon(ctx context.Context, topic, key string) error {
	_, err := c.release(ctx, topic, &api.ReleaseParams{IdempotencyKey: &key})
	return err
}

func (c *Client) release(ctx context.Context, topic string, params *api.ReleaseParams) (*api.Release, error) {
	v, _, err := call[api.Release](ctx, c, user, func(a *api.Client, edit api.RequestEditorFn) (*http.Response, error) {
		return a.Release(ctx, topic, byHeader, params, edit)
	})
	if err == nil && v.Topic == "" {
		return nil, c.isNo("release")
	}
	return v, err
}

// Check tells whether a lease lives, and changes nothing. [ErrLost] says that it does not.
func (c *Client) Check(ctx context.Context, topic, lease string) (*api.LeaseCheck, error) {
	if err := checkTopic(topic); err != nil {
		return nil, err
	}
	params := &api.CheckLeaseParams{XLease: &lease}
	return repeat(ctx, c, floor, func(ctx context.Context) (*api.LeaseCheck, error) {
		v, _, err := call[api.LeaseCheck](ctx, c, user, func(a *api.Client, edit api.RequestEditorFn) (*http.Response, error) {
			return a.CheckLease(ctx, topic, byHeader, params, edit)
		})
		if err == nil && v.Fence < 1 {
			return nil, c.isNo("check")
		}
		return v, err
	})
}

// Status tells who holds a topic and who waits. A name never used is free, with a nil capacity.
func (c *Client) Status(ctx context.Context, topic string) (*api.TopicStatus, error) {
	if err := checkTopic(topic); err != nil {
		return nil, err
	}
	return repeat(ctx, c, floor, func(ctx context.Context) (*api.TopicStatus, error) {
		v, _, err := call[api.TopicStatus](ctx, c, user, func(a *api.Client, edit api.RequestEditorFn) (*http.Response, error) {
			return a.GetTopic(ctx, topic, edit)
		})
		if err == nil && v.State == "" {
			return nil, c.isNo("status")
		}
		return v, err
	})
}

// isTTL tells whether a server's number of seconds can be how long a lease lives; others do not even fit a duration.
func isTTL(seconds float64) bool { return seconds > 0 && seconds < 1e9 }

// isNo is the error of an answer that says yes and nothing else: what stands in a server's place may say so to everything.
func (c *Client) isNo(what string) error {
	return &UnreachableError{URL: c.where, Status: http.StatusOK, Err: errors.New("the answer is no " + what + ": is this a mutex server?")}
}

// seconds is d as the wire has it; nil for 0, which leaves it to the server.
func seconds(d time.Duration) *float64 {
	if d == 0 {
		return nil
	}
	s := d.Seconds()
	return &s
}
