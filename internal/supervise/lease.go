package supervise

import (
	"context"
	"errors"
	"time"
)

// ErrLost says that the lock service itself answered that the lease is over. Every other error of a [Lease] is
// taken as unconfirmed: the lease may live, and the deadline decides.
var ErrLost = errors.New("the lease is lost")

// Lease is what Run needs of a lock service: one lease that is already held.
//
// Calls never overlap: Release comes only after the last Renew has returned, or a second after its context
// ended. Both must return soon after their context ends. Errors are shown to the user and written to the events,
// so they must not hold the lease's token.
type Lease interface {
	// Renew confirms the lease for its ttl again. An error that is [ErrLost] ends the lease at once.
	// A store that finds its lease cleared and nobody in its place may take it back under a new token, and says
	// so in [Renewal.Reclaimed]; from then on Renew and Release speak of the new one, even if ctx ended meanwhile.
	Renew(ctx context.Context) (Renewal, error)
	// Release gives the lease back. [ErrLost] says that there was nothing left to give back. After any other error it
	// is called again; a lease that is gone by then counts as given back by the call that nobody confirmed, which
	// only the implementation can tell, and is no error.
	Release(ctx context.Context) error
}

// Renewal is a confirmed lease.
type Renewal struct {
	TTL       time.Duration // from this renewal on; 0 keeps the one before
	Fence     int64         // 0 keeps the one before
	Reclaimed bool          // taken back after it had been cleared: another token, a higher fence
}

// Held is the lease as it was acquired.
type Held struct {
	Topic string
	Fence int64
	TTL   time.Duration
	// Sent is when the request that the grant answers was sent, by [Now]. A grant that was waited for is older
	// than it looks by this count; Run then confirms it once before it starts the command.
	Sent Instant
}
