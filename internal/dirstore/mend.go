package dirstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"legible.sh/mutex/internal/history"
	"legible.sh/mutex/internal/lease"
	"legible.sh/mutex/internal/locker"
)

// ForceRelease ends the lease on a key in the name of f.By, or says whose it would end. A key whose holder.json is
// broken is mended: what is there is moved aside, to holder.json.broken.
func (s *Store) ForceRelease(ctx context.Context, key string, f locker.Force) (locker.Forced, error) {
	if err := checkKey(key); err != nil {
		return locker.Forced{}, err
	}
	by, err := describe(f.By)
	if err != nil {
		return locker.Forced{}, err
	}
	if f.DryRun {
		c := read(s.path(key))
		return s.forced(key, f, &c), nil
	}
	var forced locker.Forced
	err = s.change(ctx, key, nil, func(t *turn) error {
		forced = s.forced(key, f, &t.found)
		return t.force(f, by)
	})
	if err != nil {
		return locker.Forced{}, err
	}
	return forced, nil
}

// forced says what a forced release does to what is there.
func (s *Store) forced(key string, f locker.Force, c *contents) locker.Forced {
	r := locker.Forced{Key: key, DryRun: f.DryRun, Waiting: len(c.places), Mended: c.broken != nil && f.Fence == 0}
	switch {
	case c.holder == nil:
	case f.Fence == 0 || f.Fence == int64(c.holder.Fence):
		r.Released = []locker.Holder{c.holder.public(s.clock())}
	default:
		r.Holders = []string{c.holder.Agent}
	}
	return r
}

func (t *turn) force(f locker.Force, by lease.Who) error {
	if t.found.broken != nil {
		if f.Fence != 0 {
			return t.found.broken
		}
		return t.mend(by)
	}
	h := t.found.holder
	t.sweeps = h != nil && (f.Fence == 0 || lease.Fence(f.Fence) == h.Fence) // an expired one too
	_, err := t.step(lease.Command{Op: lease.Force, Fence: lease.Fence(f.Fence), By: nameOf(by)})
	return err
}

// nameOf names a process in words.
func nameOf(w lease.Who) string {
	var b strings.Builder
	b.WriteString(w.Name)
	if w.PID != 0 {
		fmt.Fprintf(&b, " (pid %d", w.PID)
		if w.Host != "" {
			fmt.Fprintf(&b, " on %s", w.Host)
		}
		b.WriteString(")")
	}
	if w.Reason != "" {
		fmt.Fprintf(&b, ": %s", w.Reason)
	}
	return b.String()
}

// mend moves aside what stands in holder.json's place and cannot be used. The counter of fences knows the highest
// one granted, so none is ever granted twice.
func (t *turn) mend(by lease.Who) error {
	path, aside := filepath.Join(t.dir, holderFile), filepath.Join(t.dir, brokenFile)
	if t.found.broken.Path != path {
		return t.found.broken // the directory itself cannot be read: that is for a person to mend
	}
	if err := os.RemoveAll(aside); err != nil {
		return unchangeable(t.dir, err)
	}
	if err := t.store.disk.rename("mend", path, aside); err != nil {
		return unchangeable(t.dir, err)
	}
	if err := t.store.disk.sync("mend", t.dir); err != nil {
		return err
	}
	t.records = append(t.records, history.Event{
		At: t.at.now, Kind: history.ForceReleased, Topic: t.key, Fence: t.found.counted, By: nameOf(by),
		Detail: "the state was " + string(t.found.broken.State),
	})
	_, err := t.step(lease.Command{Op: lease.Look}) // wakes the next in line
	return err
}

// Prune clears away leases whose time is over and waiters who are dead. What is held or broken it does not touch.
func (s *Store) Prune(ctx context.Context) (locker.Pruned, error) {
	keys, err := s.keys()
	if err != nil {
		return locker.Pruned{}, err
	}
	var all locker.Pruned
	var errs []error
	for _, key := range keys {
		if err := context.Cause(ctx); err != nil {
			return all, err
		}
		n, err := s.pruneKey(ctx, key)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", key, err))
		}
		all.Pruned += n
		if status, _ := s.view(key, s.clock()); selects(locker.ListQuery{}, &status) {
			all.Remaining++
		}
	}
	return all, errors.Join(errs...)
}

// pruneKey looks without the guard first: where there is nothing to do, nobody is held up.
func (s *Store) pruneKey(ctx context.Context, key string) (n int, err error) {
	status, _ := s.view(key, s.clock())
	if status.State != locker.Expired && status.Waiting == len(status.Waiters) || status.Error != "" {
		return 0, nil
	}
	err = s.change(ctx, key, nil, func(t *turn) error {
		if t.found.broken != nil {
			return nil
		}
		if t.found.state(t.at) == locker.Expired {
			n++
		}
		if err := t.dismiss(); err != nil {
			return err
		}
		t.sweeps = true
		_, err := t.step(lease.Command{Op: lease.Look})
		n += t.gone
		return err
	})
	return n, err
}

// dismiss has every waiter leave who is dead.
func (t *turn) dismiss() error {
	t.state.Suspend(true) // whose turn it is comes out when they are gone
	defer t.state.Suspend(false)
	for i := range t.found.places {
		p := &t.found.places[i]
		if p.read(filepath.Join(t.dir, queueDir)) && p.fresh(t.at) {
			continue
		}
		if _, err := t.step(lease.Command{Op: lease.Abandon, Token: handleOf(p.id)}); err != nil {
			return err
		}
	}
	return nil
}
