package locker

import "time"

// EventKind is what happened to a lease.
type EventKind string

// The kinds of events. EventReclaimed occurs only in a directory.
const (
	EventAcquired  EventKind = "acquired"
	EventRenewed   EventKind = "renewed"
	EventReleased  EventKind = "released"
	EventExpired   EventKind = "expired"
	EventForced    EventKind = "force-released"
	EventReclaimed EventKind = "reclaimed"
)

// Event is one thing that happened to a lease.
type Event struct {
	Who
	ID      int64 // rises with time
	Time    time.Time
	Kind    EventKind
	Key     string
	LeaseID string // ties the events of one lease together
	Fence   int64
	TTL     time.Duration // acquired, renewed: granted for this long
	Waited  time.Duration // acquired: queued for this long
	Held    time.Duration // once it has ended: held for this long
	By      string        // force-released: who forced it, and why
}

// HistoryQuery selects events, newest first.
type HistoryQuery struct {
	Key     string    // "" for all keys
	Since   time.Time // zero: from the beginning
	Limit   int       // at most so many; 0 for no limit
	Renewed bool      // renewals too
}

// Pruned says what pruning did.
type Pruned struct {
	Pruned    int // how many keys, or leftovers of them, were forgotten
	Remaining int
}

// Force says which leases to end, and in whose name.
type Force struct {
	Fence  int64 // only the holder with this fence; 0 for all
	DryRun bool  // only say whose
	By     Who   // who does it, and why
}

// Forced says whose leases ended, or would end.
type Forced struct {
	Key      string
	DryRun   bool
	Released []Holder
	Holders  []string // names of who holds it afterwards
	Waiting  int
	// Mended says that the key's state was broken and was, or would be, cleared.
	Mended bool
}
