package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
)

// handoff: as many waiters as there are connections, and one holder more, on one topic. The holder releases, the next
// in line holds, the last goes to the back. Measured is the time from the release being sent to the next grant being
// read, beside one request at one connection, taken on the same server before and after.
func handoff(ctx context.Context, m *measurement) (readings, error) {
	alone := newLatencies()
	if err := m.alone(ctx, alone); err != nil {
		return nil, err
	}
	line := newLine(m)
	if err := line.run(ctx); err != nil {
		return nil, err
	}
	if err := m.alone(ctx, alone); err != nil {
		return nil, err
	}
	one := micros(alone.percentile(50))
	l := line.latencies()
	return append(readings{{"throughput", "handoffs/s", float64(l.count()) / m.Duration.Seconds()}},
		append(l.readings(),
			reading{"one request", "µs", one},
			reading{"p50 by one request", "", micros(l.percentile(50)) / one},
			reading{"p99 by one request", "", micros(l.percentile(99)) / one},
			reading{"handoffs checked", "", float64(line.referee.handoffs)},
			reading{"pairs in order", "", float64(line.referee.pairs)})...), nil
}

// alone measures single requests for a part of the duration: cycles at one connection.
func (m *measurement) alone(ctx context.Context, into latencies) error {
	l := m.cycleLoad(1)
	l.warmup, l.duration = m.Warmup/4, m.Duration/4
	result, err := l.run(ctx)
	if err != nil {
		return err
	}
	into.merge(result.latencies)
	return nil
}

// line is the queue of one topic, as its clients know it.
type line struct {
	*measurement
	topic   string
	calls   topicCalls
	referee *referee
	members []*member
	lookout *conn // asks for the queue
}

// member is one connection that queues, holds and queues again.
type member struct {
	*line
	*conn
	index     int
	from      time.Time
	latencies latencies
}

func newLine(m *measurement) *line {
	topic := m.topic(0) + "-line"
	return &line{measurement: m, topic: topic, calls: m.target.calls(topic, "bench"), referee: newReferee(m.connections + 1)}
}

// run keeps the line moving for the duration.
func (l *line) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer l.leave()
	if err := l.assemble(ctx); err != nil {
		return err
	}
	// What ends the connections is what tells the members that it was no failure: the outer context. The group's own
	// ends with the first violation, and the outer one then too.
	g, failed := errgroup.WithContext(ctx)
	context.AfterFunc(failed, cancel)
	from := time.Now().Add(l.Warmup)
	for _, m := range l.members {
		m.from = from
		g.Go(func() error { return m.loop(ctx) })
	}
	g.Go(func() error { return l.watch(ctx) })
	g.Go(func() error {
		defer cancel()
		return sleepUntil(ctx, from.Add(l.Duration))
	})
	return g.Wait()
}

// assemble opens a connection for each member, and the lookout's.
func (l *line) assemble(ctx context.Context) (err error) {
	if l.lookout, err = l.target.dial(ctx); err != nil {
		return err
	}
	for i := range l.connections + 1 {
		c, err := l.target.dial(ctx)
		if err != nil {
			return err
		}
		l.members = append(l.members, &member{line: l, conn: c, index: i, latencies: newLatencies()})
	}
	return nil
}

func (l *line) leave() {
	if l.lookout != nil {
		l.lookout.close()
	}
	for _, m := range l.members {
		m.close()
	}
}

func (l *line) latencies() latencies {
	all := newLatencies()
	for _, m := range l.members {
		all.merge(m.latencies)
	}
	return all
}

// loop goes round until the context ends, which is how a measurement does.
func (m *member) loop(ctx context.Context) error {
	for round := 0; ; round++ {
		switch err := m.turn(ctx, round); {
		case ctx.Err() != nil:
			return nil // whatever came of this turn, it was cut off
		case err != nil:
			return err
		}
	}
}

// turn is one wait, one hold and one release.
func (m *member) turn(ctx context.Context, round int) error {
	name := memberName(m.index, round)
	m.referee.queues(m.index, round)
	request := m.target.request("POST", "/"+m.topic+"?ttl=60&wait=300", "X-Name: "+name)
	body, err := m.want(request)
	read := time.Now()
	if err != nil {
		return err
	}
	g, err := parseGrant(body)
	if err != nil {
		return err
	}
	took, handed, err := m.referee.granted(m.index, g.fence, read)
	if err != nil {
		return err
	}
	if handed && read.After(m.from) {
		m.latencies.record(took)
	}
	if m.Hold > 0 {
		if err := sleepUntil(ctx, time.Now().Add(m.Hold)); err != nil {
			return err
		}
	}
	release := m.calls.release.copy().with(g.lease)
	m.referee.releases()
	_, err = m.want(release)
	return err
}

// snapshotEvery is how often the server is asked for its queue. Reading it costs the server little beside the
// handoffs in between.
const snapshotEvery = 100 * time.Millisecond

// watch shows the referee the server's queue from time to time.
func (l *line) watch(ctx context.Context) error {
	for sleepUntil(ctx, time.Now().Add(snapshotEvery)) == nil {
		body, err := l.lookout.want(l.calls.status)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			return err
		}
		var status struct {
			Waiters []struct{ Name string }
		}
		if err := json.Unmarshal(body, &status); err != nil {
			return fmt.Errorf("the status is no JSON: %w", err)
		}
		var names []string
		for _, waiter := range status.Waiters {
			names = append(names, waiter.Name)
		}
		l.referee.sees(names)
	}
	return nil
}

// memberName names a place in the line: who, and for which time.
func memberName(index, round int) string { return fmt.Sprintf("m%d.%d", index, round) }

func parseMemberName(name string) (index, round int, ok bool) {
	n, err := fmt.Sscanf(name, "m%d.%d", &index, &round)
	return index, round, n == 2 && err == nil
}
