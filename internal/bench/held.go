package bench

import "context"

// renew: each connection renews the lease of its own topic.
func renew(ctx context.Context, m *measurement) (readings, error) {
	return m.held(ctx, "renewals", func(h *held) []byte { return h.calls.renew.with(h.lease) })
}

// status: each connection reads its own topic, which is held.
func status(ctx context.Context, m *measurement) (readings, error) {
	return m.held(ctx, "readings", func(h *held) []byte { return h.calls.status })
}

// held is a topic that one connection holds.
type held struct {
	calls topicCalls
	lease []byte
}

// held measures one request about a topic that stays held.
func (m *measurement) held(ctx context.Context, steps string, request func(*held) []byte) (readings, error) {
	topics := make([]*held, m.connections)
	l := &load{
		server: m.server, connections: m.connections, warmup: m.Warmup, duration: m.Duration,
		begin: func(w *worker) (step, error) {
			h, err := hold(w.conn, m.target.calls(m.topic(w.index), "bench"))
			if err != nil {
				return nil, err
			}
			topics[w.index] = h
			bytes := request(h)
			return func(w *worker) error { _, err := w.timed(bytes); return err }, nil
		},
		end: func(w *worker) error {
			h := topics[w.index]
			_, err := w.want(h.calls.release.with(h.lease))
			return err
		},
	}
	result, err := l.run(ctx)
	if err != nil {
		return nil, err
	}
	return result.readings(steps, m.process), nil
}

// hold acquires a topic.
func hold(c *conn, calls topicCalls) (*held, error) {
	body, err := c.want(calls.acquire)
	if err != nil {
		return nil, err
	}
	g, err := parseGrant(body)
	if err != nil {
		return nil, err
	}
	return &held{calls, append([]byte(nil), g.lease...)}, nil
}
