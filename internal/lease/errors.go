package lease

import (
	"errors"
	"fmt"
	"time"
)

// What can be wrong with a command, as kinds; told apart with [errors.Is].
var (
	ErrBadTopic = errors.New("not a topic name: 1 to 64 of A-Z a-z 0-9 _ : -, and not - alone")
	ErrBadToken = errors.New("not a lease: 32 lower-case hex digits")
	ErrBadText  = errors.New("not a fit text")

	// ErrBusy and ErrTimeout are what a [*HeldError] is.
	ErrBusy    = errors.New("held by others")
	ErrTimeout = errors.New("not granted within the wait")
	// ErrGone: no such lease is alive. It ended, or never was; whoever worked under it must stop.
	ErrGone = errors.New("the lease is gone")
	// ErrConflict is what a [*ConflictError] is.
	ErrConflict = errors.New("the topic has another capacity")
	// ErrKeyReused: the key was used with another ttl or capacity.
	ErrKeyReused = errors.New("the key was used with other parameters")
	// ErrKeySpent: the key's lease has ended, or its owner gave up.
	ErrKeySpent = errors.New("the key is spent")
	// ErrSuperseded: a later request with the same key took the wait over.
	ErrSuperseded = errors.New("another request with this key took the wait over")
	// ErrWaitersLimit: the queue is full.
	ErrWaitersLimit = errors.New("too many are waiting")
	// ErrSuspended: no grants are made now, because they could not be kept safe.
	ErrSuspended = errors.New("grants are suspended")
	// ErrStorage: what was asked could not be made safe. Whether it took effect is unknown, like a lost answer.
	ErrStorage = errors.New("could not be stored")
	// ErrFenceExhausted: the topic has used up its fences. At a million grants a second that takes 285 years.
	ErrFenceExhausted = errors.New("no fence is left on this topic")
)

// HeldError says why an acquire got nothing: Kind is [ErrBusy] or [ErrTimeout].
type HeldError struct {
	Kind       error
	Holders    []string      // names, by fence
	Waiting    int           // places in the queue, the asker's own included
	RetryAfter time.Duration // until the earliest lease ends if it is not renewed
	Position   int           // the asker's place from 1, if its ticket keeps one; else 0
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("%v: %d holding, %d waiting", e.Kind, len(e.Holders), e.Waiting)
}

// Unwrap gives the kind.
func (e *HeldError) Unwrap() error { return e.Kind }

// ConflictError says which capacity the topic has.
type ConflictError struct{ Capacity int }

func (e *ConflictError) Error() string { return fmt.Sprintf("%v: %d", ErrConflict, e.Capacity) }

// Unwrap gives [ErrConflict].
func (e *ConflictError) Unwrap() error { return ErrConflict }
