package supervise

import (
	"io"
	"time"
)

// DefaultGrace is how long a tree that was told to end has before it is killed, unless the caller says otherwise.
const DefaultGrace = 10 * time.Second

// LossPolicy is what happens to the command when the lease is lost.
type LossPolicy int

const (
	Terminate LossPolicy = iota // end the whole tree before somebody else can hold the lease
	Continue                    // let the command go on; the caller takes the risk
)

// LeftoverPolicy is what happens to processes that the command left behind when it ended by itself.
type LeftoverPolicy int

const (
	LeaveThem LeftoverPolicy = iota // name them in a warning and release the lease
	AwaitThem                       // keep the lease until they have ended
	KillThem                        // end them, then release the lease
)

// Config is everything a run needs.
type Config struct {
	Lease   Lease
	Held    Held
	Command Command
	Signals *Signals // caught before the lease was acquired; Run takes it over and stops it

	Grace     time.Duration // from TERM to KILL, and for the release; 0 means [DefaultGrace]
	MaxHold   time.Duration // ends the command when it has run for so long; 0 means no limit
	OnLoss    LossPolicy
	Leftovers LeftoverPolicy
	LossHook  []string // argv of a command to run once when the lease is lost; none if empty

	Name   string    // in front of each line on Stderr; "mutex" if empty
	Stderr io.Writer // for words; the command's own stderr is always that of this process
	Quiet  bool      // no words but warnings
	Events *Events   // may be nil; Run does not close it
}

func (c Config) withDefaults() Config {
	if c.Grace <= 0 {
		c.Grace = DefaultGrace
	}
	if c.Name == "" {
		c.Name = "mutex"
	}
	if c.Stderr == nil {
		c.Stderr = io.Discard
	}
	return c
}
