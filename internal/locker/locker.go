package locker

import (
	"context"
	"time"
)

// Locker is a lock service. A key is the name of what is locked; its grammar is the service's business.
type Locker interface {
	// Acquire takes a permit, waiting as r.Wait says. It fails with a [*BusyError] when the wait was for nothing.
	Acquire(ctx context.Context, key string, r Request) (Grant, error)
	// Renew makes the lease live for ttl from now, or for its own ttl again if ttl is 0. [ErrGone] says that the
	// service itself answered that the lease is over; any other error leaves it open whether it lives.
	Renew(ctx context.Context, key string, lease Token, ttl time.Duration) (Renewal, error)
	// Release ends the lease. [ErrGone] says that there was nothing to end.
	Release(ctx context.Context, key string, lease Token) (Released, error)
	// Check tells whether the lease lives, and changes nothing. [ErrGone] says that it does not.
	Check(ctx context.Context, key string, lease Token) (Renewal, error)

	// Status tells who holds a key and who waits. A name never used is free.
	Status(ctx context.Context, key string) (Status, error)
	// List gives the keys that q selects, by name. Status.Waiters may be left out of it, Status.Waiting may not.
	List(ctx context.Context, q ListQuery) ([]Status, error)
	// Wait returns once the key is free, or as soon as a lease on it ends, with the state it then has; it claims
	// nothing. [ErrBroken] says that the key's state cannot be read, so that waiting is of no use.
	Wait(ctx context.Context, key string) (Status, error)
	// History gives what happened, newest first.
	History(ctx context.Context, q HistoryQuery) ([]Event, error)

	// Prune forgets what nobody holds, awaits or watches.
	Prune(ctx context.Context) (Pruned, error)
	// ForceRelease ends leases of others, or says whose it would end.
	ForceRelease(ctx context.Context, key string, f Force) (Forced, error)
}

// Reclaimer is a Locker that can take a lease back which was cleared and which nobody has taken since. The one
// who ran under it goes on under a new token and a higher fence.
type Reclaimer interface {
	// Reclaim fails with [ErrGone] if another holds the key.
	Reclaim(ctx context.Context, key string, lease Token, r Request) (Grant, error)
}
