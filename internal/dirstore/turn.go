package dirstore

import (
	"context"
	"path/filepath"

	"legible.sh/mutex/internal/history"
	"legible.sh/mutex/internal/lease"
)

// turn is one change of a key, made by who holds its guard.
type turn struct {
	store *Store
	key   string
	dir   string
	at    reading // the clocks, read once
	found contents
	state *lease.State

	claim *claim // who asks for a grant in this turn; nil for nobody
	// sweeps says that a lease whose time is over is cleared away also if nobody takes it over in this turn.
	sweeps bool
	// reclaims says that a grant is a lease taken back.
	reclaims bool

	lapsed  *lease.Event // the holder's time is over, and its file still there
	wakes   []string     // files of waiters who should look, when the guard is free again
	records []history.Event
}

// change takes a key's guard, reads its files, and lets body change them. Where the key was never used there is
// nothing to change, unless it is claimed now.
func (s *Store) change(ctx context.Context, key string, c *claim, body func(*turn) error) error {
	dir := s.path(key)
	switch {
	case c != nil:
		if err := s.disk.prepare(s.dir, dir); err != nil {
			return err
		}
	case !exists(dir):
		return body(&turn{store: s, key: key, dir: dir, at: s.clock(), state: lease.New(0, 0)})
	}
	g, err := s.disk.lock(ctx, filepath.Join(dir, guardFile), s.patient)
	if err != nil {
		return err
	}
	t := &turn{store: s, key: key, dir: dir, at: s.clock(), claim: c}
	err = t.run(body)
	g.unlock()
	for _, path := range t.wakes {
		_ = wake(path) // who cannot be woken looks by itself
	}
	s.history.add(t.records)
	return err
}

func (t *turn) run(body func(*turn) error) error {
	if err := t.store.disk.at("turn.begin"); err != nil {
		return err
	}
	t.found = read(t.dir)
	t.found.readWaiters(t.dir)
	if err := t.load(); err != nil {
		return err
	}
	if err := body(t); err != nil {
		return err
	}
	return t.store.disk.at("turn.end")
}

// load makes the rules' state of what the files say. Waiters that are dead leave first.
func (t *turn) load() error {
	t.state = lease.New(t.found.fence(), 0)
	if h := t.found.holder; h != nil {
		e := h.granted(t.at)
		t.state.Apply(&e)
	}
	for i := range t.found.places {
		p := &t.found.places[i]
		if h := t.found.holder; h != nil && h.LeaseID == p.id { // granted, and died before it left the queue
			_ = t.store.disk.remove("load.granted", t.placePath(p.name))
			continue
		}
		e := p.enqueued(t.at)
		if t.claim != nil && t.claim.place == p.name {
			e.Deadline = t.claim.until
		}
		t.state.Apply(&e)
		if p.fresh(t.at) {
			continue
		}
		gone, _ := t.state.Decide(&lease.Command{Op: lease.Abandon, Token: e.Token}, t.at.now, nil)
		if err := t.apply(gone); err != nil {
			return err
		}
	}
	return nil
}

func (t *turn) apply(events []lease.Event) error {
	for i := range events {
		t.state.Apply(&events[i])
	}
	return t.carryOut(events)
}

// step runs one command by the rules and makes the files say what it brought about.
func (t *turn) step(c lease.Command) (lease.Outcome, error) {
	out, events, err := t.state.Step(&c, t.at.now, nil)
	if failed := t.carryOut(events); failed != nil {
		return lease.Outcome{}, failed
	}
	return out, err
}
