package lease

import "time"

// Op says what a [Command] asks for.
type Op uint8

// The operations.
const (
	_ Op = iota
	// Acquire asks for a permit under Token: Who, TTL, Capacity, Wait, Key and MaxWaiters count.
	Acquire
	// Renew makes Token live until now + TTL.
	Renew
	// Release ends Token.
	Release
	// Check asks whether Token lives, and changes nothing.
	Check
	// GiveUp ends whatever Key has, a place or a lease, and spends it.
	GiveUp
	// Abandon says that nobody is there any more to take the answer of the acquire under Token.
	Abandon
	// Force ends the lease with Fence, or every lease, in the name of By.
	Force
	// Look asks for nothing: it only settles what is due.
	Look
)

// Command is what somebody asks of a topic. It is flat, so that it travels through a mailbox without an allocation
// of its own; Op says which fields count.
type Command struct {
	Op         Op
	Token      Token // Acquire: made by the asker, random and never used before, secret until granted
	Key        Key
	Who        Who
	TTL        time.Duration // Acquire: above 0. Renew: 0 for the lease's own again
	TTLOmitted bool          // Acquire: TTL is the default, so it agrees with whatever the key was used with
	Capacity   int           // Acquire: 0 agrees with any, and declares 1
	Wait       time.Duration // Acquire: 0 never queues
	MaxWaiters int           // Acquire: places in the queue; 0 for no limit
	Fence      Fence         // Force: 0 for all
	By         string        // Force
}

// Outcome is what became of a command that was not refused.
type Outcome struct {
	Lease     Lease // Acquire, Renew, Release, Check: the lease; GiveUp: the one that ended, if any
	Waiting   bool  // Acquire: queued; an event for Token says how it ends
	Replayed  bool  // Acquire: the key has this lease already
	LeftQueue bool  // GiveUp: a place was given up
}

// Lease is one lease with its secret, for its owner.
type Lease struct {
	Token    Token
	Who      Who
	Fence    Fence
	Slot     int
	Capacity int // of the topic
	TTL      time.Duration
	Since    time.Time
	Renewed  time.Time // zero: never
	Expires  time.Time
}

// Holder is a lease as everybody may see it.
type Holder struct {
	Who     Who
	Fence   Fence
	Slot    int
	Since   time.Time
	Renewed time.Time // zero: never
	Expires time.Time
}

// Waiter is a place in the queue as everybody may see it.
type Waiter struct {
	Who      Who
	Position int // from 1
	Enqueued time.Time
	Away     bool // its client is not connected; the place is kept for a while
}

// Status is a topic as everybody may see it. Capacity is 0 while nobody has declared one.
type Status struct {
	Capacity int
	Holders  []Holder // by fence
	Waiters  []Waiter // by position
}
