package bench

import (
	"bytes"
	"context"
	"fmt"
	"time"
)

// parkTimeout is how long the waiters may take to stand in line.
const parkTimeout = time.Minute

// park: waiters in line over some held topics. Their connections are part of what they cost.
func park(ctx context.Context, m *measurement) (readings, error) {
	ctx, cancel := context.WithTimeout(ctx, m.Duration+2*parkTimeout)
	defer cancel()
	c, err := m.target.dial(ctx)
	if err != nil {
		return nil, err
	}
	defer c.close()
	for i := range m.Topics {
		if _, err := hold(c, m.target.calls(m.topic(i), "bench")); err != nil {
			return nil, err
		}
	}
	before, err := m.process.memory()
	if err != nil {
		return nil, err
	}
	parked, err := m.parkAll(ctx)
	defer func() {
		for _, c := range parked {
			c.close()
		}
	}()
	if err != nil {
		return nil, err
	}
	if err := m.untilParked(ctx, c); err != nil {
		return nil, err
	}
	return m.atRest(ctx, before)
}

// parkAll sends every waiter's request and reads no answer. It gives what is open even if it fails.
func (m *measurement) parkAll(ctx context.Context) (parked []*conn, err error) {
	for i := range m.Waiters {
		c, err := m.target.dial(ctx)
		if err != nil {
			return parked, err
		}
		parked = append(parked, c)
		topic := m.topic(i % m.Topics)
		name := fmt.Sprintf("X-Name: waiter-%d", i)
		if err := c.send(m.target.request("POST", "/"+topic+"?ttl=60&wait=300", name)); err != nil {
			return parked, err
		}
	}
	return parked, nil
}

// untilParked waits until the server says that all stand in line.
func (m *measurement) untilParked(ctx context.Context, c *conn) error {
	for deadline := time.Now().Add(parkTimeout); ; {
		n, err := m.waiting(c)
		switch {
		case err != nil:
			return err
		case n >= m.Waiters:
			return nil
		case time.Now().After(deadline):
			return fmt.Errorf("only %d of %d waiters are parked after %s", n, m.Waiters, parkTimeout)
		}
		if err := sleepUntil(ctx, time.Now().Add(50*time.Millisecond)); err != nil {
			return err
		}
	}
}

// waiting counts those who stand in line.
func (m *measurement) waiting(c *conn) (n int, err error) {
	if m.isFloor {
		body, err := c.want(m.target.request("GET", "/?parked"))
		return waitingIn(body), err
	}
	for i := range m.Topics {
		body, err := c.want(m.target.request("GET", "/"+m.topic(i)))
		if err != nil {
			return n, err
		}
		n += waitingIn(body)
	}
	return n, nil
}

func waitingIn(status []byte) int {
	_, n, _ := bytes.Cut(status, []byte(`"waiting": `))
	return number(n)
}

// atRest reads the memory and the idle CPU of a server whose clients all wait.
func (m *measurement) atRest(ctx context.Context, before int64) (readings, error) {
	from := time.Now().Add(m.Settle)
	cpu, err := m.cpuBetween(ctx, from, from.Add(m.Duration))
	if err != nil {
		return nil, err
	}
	after, err := m.process.memory()
	if err != nil {
		return nil, err
	}
	return readings{
		{"memory/waiter", "KiB", float64(after-before) / 1024 / float64(m.Waiters)},
		{"memory before", "MiB", mib(before)},
		{"memory parked", "MiB", mib(after)},
		{"idle CPU", "%", 100 * cpu.server.Seconds() / m.Duration.Seconds()},
	}, nil
}

func mib(bytes int64) float64 { return float64(bytes) / (1 << 20) }
