package journal

import (
	"errors"
	"fmt"
	"sync/atomic"

	"legible.sh/mutex/internal/lease"
)

// ErrStorage is what every error of Append is: what was asked could not be made safe.
var ErrStorage = lease.ErrStorage

// errNoRoom is why a grant was refused, and why grants are suspended.
var errNoRoom = errors.New("the disk is full: the room that is left is kept for renewing and releasing")

var errClosed = fmt.Errorf("%w: the journal is closed", ErrStorage)

// status is what others may know of the committer's condition. The committer writes it, anybody reads it.
type status struct {
	suspended atomic.Bool
	trouble   atomic.Pointer[error]
	changed   chan struct{} // holds one
}

// set publishes what is wrong, and tells whoever listens when that begins or ends.
func (s *status) set(trouble error) {
	var p *error
	if trouble != nil {
		p = &trouble
	}
	s.trouble.Store(p)
	if s.suspended.Swap(trouble != nil) == (trouble != nil) {
		return
	}
	select {
	case s.changed <- struct{}{}:
	default: // not looked at since the last change
	}
}

func (s *status) err() error {
	if p := s.trouble.Load(); p != nil {
		return *p
	}
	return nil
}
