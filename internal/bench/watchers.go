package bench

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// watchers: many watch one topic, which is acquired and released at a steady rate; each of both is an event. Measured
// is the time from the request being sent to its event being read, and who missed any.
func watchers(ctx context.Context, m *measurement) (readings, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	h := newHall(m)
	g, ctx := errgroup.WithContext(ctx)
	for range m.Watchers {
		g.Go(func() error { return h.watch(ctx) })
	}
	g.Go(func() error {
		defer cancel() // ends the watchers
		return h.perform(ctx)
	})
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return append(h.latencies.readings(),
		reading{"events", "events/s", float64(len(h.sent)) / m.Duration.Seconds()},
		reading{"deliveries", "", float64(h.latencies.count())},
		reading{"lost", "", float64(int64(len(h.sent)*m.Watchers) - h.latencies.count())},
		reading{"cut off", "", float64(h.cutOff.Load())}), nil
}

// hall is where the watchers sit.
type hall struct {
	*measurement
	topic   string
	sent    []atomic.Int64 // for each event, when its request was sent, in nanoseconds after started
	started time.Time
	open    atomic.Int64 // watchers that have seen the first status
	left    atomic.Int64 // watchers that have seen the last event, or were cut off
	cutOff  atomic.Int64

	mu        sync.Mutex // guards latencies, into which each watcher merges its own as it leaves
	latencies latencies
}

func newHall(m *measurement) *hall {
	events := max(2, int(m.Duration.Seconds()*float64(m.Rate))/2*2)
	return &hall{
		measurement: m, topic: m.topic(0), started: time.Now(),
		sent: make([]atomic.Int64, events), latencies: newLatencies(),
	}
}

// watch is one watcher.
func (h *hall) watch(ctx context.Context) error {
	c, err := h.target.dial(ctx)
	if err != nil {
		return err
	}
	defer c.close()
	s, err := c.open(h.target.request("GET", "/"+h.topic+"/sse", "Accept: text/event-stream"))
	if err != nil {
		return err
	}
	own := newLatencies()
	defer h.leave(own)
	for next := 0; next < len(h.sent); {
		e, err := s.next()
		switch {
		case ctx.Err() != nil:
			return nil // the time to wait for it is over: it counts as lost
		case err != nil:
			h.cutOff.Add(1)
			return nil
		}
		if e.kind == "status" {
			h.open.Add(1)
			continue
		}
		i, ok := e.number()
		if !ok || i < next || i >= len(h.sent) {
			return violated("a watcher got the event %s of %q after number %d", e.kind, e.name, next-1)
		}
		own.record(time.Since(h.started) - time.Duration(h.sent[i].Load()))
		next = i + 1
	}
	return nil
}

func (h *hall) leave(own latencies) {
	h.mu.Lock()
	h.latencies.merge(own)
	h.mu.Unlock()
	h.left.Add(1)
}

// number tells which event of the run this is: the names count the grants.
func (e event) number() (n int, ok bool) {
	if _, err := fmt.Sscanf(e.name, "e%d", &n); err != nil {
		return 0, false
	}
	switch e.kind {
	case "grant":
		return 2 * n, true
	case "release":
		return 2*n + 1, true
	}
	return 0, false
}

// lastWords is how long watchers may take to read the last events.
const lastWords = 5 * time.Second

// perform makes the events, and waits until all have been seen.
func (h *hall) perform(ctx context.Context) error {
	c, err := h.target.dial(ctx)
	if err != nil {
		return err
	}
	defer c.close()
	if err := until(ctx, parkTimeout, func() bool { return h.open.Load() >= int64(h.Watchers) }); err != nil {
		return fmt.Errorf("only %d of %d watchers got the first event: %w", h.open.Load(), h.Watchers, err)
	}
	release := h.target.leaseRequest("DELETE", "/"+h.topic+"/-")
	start := time.Now()
	for i := 0; i < len(h.sent); i += 2 {
		acquire := h.target.request("POST", "/"+h.topic+"?ttl=60", fmt.Sprintf("X-Name: e%d", i/2))
		body, err := h.act(ctx, c, start, i, acquire)
		if err != nil {
			return err
		}
		g, err := parseGrant(body)
		if err != nil {
			return err
		}
		if _, err := h.act(ctx, c, start, i+1, release.with(g.lease)); err != nil {
			return err
		}
	}
	_ = until(ctx, lastWords, func() bool { return h.left.Load() >= int64(h.Watchers) }) // who has not is counted
	return nil
}

// act sends the request that makes event i, when it is time.
func (h *hall) act(ctx context.Context, c *conn, start time.Time, i int, request []byte) ([]byte, error) {
	at := start.Add(time.Duration(i) * time.Second / time.Duration(h.Rate))
	if err := sleepUntil(ctx, at); err != nil {
		return nil, err
	}
	h.sent[i].Store(int64(time.Since(h.started)))
	return c.want(request)
}

// until waits for a condition.
func until(ctx context.Context, within time.Duration, holds func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for !holds() {
		if err := sleepUntil(ctx, time.Now().Add(10*time.Millisecond)); err != nil {
			return err
		}
	}
	return nil
}
