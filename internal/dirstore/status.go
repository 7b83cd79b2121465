package dirstore

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"

	"legible.sh/mutex/internal/locker"
)

// Status tells how a key stands. A key whose files are broken is no error here: the state says so.
func (s *Store) Status(ctx context.Context, key string) (locker.Status, error) {
	if err := errors.Join(checkKey(key), context.Cause(ctx)); err != nil {
		return locker.Status{}, err
	}
	status, _ := s.view(key, s.clock())
	return status, nil
}

// view reads a key for showing, with the place of each waiter shown.
func (s *Store) view(key string, at reading) (locker.Status, []place) {
	dir := s.path(key)
	c := read(dir)
	c.readWaiters(dir)
	status := locker.Status{Key: key, State: c.state(at), Capacity: 1, Waiters: make([]locker.Waiter, 0, len(c.places))}
	if c.broken != nil {
		status.Error = c.broken.Error()
	}
	if c.holder != nil {
		status.Holders = []locker.Holder{c.holder.public(at)}
	}
	for i := range c.places {
		fresh := c.places[i].fresh(at)
		position := 0
		if fresh {
			status.Waiting++
			position = status.Waiting
		}
		status.Waiters = append(status.Waiters, c.places[i].public(fresh, position))
	}
	return status, c.places
}

// List gives the keys that are held, awaited, expired or broken; those that are free only when they are asked for.
func (s *Store) List(ctx context.Context, q locker.ListQuery) ([]locker.Status, error) {
	keys, err := s.keys()
	if err != nil {
		return nil, err
	}
	at := s.clock()
	all := make([]locker.Status, 0, len(keys))
	for _, key := range keys {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		if !strings.HasPrefix(key, q.Prefix) {
			continue
		}
		if status, _ := s.view(key, at); selects(q, &status) {
			all = append(all, status)
		}
	}
	return all, nil
}

func selects(q locker.ListQuery, s *locker.Status) bool {
	if q.State != "" {
		return s.State == q.State
	}
	return s.State != locker.Free || len(s.Waiters) > 0
}

// keys lists every key that was ever used, by name.
func (s *Store) keys() ([]string, error) {
	entries, err := os.ReadDir(s.locks())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	keys := make([]string, 0, len(entries))
	for _, e := range entries {
		if key, ok := unescape(e.Name()); ok {
			keys = append(keys, key)
		}
	}
	return keys, nil // the entries are sorted by their names, which is the order of the keys but for what is escaped
}
