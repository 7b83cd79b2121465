package bench

import (
	"context"
	"errors"
	"sync"
	"time"
)

// worker is one connection that does one step after another.
type worker struct {
	*conn
	index int
	from  time.Time // what ends before this is warming up
	until time.Time // what ends after this is too late to count
	last  time.Time // when the last answer was read

	steps, requests int64 // from then until then
	latencies       latencies
}

// step is what a worker does again and again.
type step func(*worker) error

// load is a closed loop: each connection sends its next request when it has read the last answer.
type load struct {
	server           *server
	connections      int
	warmup, duration time.Duration
	// begin makes a worker ready and gives its step; end tidies up. Neither is measured.
	begin func(*worker) (step, error)
	end   func(*worker) error
}

// loaded is what a load came to.
type loaded struct {
	steps, requests int64
	took            time.Duration
	cpu             cpuTimes
	latencies       latencies // of each request
}

// timed sends a request that must be answered with 200, and counts it.
func (w *worker) timed(request []byte) ([]byte, error) {
	sent := time.Now()
	a, err := w.do(request)
	if err != nil {
		return nil, err
	}
	w.last = time.Now()
	if w.counts() {
		w.requests++
		w.latencies.record(w.last.Sub(sent))
	}
	return a.body, a.ok(request)
}

func (w *worker) counts() bool { return w.last.After(w.from) && !w.last.After(w.until) }

func (l *load) run(ctx context.Context) (*loaded, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	workers, steps, err := l.prepare(ctx)
	defer closeAll(workers)
	if err != nil {
		return nil, err
	}
	from := time.Now().Add(l.warmup)
	until := from.Add(l.duration)
	var running sync.WaitGroup
	attempt := func(do func() error) { // one failure ends them all, and is the cause of whatever else fails then
		running.Go(func() {
			if err := do(); err != nil {
				cancel(err)
			}
		})
	}
	for i, w := range workers {
		w.from, w.until, w.last = from, until, time.Now()
		attempt(func() error { return w.loop(steps[i]) })
	}
	result := &loaded{took: l.duration, latencies: newLatencies()}
	attempt(func() (err error) { result.cpu, err = l.server.cpuBetween(ctx, from, until); return err })
	running.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	for _, w := range workers {
		result.steps += w.steps
		result.requests += w.requests
		result.latencies.merge(w.latencies)
	}
	return result, l.finish(workers)
}

// loop steps until the time is up.
func (w *worker) loop(next step) error {
	for w.last.Before(w.until) {
		if err := next(w); err != nil {
			return err
		}
		if w.counts() {
			w.steps++
		}
	}
	return nil
}

// prepare opens all connections, and gives those that are open even if it fails.
func (l *load) prepare(ctx context.Context) (workers []*worker, steps []step, err error) {
	for i := range l.connections {
		c, err := l.server.target.dial(ctx)
		if err != nil {
			return workers, nil, err
		}
		w := &worker{conn: c, index: i, latencies: newLatencies()}
		workers = append(workers, w)
		next, err := l.begin(w)
		if err != nil {
			return workers, nil, err
		}
		steps = append(steps, next)
	}
	return workers, steps, nil
}

func (l *load) finish(workers []*worker) error {
	var failed error
	for _, w := range workers {
		failed = errors.Join(failed, l.end(w))
	}
	return failed
}

func closeAll(workers []*worker) {
	for _, w := range workers {
		w.close()
	}
}

// readings of a load whose steps have this name.
func (l *loaded) readings(steps string, process process) readings {
	all := readings{{"throughput", steps + "/s", float64(l.steps) / l.took.Seconds()}}
	all = append(all, l.latencies.readings()...)
	if process != 0 {
		n := float64(max(l.requests, 1))
		all = append(all,
			reading{"server CPU/request", "µs", micros(l.cpu.server) / n},
			reading{"client CPU/request", "µs", micros(l.cpu.client) / n})
	}
	return all
}
