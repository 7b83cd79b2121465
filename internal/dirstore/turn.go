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
	gone    int          // waiters who left
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
	if err := t.load(); err != nil {
		return err
	}
	if err := body(t); err != nil {
		return err
	}
	return t.store.disk.at("turn.end")
}

// load makes the rules' state of what the files say. Waiters that are dead leave first, from the head of the queue to
// the first who lives: whoever is behind that one is looked at when its turn comes, so that a long queue costs nothing.
func (t *turn) load() error {
	t.state = lease.New(t.found.fence(), 0)
	if h := t.found.holder; h != nil {
		e := h.granted(t.at)
		t.state.Apply(&e)
	}
	lives := false
	for i := range t.found.places {
		p := &t.found.places[i]
		if h := t.found.holder; h != nil && h.LeaseID == p.id { // granted, and died before it left the queue
			_ = t.store.disk.remove("load.granted", t.placePath(p.name))
			continue
		}
		if !lives {
			lives = t.own(p) || p.read(filepath.Join(t.dir, queueDir)) && p.fresh(t.at)
		}
		if err := t.seat(p, lives); err != nil {
			return err
		}
	}
	return nil
}

// seat gives a waiter its place in the state, and has it leave at once if it is dead.
func (t *turn) seat(p *place, lives bool) error {
	e := p.enqueued(t.at)
	if t.own(p) {
		e.Deadline, e.Who, e.TTL = t.claim.until, t.claim.who, t.claim.ttl // better known here than from the file
	}
	t.state.Apply(&e)
	if lives {
		return nil
	}
	gone, _ := t.state.Decide(&lease.Command{Op: lease.Abandon, Token: e.Token}, t.at.now, nil)
	return t.apply(gone)
}

// own tells whether the place is of the one who makes this change.
func (t *turn) own(p *place) bool { return t.claim != nil && t.claim.place == p.name }

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
