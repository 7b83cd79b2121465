package dirstore

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"legible.sh/mutex/internal/lease"
	"legible.sh/mutex/internal/locker"
)

// queuer stands in a key's queue until it holds the key or gives up. It belongs to the goroutine that called Acquire.
type queuer struct {
	store  *Store
	claim  *claim
	dir    string
	report *reporter
	bell   *bell     // rings when somebody wakes us
	ahead  neighbour // who stands in front of us

	beaten  time.Time     // the last heartbeat
	left    time.Duration // if we are next: until the holder's lease ends; else 0
	trouble error         // why nothing could be changed just now
}

// leaveTime is how long one who gives up may take to leave the queue by the rules.
const leaveTime = 80 * time.Millisecond

// stand waits until the claim is granted. On an error its place is still to be given up.
func (s *Store) stand(ctx context.Context, c *claim, r locker.Request) error {
	dir := s.path(c.key)
	q := &queuer{store: s, claim: c, dir: dir, beaten: c.began, report: &reporter{store: s, claim: c, request: r}}
	defer func() { q.ahead.forget(); q.bell.close() }()
	for {
		q.bell = q.bell.on(filepath.Join(dir, queueDir, c.place)) // before looking, so that nothing is missed
		err := q.look(ctx)
		if c.granted != nil {
			return nil
		}
		if err == nil {
			q.report.tell(q.trouble)
			err = q.sleep(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// look tells, without the guard, whether it is our turn, and takes it if so.
func (q *queuer) look(ctx context.Context) error {
	at := q.store.clock()
	q.left = 0
	places, err := readPlaces(filepath.Join(q.dir, queueDir))
	if err != nil {
		q.trouble = err
		return nil
	}
	mine := slices.IndexFunc(places, func(p place) bool { return p.name == q.claim.place })
	if mine < 0 || !at.now.Before(q.claim.until) {
		return q.take(ctx)
	}
	if p := nearest(filepath.Join(q.dir, queueDir), places[:mine], at); p != nil {
		q.ahead.watch(p)
		return nil
	}
	q.ahead.forget()
	h, broken := readHolder(q.dir)
	if broken == nil && h != nil && h.left(at) > 0 {
		q.left = h.left(at)
		return nil
	}
	return q.take(ctx)
}

// nearest is the last of the places whose waiter still waits.
func nearest(queue string, places []place, at reading) *place {
	for _, p := range slices.Backward(places) {
		if p.read(queue) && p.fresh(at) {
			return &p
		}
	}
	return nil
}

// take has the rules decide, under the guard: we are granted the key, or our time is over, or somebody was faster.
// A guard that is not free is no reason to give up.
func (q *queuer) take(ctx context.Context) error {
	var over error
	err := q.store.change(ctx, q.claim.key, q.claim, func(t *turn) (err error) {
		over, err = t.take()
		return err
	})
	q.trouble = nil
	if err == nil && over != nil {
		return busy(q.claim.key, q.store.clock().now.Sub(q.claim.began), over)
	}
	if errors.Is(err, ErrGuard) && q.store.clock().now.Before(q.claim.until) {
		q.trouble, err = err, nil
	}
	return err
}

func (t *turn) take() (over, err error) {
	c := t.claim
	if t.found.broken != nil {
		return nil, t.found.broken
	}
	left := c.until.Sub(t.at.now)
	if p := t.place(c.handle); p != nil || left <= 0 {
		_, err = t.step(lease.Command{Op: lease.Look})
	} else { // taken for dead while it was stopped: it stands at the end now
		c.place = ""
		_, err = t.step(lease.Command{Op: lease.Acquire, Token: c.handle, Who: c.who, TTL: c.ttl, Wait: left})
	}
	if err == nil && c.granted == nil && left <= 0 {
		over = t.state.TimeoutError(&lease.Event{At: t.at.now})
	}
	return over, err
}

// sleep waits for whatever may have made it our turn.
func (q *queuer) sleep(ctx context.Context) error {
	now := q.store.clock().now
	d := min(q.store.poll, q.claim.until.Sub(now), q.store.beat)
	if q.left > 0 {
		d = min(d, q.left)
	}
	timer := time.NewTimer(max(d, 0))
	defer timer.Stop()
	select {
	case <-q.bell.rings():
	case <-q.ahead.ended:
		q.ahead.ended = nil // once is enough, whatever is found of it
	case <-timer.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if now = q.store.clock().now; now.Sub(q.beaten) >= q.store.beat {
		q.beaten = now
		_ = os.Chtimes(filepath.Join(q.dir, queueDir, q.claim.place), now, now) // if the place is gone, look finds out
	}
	return nil
}

// giveUp leaves the queue, if there is a place to leave. If the guard cannot be had, the place goes without it: whoever
// reads the queue bears that.
func (s *Store) giveUp(ctx context.Context, c *claim) {
	name := c.place
	if name == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTime)
	defer cancel()
	err := s.change(ctx, c.key, c, func(t *turn) error {
		t.state.Suspend(true) // who leaves is not granted the key on the way out
		_, err := t.step(lease.Command{Op: lease.Abandon, Token: c.handle})
		t.state.Suspend(false)
		if err == nil {
			_, err = t.step(lease.Command{Op: lease.Look})
		}
		return err
	})
	if err != nil {
		_ = os.Remove(filepath.Join(s.path(c.key), queueDir, name))
	}
}
