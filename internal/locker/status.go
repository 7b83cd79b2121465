package locker

import "time"

// State is how a key stands.
type State string

// The states. Expired, Corrupt and Unreadable occur where files are the store: a server ends a lease by itself.
const (
	Free State = "free"
	Held State = "held"
	// Expired: the holder stopped renewing; the next to acquire takes over.
	Expired State = "expired"
	// Corrupt: what is stored cannot be understood. Never taken over; only a forced release mends it.
	Corrupt State = "corrupt"
	// Unreadable: what is stored cannot be read, or the service cannot be reached.
	Unreadable State = "unreadable"
)

// Status is a key as everybody may see it.
type Status struct {
	Key      string
	State    State
	Capacity int      // 0 while nobody has fixed it
	Holders  []Holder // by fence
	Waiting  int
	Waiters  []Waiter // first in line first
	Error    string   // what is wrong, when Corrupt or Unreadable
}

// Holder is one who holds a key.
type Holder struct {
	Who
	LeaseID string // public; ties the events of one lease together. Empty where the service does not show it
	Fence   int64
	Since   time.Time
	Expires time.Time
	Renewed time.Time // zero: never
}

// Waiter is one who waits for a key.
type Waiter struct {
	Who
	Since    time.Time
	Position int  // 1 is next
	Away     bool // not known to be there now; its place is kept for a while
}

// ListQuery selects keys. The zero value selects all.
type ListQuery struct {
	Prefix string
	State  State // "" for any
}
