package dirstore

import (
	"context"
	"time"

	"legible.sh/mutex/internal/locker"
)

// Wait returns once no live lease is there, or as soon as the one that was there has ended, even if the next in line
// has the key by then.
func (s *Store) Wait(ctx context.Context, key string) (locker.Status, error) {
	status, err := s.Status(ctx, key)
	if err != nil || status.State == locker.Free && !exists(s.path(key)) {
		return status, err
	}
	bell := newBell(s.path(key))
	defer bell.close()
	first := ""
	for {
		at := s.clock()
		h, broken := readHolder(s.path(key))
		switch {
		case broken != nil:
			return locker.Status{}, broken
		case h == nil || h.left(at) <= 0 || first != "" && h.LeaseID != first:
			status, _ := s.view(key, s.clock())
			return status, nil
		}
		first = h.LeaseID
		if err := s.doze(ctx, bell, h.left(at)); err != nil {
			return locker.Status{}, err
		}
	}
}

// doze waits for the bell, but no longer than to the end of the lease or for a poll interval.
func (s *Store) doze(ctx context.Context, b *bell, left time.Duration) error {
	timer := time.NewTimer(min(s.poll, left))
	defer timer.Stop()
	select {
	case <-b.rings():
	case <-timer.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}
