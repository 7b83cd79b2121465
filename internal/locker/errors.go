package locker

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// What can go wrong, as kinds, told apart with [errors.Is].
var (
	// ErrBusy: held by others, and the request was not to wait.
	ErrBusy = errors.New("held")
	// ErrTimeout: held by others for as long as the wait lasted.
	ErrTimeout = errors.New("not granted within the wait")
	// ErrGone: the service itself said that the lease is over. Whoever worked under it must stop.
	ErrGone = errors.New("the lease is gone")
	// ErrNotHeld: nothing is held. It is an ErrGone.
	ErrNotHeld = fmt.Errorf("%w: nothing is held", ErrGone)
	// ErrNotHolder: another holds the key now. It is an ErrGone.
	ErrNotHolder = fmt.Errorf("%w: another holds it", ErrGone)
	// ErrBroken: the key's stored state is corrupt or cannot be read.
	ErrBroken = errors.New("the state of the lock cannot be used")
	// ErrNotPermitted: the service wants a token that was not given, or does not take the one that was.
	ErrNotPermitted = errors.New("not permitted")
	// ErrUsage: the request itself is wrong, and was refused without any effect.
	ErrUsage = errors.New("not a valid request")
	// ErrNotLease: what was given as a lease has not the form of one. It is an ErrUsage.
	ErrNotLease = fmt.Errorf("%w: that is not a lease", ErrUsage)
	// ErrUnreachable is what an [*UnreachableError] is.
	ErrUnreachable = errors.New("no clear answer from the lock service")
)

// BusyError says who stands in the way of an acquire. It is [ErrBusy] or [ErrTimeout].
type BusyError struct {
	Key        string
	Kind       error         // ErrBusy or ErrTimeout
	Holders    []string      // names, by fence; empty if unknown
	Waiting    int           // how many wait
	RetryAfter time.Duration // until the earliest lease ends unless renewed; 0 if unknown
	Waited     time.Duration // ErrTimeout: how long
}

func (e *BusyError) Error() string {
	var b strings.Builder
	b.WriteString(e.Key)
	if errors.Is(e.Kind, ErrTimeout) {
		fmt.Fprintf(&b, " was not free within %v", e.Waited.Round(100*time.Millisecond))
	} else {
		b.WriteString(" is not free")
	}
	if len(e.Holders) > 0 {
		fmt.Fprintf(&b, ": held by %s", strings.Join(e.Holders, ", "))
	}
	return b.String()
}

// Unwrap gives the kind.
func (e *BusyError) Unwrap() error { return e.Kind }

// SelfError says that an acquire would wait for a lease that its own caller runs under. It is a [ErrBusy].
type SelfError struct {
	Key   string
	Fence int64
}

func (e *SelfError) Error() string {
	return fmt.Sprintf("this already runs under %s (fence %d): it would wait for itself", e.Key, e.Fence)
}

// Unwrap gives [ErrBusy].
func (e *SelfError) Unwrap() error { return ErrBusy }

// UnreachableError says which service gave no clear answer and why: what was asked may or may not have been done.
type UnreachableError struct {
	Where    string // its URL, without secrets
	Answered bool   // it did answer, but could not say: it is starting, stopping or in trouble
	Err      error
}

func (e *UnreachableError) Error() string {
	if e.Answered {
		return fmt.Sprintf("%s gives no clear answer: %v", e.Where, e.Err)
	}
	return fmt.Sprintf("no answer from %s: %v", e.Where, e.Err)
}

// Unwrap gives [ErrUnreachable] and the cause.
func (e *UnreachableError) Unwrap() []error { return []error{ErrUnreachable, e.Err} }
