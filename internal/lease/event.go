package lease

import "time"

// Kind says what an [Event] is.
type Kind uint8

// The kinds. Those marked durable must be on disk before an answer rests on them; of the others a crash
// loses nothing that was promised.
const (
	_ Kind = iota
	// Declared restores what is known of a topic apart from its leases: Capacity (0: nothing new) and Fence. Durable.
	Declared
	// Granted: a permit was given. All fields of the lease are set; Enqueued if it had waited. Durable.
	Granted
	// Renewed: Token lives until Expires, TTL from At. Durable.
	Renewed
	// Released: its owner gave Token back, or its grant could not be delivered (Cause Undelivered). Durable.
	Released
	// Expired: nobody renewed Token in time. Durable.
	Expired
	// Forced: By ended Token from outside. Durable.
	Forced
	// Enqueued: Token's request waits, until Deadline. Durable if it has a Key. Read back from a file it has no Token:
	// the place is away, and Deadline is one keep window from the reading.
	Enqueued
	// Detached: Key's request ended (Cause TimedOut or Abandoned) but its place is kept until Deadline.
	Detached
	// Reattached: Key's place is taken by the request Token, which waits until Deadline; the request
	// Superseded, if any, ends.
	Reattached
	// Left: a waiter is gone for good; Cause says why. Durable if it had a Key.
	Left
	// Spent: Key gave up, and has neither place nor lease; for the keep window from At it gets nothing. Durable.
	Spent
	// Forgotten: a keep window of the spent Key is over; unless it was spent once more since, it is as good as new.
	Forgotten
)

var kindNames = [...]string{
	Declared: "declared", Granted: "granted", Renewed: "renewed", Released: "released", Expired: "expired",
	Forced: "forced", Enqueued: "enqueued", Detached: "detached", Reattached: "reattached", Left: "left",
	Spent: "spent", Forgotten: "forgotten",
}

func (k Kind) String() string {
	if int(k) < len(kindNames) && kindNames[k] != "" {
		return kindNames[k]
	}
	return "unknown"
}

// Cause says why, where one kind has several reasons.
type Cause uint8

// The causes.
const (
	NoCause     Cause = iota
	TimedOut          // the request's own wait was over
	Abandoned         // the request's connection ended
	GaveUp            // its owner said so
	Lapsed            // the keep window passed and nobody came back
	Undelivered       // granted, but nobody was there to take it
)

var causeNames = [...]string{"", "timed out", "abandoned", "gave up", "lapsed", "undelivered"}

func (c Cause) String() string {
	if int(c) < len(causeNames) {
		return causeNames[c]
	}
	return "unknown"
}

// Event is one change of a topic's state. It is flat, so that a turn's events lie in one slice that is used again;
// which fields are set depends on the Kind. An event that ends a lease or a wait repeats what is known of it,
// so that whoever records it needs no memory of its own.
type Event struct {
	Kind     Kind
	Cause    Cause
	Declares bool // Granted: this is the first to say the capacity
	At       time.Time

	Token      Token
	Superseded Token // Reattached: the request that ends; zero when the place was away
	Key        Key
	Who        Who
	Fence      Fence
	Slot       int // Granted: from 0; -1 from a file that has none: the lowest free one
	Capacity   int
	TTL        time.Duration
	Since      time.Time // when the lease was granted
	Enqueued   time.Time // when the wait began; zero when it never waited
	Expires    time.Time // when the lease ends unless renewed
	Renewed    time.Time // of a lease that ended: when it was last renewed; zero: never
	Deadline   time.Time // when a wait or a kept place ends
	By         string    // Forced: who did it
}

// Durable tells whether the event must be on disk before an answer rests on it.
func (e *Event) Durable() bool {
	switch e.Kind {
	case Declared, Granted, Renewed, Released, Expired, Forced, Spent:
		return true
	case Enqueued, Left:
		return !e.Key.IsZero()
	}
	return false
}

// Ends tells whether the event ends a lease.
func (e *Event) Ends() bool { return e.Kind == Released || e.Kind == Expired || e.Kind == Forced }

// Rebase moves an event's times, read from a file as wall-clock times, onto the clock of now, so that they can be
// compared with it. The wall clock may have been set back meanwhile: what has happened is then taken to have happened
// by now, and an end that lies further ahead than the lease's ttl is brought down to now + ttl, since a lease never
// gets longer by a clock that changed.
func (e Event) Rebase(now time.Time) Event {
	for _, t := range []*time.Time{&e.At, &e.Since, &e.Enqueued} {
		if !t.IsZero() {
			*t = now.Add(min(t.Sub(now), 0))
		}
	}
	for _, t := range []*time.Time{&e.Expires, &e.Deadline} {
		if !t.IsZero() {
			*t = now.Add(t.Sub(now))
		}
	}
	if e.TTL > 0 && e.Expires.Sub(now) > e.TTL {
		e.Expires = now.Add(e.TTL)
	}
	return e
}
