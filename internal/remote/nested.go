package remote

import (
	"context"
	"time"

	"legible.sh/mutex/internal/locker"
)

// Under is a lease that this process was started under.
type Under struct{ Topic, Lease string }

// certainty is how long it may take to find out whether an acquire would wait for itself.
const certainty = 2 * time.Second

// itself refuses to wait for a lease that this process runs under, if that is certain: the server says that the lease lives,
// and that there is room for no other beside it.
func (r *Remote) itself(ctx context.Context, topic string, capacity int) error {
	if capacity > 1 {
		return nil // another capacity than the topic has is a conflict, which the server explains
	}
	ctx, cancel := context.WithTimeout(ctx, certainty)
	defer cancel()
	for _, u := range r.under {
		if u.Topic != topic {
			continue
		}
		held, err := r.c.Check(ctx, topic, u.Lease)
		if err != nil {
			return nil
		}
		s, err := r.c.Status(ctx, topic)
		if err != nil || value(s.Capacity) != 1 {
			return nil
		}
		return &locker.SelfError{Key: topic, Fence: held.Fence}
	}
	return nil
}
