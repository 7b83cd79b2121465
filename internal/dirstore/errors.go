package dirstore

import (
	"errors"
	"fmt"
	"time"

	"legible.sh/mutex/internal/locker"
)

var (
	// ErrNoFlock: the file system does not lock files, so nothing can be changed there safely.
	ErrNoFlock = errors.New("this file system does not lock files (flock)")
	// ErrGuard is what a [*GuardError] is.
	ErrGuard = errors.New("the guard is not free")
)

// GuardError says that another process has kept a key's guard for longer than any change takes: it is stopped,
// or hangs in the file system.
type GuardError struct {
	Path   string
	Waited time.Duration
}

func (e *GuardError) Error() string {
	return fmt.Sprintf("another process has kept %s locked for %v: it is stopped, or its disk hangs; find it with: fuser -v '%s'",
		e.Path, e.Waited, e.Path)
}

// Unwrap gives [ErrGuard].
func (e *GuardError) Unwrap() error { return ErrGuard }

// BrokenError says that a key's files cannot be understood or read. It is a [locker.ErrBroken].
type BrokenError struct {
	Path  string
	State locker.State // Corrupt or Unreadable
	Err   error
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("%s is %s: %v", e.Path, e.State, e.Err)
}

// Unwrap gives [locker.ErrBroken] and what was found.
func (e *BrokenError) Unwrap() []error { return []error{locker.ErrBroken, e.Err} }
