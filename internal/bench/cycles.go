package bench

import "context"

// cycles: each connection acquires and releases its own topic. The fence of each grant must be above the last.
func cycles(ctx context.Context, m *measurement) (readings, error) {
	result, err := m.cycleLoad(m.connections).run(ctx)
	if err != nil {
		return nil, err
	}
	return result.readings("cycles", m.process), nil
}

func (m *measurement) cycleLoad(connections int) *load {
	return &load{
		server: m.server, connections: connections, warmup: m.Warmup, duration: m.Duration,
		begin: func(w *worker) (step, error) {
			topic := m.topic(w.index)
			calls := m.target.calls(topic, "bench")
			return (&cycler{calls: calls, topic: topic, anyFence: m.isFloor}).step, nil
		},
		end: func(*worker) error { return nil },
	}
}

// cycler is one topic that one connection goes round on.
type cycler struct {
	calls    topicCalls
	topic    string
	fence    int64
	anyFence bool // the floor's is always the same
}

func (c *cycler) step(w *worker) error {
	body, err := w.timed(c.calls.acquire)
	if err != nil {
		return err
	}
	g, err := parseGrant(body)
	if err != nil {
		return err
	}
	if g.fence <= c.fence && !c.anyFence {
		return violated("%s: fence %d was granted after %d", c.topic, g.fence, c.fence)
	}
	c.fence = g.fence
	_, err = w.timed(c.calls.release.with(g.lease))
	return err
}
