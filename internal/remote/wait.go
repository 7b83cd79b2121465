package remote

import (
	"context"
	"errors"
	"time"

	"legible.sh/mutex/api"
	"legible.sh/mutex/api/client"
	"legible.sh/mutex/internal/locker"
)

// patience is how long Wait tries to reach a server that it has never heard from.
const patience = 2 * time.Second

// Wait follows the topic's events until it is free or a lease on it ends. A server that was once heard from is
// waited for for as long as ctx lives.
func (r *Remote) Wait(ctx context.Context, topic string) (locker.Status, error) {
	start, heard := time.Now(), false
	var seen *api.TopicStatus
	for e, err := range r.c.Watch(ctx, topic) {
		if err != nil && ctx.Err() != nil {
			break
		}
		switch {
		case errors.Is(err, client.ErrUnreachable) && (heard || time.Since(start) < patience):
			continue
		case err != nil:
			if no := (*client.Error)(nil); errors.As(err, &no) {
				err = no // what the server itself said
			}
			return locker.Status{}, r.err(err)
		}
		heard = true
		if e.Status == nil {
			if ends(e.Type) {
				return r.Status(ctx, topic)
			}
			seen = afterwards(seen, e)
			continue
		}
		if e.Status.State == api.TopicStateFree || missing(seen, e.Status) {
			return status(e.Status), nil
		}
		seen = e.Status
	}
	if !heard && errors.Is(ctx.Err(), context.DeadlineExceeded) { // nothing is known, not even that no lease has ended
		return locker.Status{}, &locker.UnreachableError{Where: r.c.URL(), Err: context.Cause(ctx)}
	}
	return locker.Status{}, context.Cause(ctx)
}

func ends(t client.EventType) bool {
	return t == client.EventRelease || t == client.EventExpire || t == client.EventForceRelease
}

// afterwards notes a lease that began while the stream stood.
func afterwards(seen *api.TopicStatus, e client.Event) *api.TopicStatus {
	if seen != nil && e.Type == client.EventGrant && e.Change.Fence != nil {
		seen.Holders = append(seen.Holders, api.Holder{Fence: *e.Change.Fence})
	}
	return seen
}

// missing tells whether a lease that was seen is gone: it ended while no stream stood.
func missing(before, now *api.TopicStatus) bool {
	if before == nil {
		return false
	}
	there := make(map[int64]bool, len(now.Holders))
	for _, h := range now.Holders {
		there[h.Fence] = true
	}
	for _, h := range before.Holders {
		if !there[h.Fence] {
			return true
		}
	}
	return false
}
