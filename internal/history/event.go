package history

import (
	"encoding/binary"
	"encoding/hex"
	"time"

	"legible.sh/mutex/internal/lease"
)

// Kind says what happened to a lease. The numbers are what the database holds.
type Kind uint8

// The kinds.
const (
	Acquired Kind = iota + 1
	Renewed
	Released
	Expired
	ForceReleased
	// Reclaimed: a run took its own lease back after it had been cleared. Only in a directory.
	Reclaimed
)

var kindNames = [...]string{
	Acquired: "acquired", Renewed: "renewed", Released: "released", Expired: "expired",
	ForceReleased: "force-released", Reclaimed: "reclaimed",
}

func (k Kind) String() string {
	if int(k) < len(kindNames) && kindNames[k] != "" {
		return kindNames[k]
	}
	return "unknown"
}

// Event is one thing that happened to a lease.
type Event struct {
	// ID is the event's number, from 1; it rises in the order of writing. Zero in an event not yet written.
	ID      int64
	At      time.Time // to the millisecond
	Kind    Kind
	Topic   string // or a directory's key
	LeaseID string // the lease's public id, 16 hex digits; "" if not known
	Name    string
	Reason  string
	Host    string
	PID     int // 0: not said
	Fence   lease.Fence
	Slot    int
	TTL     time.Duration
	Waited  time.Duration // Acquired: how long it queued, 0 if it did not
	Held    time.Duration // Released, Expired, ForceReleased: how long it was held
	By      string        // ForceReleased: who did it
	Detail  string        // what else there is to say
}

// ends tells whether an event of this kind ends a lease.
func (k Kind) ends() bool { return k == Released || k == Expired || k == ForceReleased }

func (e *Event) ends() bool { return e.Kind.ends() }

// lasted is how long the wait before the event was, or the hold that it ends; ok is false without either, which is not
// the same as a hold of no length.
func (e *Event) lasted() (d time.Duration, ok bool) {
	switch {
	case e.ends():
		return e.Held, true
	case e.Kind == Acquired && e.Waited > 0:
		return e.Waited, true
	}
	return 0, false
}

// FromLease turns what happened to a topic into an event of its history; ok is false for what does not belong there,
// such as a wait's beginning.
func FromLease(topic string, from *lease.Event) (e Event, ok bool) {
	if ok = e.observe(topic, from); ok {
		e.LeaseID = from.Token.ID()
	}
	return e, ok
}

// observe fills in everything but the lease id, which takes a hash to compute.
func (e *Event) observe(topic string, from *lease.Event) bool {
	kind := kindOf(from.Kind)
	if kind == 0 {
		return false
	}
	*e = Event{
		At: from.At, Kind: kind, Topic: topic,
		Name: from.Who.Name, Reason: from.Who.Reason, Host: from.Who.Host, PID: from.Who.PID,
		Fence: from.Fence, Slot: from.Slot, TTL: from.TTL, By: from.By, Detail: from.Cause.String(),
	}
	switch {
	case kind == Acquired && !from.Enqueued.IsZero():
		e.Waited = max(0, from.At.Sub(from.Enqueued))
	case e.ends():
		e.Held = max(0, from.At.Sub(from.Since)) // a wall clock set back must not make it negative
	}
	return true
}

func kindOf(k lease.Kind) Kind {
	switch k {
	case lease.Granted:
		return Acquired
	case lease.Renewed:
		return Renewed
	case lease.Released:
		return Released
	case lease.Expired:
		return Expired
	case lease.Forced:
		return ForceReleased
	}
	return 0
}

// packLeaseID makes the 16 hex digits one integer, as the database holds them. Anything else is no id: 0.
func packLeaseID(id string) int64 {
	var b [8]byte
	if len(id) != 2*len(b) {
		return 0
	}
	if _, err := hex.Decode(b[:], []byte(id)); err != nil {
		return 0
	}
	return int64(binary.BigEndian.Uint64(b[:]))
}

func unpackLeaseID(n int64) string {
	if n == 0 {
		return ""
	}
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(n))
	return hex.EncodeToString(b[:])
}
