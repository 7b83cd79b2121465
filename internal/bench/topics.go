package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	// topicIdle is how soon a server that is started here forgets a topic, so that nobody has to wait for an hour.
	topicIdle = 4 * time.Second
	// retireWithin is how long it may take over that.
	retireWithin = time.Minute
)

// topics: many topics held at once, then many more names used once and let go. What a live topic costs, and what is
// left when all are gone: without help, unlike the base, which is as small as a collection makes it.
func topics(ctx context.Context, m *measurement) (readings, error) {
	if m.admin == nil {
		return nil, errors.New("the names are retired through /-/prune, which needs the admin's token")
	}
	if err := m.useNames(ctx, "w", m.Live/10); err != nil { // whatever is made once is made now
		return nil, err
	}
	base, err := m.collected(ctx)
	if err != nil {
		return nil, err
	}
	leases, err := m.holdNames(ctx)
	if err != nil {
		return nil, err
	}
	live, err := m.collected(ctx)
	if err != nil {
		return nil, err
	}
	all := readings{
		{"memory/topic", "KiB", float64(live-base) / 1024 / float64(m.Live)},
		{"memory base", "MiB", mib(base)},
		{"memory live", "MiB", mib(live)},
	}
	if m.isFloor {
		return all, nil
	}
	if err := m.releaseNames(ctx, leases); err != nil {
		return nil, err
	}
	if err := m.useNames(ctx, "n", m.Names); err != nil {
		return nil, err
	}
	after, err := m.settled(ctx)
	if err != nil {
		return nil, err
	}
	return append(all,
		reading{"memory after", "MiB", mib(after)},
		reading{"after by base", "", float64(after) / float64(base)}), nil
}

// useNames acquires and releases n names, each once, and waits until they are forgotten.
func (m *measurement) useNames(ctx context.Context, kind string, n int) error {
	err := m.share(ctx, n, func(c *conn, i int) error {
		calls := m.target.calls(fmt.Sprintf("bench-%s-%s%d", m.id, kind, i), "bench")
		h, err := hold(c, calls)
		if err != nil {
			return err
		}
		_, err = c.want(calls.release.with(h.lease))
		return err
	})
	if err != nil {
		return err
	}
	return m.retired(ctx)
}

// retired returns when the server has forgotten all idle topics. One that was started here does so by itself, another one
// is asked to.
func (m *measurement) retired(ctx context.Context) error {
	if m.isFloor {
		return nil
	}
	c, err := m.admin.dial(ctx)
	if err != nil {
		return err
	}
	defer c.close()
	if m.child == nil {
		_, err := c.want(m.admin.request("POST", "/-/prune"))
		return err
	}
	for deadline := time.Now().Add(retireWithin); ; {
		figures, err := c.want(m.admin.request("GET", "/-/metrics"))
		if err != nil {
			return err
		}
		_, live, ok := bytes.Cut(figures, []byte("\nmutex_topics "))
		switch n := number(live); {
		case !ok:
			return errors.New("the server's metrics do not say how many topics live")
		case n == 0:
			return nil
		case time.Now().After(deadline):
			return fmt.Errorf("%d topics still live after %s", n, retireWithin)
		}
		if err := sleepUntil(ctx, time.Now().Add(50*time.Millisecond)); err != nil {
			return err
		}
	}
}

// holdNames acquires a lease on every live topic.
func (m *measurement) holdNames(ctx context.Context) ([][]byte, error) {
	leases := make([][]byte, m.Live)
	return leases, m.share(ctx, m.Live, func(c *conn, i int) error {
		request := m.target.request("POST", "/"+m.topic(i)+"?ttl=600", "X-Name: bench", liveHeader+": yes")
		body, err := c.want(request)
		if err != nil {
			return err
		}
		g, err := parseGrant(body)
		leases[i] = append([]byte(nil), g.lease...)
		return err
	})
}

func (m *measurement) releaseNames(ctx context.Context, leases [][]byte) error {
	return m.share(ctx, len(leases), func(c *conn, i int) error {
		_, err := c.want(m.target.leaseRequest("DELETE", "/"+m.topic(i)+"/-").with(leases[i]))
		return err
	})
}

// share does n things over the connections.
func (m *measurement) share(ctx context.Context, n int, do func(c *conn, i int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	for range m.connections {
		g.Go(func() error {
			c, err := m.target.dial(ctx)
			if err != nil {
				return err
			}
			defer c.close()
			for i := int(next.Add(1) - 1); i < n; i = int(next.Add(1) - 1) {
				if err := do(c, i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}
