package remote

import (
	"context"
	"time"

	"legible.sh/mutex/api"
	"legible.sh/mutex/api/client"
	"legible.sh/mutex/internal/locker"
)

// Remote is a server.
type Remote struct {
	c     *client.Client
	under []Under
}

var _ locker.Locker = (*Remote)(nil)

// Options say how to speak to a server.
type Options struct {
	Token      string // sent with every call; "" for none
	AdminToken string // sent with the calls that need the admin's; "" for none
	UserAgent  string
	Trace      string // a W3C traceparent that the server's spans join; "" for none
	// Under are the leases that this process runs under: an acquire that would wait for one of them fails at once.
	Under []Under
}

// giveUp is how long a command that was interrupted while it queued takes to leave the queue.
const giveUp = 80 * time.Millisecond

// Open gives the server at url. Nothing is sent yet.
func Open(url string, o Options) (*Remote, error) {
	c, err := client.New(url, client.WithToken(o.Token), client.WithAdminToken(o.AdminToken),
		client.WithUserAgent(o.UserAgent), client.WithTraceParent(o.Trace), client.WithGiveUp(giveUp))
	if err != nil {
		return nil, usage(plain(err))
	}
	return &Remote{c, o.Under}, nil
}

// URL is the server's, without credentials.
func (r *Remote) URL() string { return r.c.URL() }

// Acquire takes a permit.
func (r *Remote) Acquire(ctx context.Context, topic string, q locker.Request) (locker.Grant, error) {
	if err := r.itself(ctx, topic, q.Capacity); err != nil {
		return locker.Grant{}, err
	}
	opts := []client.AcquireOption{
		client.Name(q.Name), client.Reason(q.Reason), client.Host(q.Host), client.PID(q.PID),
	}
	if q.TTL != 0 {
		opts = append(opts, client.TTL(q.TTL))
	}
	if q.Wait >= 0 {
		opts = append(opts, client.Wait(q.Wait))
	}
	if q.Capacity != 0 {
		opts = append(opts, client.Capacity(q.Capacity))
	}
	if q.Progress != nil {
		opts = append(opts, client.OnWait(q.ProgressEvery, func(p client.Progress) { q.Progress(r.progress(p)) }))
	}
	start := time.Now()
	g, err := r.c.Grant(ctx, topic, opts...)
	if err != nil {
		return locker.Grant{}, r.refused(topic, err, time.Since(start))
	}
	return grant(g), nil
}

// Renew makes one try.
func (r *Remote) Renew(ctx context.Context, topic string, lease locker.Token, ttl time.Duration) (locker.Renewal, error) {
	v, err := r.c.Renew(ctx, topic, lease.Reveal(), ttl)
	if err != nil {
		return locker.Renewal{}, r.err(err)
	}
	return locker.Renewal{Key: v.Topic, Name: v.Name, Fence: v.Fence, TTL: duration(v.TTL), Expires: v.Expires.Time}, nil
}

// Release repeats itself until it is answered or ctx ends, for 10 s at most if that has no deadline.
func (r *Remote) Release(ctx context.Context, topic string, lease locker.Token) (locker.Released, error) {
	v, err := r.c.Release(ctx, topic, lease.Reveal())
	if err != nil {
		return locker.Released{}, r.err(err)
	}
	return locker.Released{Key: v.Topic, Name: v.Name, Fence: value(v.Fence)}, nil
}

// Check asks whether the lease lives.
func (r *Remote) Check(ctx context.Context, topic string, lease locker.Token) (locker.Renewal, error) {
	v, err := r.c.Check(ctx, topic, lease.Reveal())
	if err != nil {
		return locker.Renewal{}, r.err(err)
	}
	return locker.Renewal{Key: v.Topic, Name: v.Name, Fence: v.Fence, Expires: v.Expires.Time}, nil
}

// Status reads the topic's state.
func (r *Remote) Status(ctx context.Context, topic string) (locker.Status, error) {
	s, err := r.c.Status(ctx, topic)
	if err != nil {
		return locker.Status{}, r.err(err)
	}
	return status(s), nil
}

// List reads what lives, with the admin token. A server has no state but free and held.
func (r *Remote) List(ctx context.Context, q locker.ListQuery) ([]locker.Status, error) {
	if q.State != "" && !api.TopicState(q.State).Valid() {
		return nil, nil
	}
	topics, err := r.c.Topics(ctx, client.TopicsQuery{Prefix: q.Prefix, State: api.TopicState(q.State)})
	if err != nil {
		return nil, r.err(err)
	}
	all := make([]locker.Status, 0, len(topics))
	for _, t := range topics {
		all = append(all, summary(t))
	}
	return all, nil
}

// History reads what happened; of all topics with the admin token.
func (r *Remote) History(ctx context.Context, q locker.HistoryQuery) ([]locker.Event, error) {
	query := client.HistoryQuery{Since: q.Since, Limit: q.Limit, Renewals: q.Renewed}
	var events []api.HistoryEvent
	var err error
	if q.Key == "" {
		events, err = r.c.AllHistory(ctx, query)
	} else {
		events, err = r.c.History(ctx, q.Key, query)
	}
	if err != nil {
		return nil, r.err(err)
	}
	all := make([]locker.Event, 0, len(events))
	for _, e := range events {
		all = append(all, event(e))
	}
	return all, nil
}

// Prune retires idle topics, with the admin token.
func (r *Remote) Prune(ctx context.Context) (locker.Pruned, error) {
	p, err := r.c.Prune(ctx)
	if err != nil {
		return locker.Pruned{}, r.err(err)
	}
	return locker.Pruned{Pruned: p.Pruned, Remaining: p.Remaining}, nil
}

// ForceRelease ends leases of others, with the admin token.
func (r *Remote) ForceRelease(ctx context.Context, topic string, f locker.Force) (locker.Forced, error) {
	v, err := r.c.ForceRelease(ctx, topic, client.Force{Fence: f.Fence, DryRun: f.DryRun, Name: f.By.Name, Reason: f.By.Reason})
	if err != nil {
		return locker.Forced{}, r.err(err)
	}
	return locker.Forced{Key: v.Topic, DryRun: v.DryRun, Released: holders(v.Released), Holders: v.Holders, Waiting: v.Waiting}, nil
}
