package locker

import "time"

// Forever is a [Request.Wait] without an end of its own: the context ends it.
const Forever time.Duration = -1

// Request is what an acquire asks for.
type Request struct {
	Who
	TTL      time.Duration // how long the lease lives unless renewed; 0 for the service's default
	Wait     time.Duration // how long to queue; 0 fails at once, [Forever] has no limit
	Capacity int           // how many may hold the key at once; 0 agrees with whatever it is

	// Progress, if set, is told how the wait goes: soon after it began, and then every ProgressEvery (0: once),
	// and whenever the service stops answering or answers again. Calls never overlap; it must not block.
	Progress      func(Progress)
	ProgressEvery time.Duration
}

// Who says who a holder is, to whoever reads the status. Empty fields are unknown.
type Who struct {
	Name   string
	Reason string
	Host   string
	PID    int
}

// Progress is how a wait stands.
type Progress struct {
	Holders    []string      // names of who holds it, by fence
	Position   int           // the place in line, 1 is next; 0 if unknown
	Waiting    int           // how many wait
	RetryAfter time.Duration // until the earliest lease ends unless renewed; 0 if unknown
	// Trouble says why the service does not answer now, and is nil while it does. The wait goes on.
	Trouble error
	// Patience is, with Trouble, for how much longer the service is tried if it stays so; 0 if that is unknown or has no end.
	Patience time.Duration
}

// Grant is a lease that is now held.
type Grant struct {
	Key      string
	Token    Token
	Name     string
	Fence    int64
	Slot     int // the lowest free number below Capacity
	TTL      time.Duration
	Expires  time.Time // by the service's clock
	Capacity int
	Holders  []string // names of all who hold it now, by fence

	// RenewURL and ReleaseURL are where a program without this one can renew and release; empty without HTTP.
	// They hold the secret.
	RenewURL, ReleaseURL string
}

// Renewal is a lease that lives.
type Renewal struct {
	Key     string
	Name    string
	Fence   int64
	TTL     time.Duration // from now; 0 if the service did not say
	Expires time.Time     // by the service's clock
}

// Released is a lease that has ended by being given back. Name and Fence are empty where the service did not
// say: a repeated release whose first answer was lost knows only that the lease is gone.
type Released struct {
	Key   string
	Name  string
	Fence int64
}
