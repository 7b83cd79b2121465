package record

import (
	"time"

	"legible.sh/mutex/internal/lease"
)

// Type says what a record is.
type Type uint8

// The types of records. Unknown is one of a later version: it is to be skipped.
const (
	Unknown Type = iota
	Topic
	Grant
	Renew
	Release
	Expire
	Force
	Wait
	Leave
	Spent
	Floor
	Raise
	Clock
)

var typeNames = [...]string{
	Unknown: "", Topic: "topic", Grant: "grant", Renew: "renew", Release: "release", Expire: "expire", Force: "force",
	Wait: "wait", Leave: "leave", Spent: "spent", Floor: "floor", Raise: "raise", Clock: "clock",
}

// String gives the type as the file has it.
func (t Type) String() string { return typeNames[t] }

func typeNamed(name string) Type {
	for t, known := range typeNames {
		if known == name {
			return Type(t)
		}
	}
	return Unknown
}

// Record is one line, read.
type Record struct {
	Type   Type
	Synced bool        // all that stands before it was safe when it was written
	Topic  lease.Topic // "" where the type has none
	// Event is what the record restores, its times on the wall clock; for [Floor] and [Raise] only its Fence is set,
	// for [Clock] only its At.
	Event  lease.Event
	Limits bool          // Floor: High is said
	High   lease.Fence   // the highest fence granted so far
	Boot   string        // Clock: which boot of which machine
	Up     time.Duration // Clock: how long that had been up
}
