package bench

import (
	"context"
	"fmt"
	"time"
)

const (
	// collections: a pool keeps what it holds through one, and finalizers run between two.
	collections = 3
	// calmWithin is how long memory may go on falling: what a collection freed goes back to the system bit by bit.
	calmWithin = time.Minute
)

// collected is the memory of the server once it was made to collect its garbage.
func (m *measurement) collected(ctx context.Context) (int64, error) {
	if err := m.collect(ctx); err != nil {
		return 0, err
	}
	return m.settled(ctx)
}

// settled is the memory of the server, when what it gives back by itself has gone to the system.
func (m *measurement) settled(ctx context.Context) (int64, error) {
	lowest, err := m.process.memory()
	if err != nil {
		return 0, err
	}
	end := time.Now().Add(calmWithin)
	for since := time.Now(); time.Since(since) < m.Settle && time.Now().Before(end); {
		if err := sleepUntil(ctx, time.Now().Add(m.Settle/10)); err != nil {
			return 0, err
		}
		now, err := m.process.memory()
		if err != nil {
			return 0, err
		}
		if now < lowest {
			lowest, since = now, time.Now()
		}
	}
	return lowest, nil
}

// collect has the server collect its garbage, if there is a way.
func (m *measurement) collect(ctx context.Context) error {
	t, request := m.target, m.target.request("POST", collectPath)
	if !m.isFloor {
		if m.pprof == "" {
			return nil
		}
		var err error
		if t, err = parseTarget("http://"+m.pprof, ""); err != nil {
			return err
		}
		request = t.request("GET", "/debug/pprof/heap?gc=1")
	}
	c, err := t.dial(ctx)
	if err != nil {
		return fmt.Errorf("the server's profiler: %w", err)
	}
	defer c.close()
	for range collections {
		if _, err := c.want(request); err != nil {
			return err
		}
	}
	return nil
}
