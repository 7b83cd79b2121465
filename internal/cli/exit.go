package cli

import (
	"errors"
	"fmt"

	"legible.sh/mutex/internal/locker"
	"legible.sh/mutex/internal/supervise"
)

// The exit codes that all front doors share.
const (
	codeOK          = 0
	codeError       = 1
	codeUsage       = 2
	codeWaitTimeout = 11
)

// exit is an end with a code of its own. Without an err there is nothing to say.
type exit struct {
	code int
	err  error
}

func (e *exit) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *exit) Unwrap() error { return e.err }

// usageError says that the command line itself is wrong.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

// UsageError gives an error of a front door's own command the exit code of wrong usage.
func UsageError(err error) error { return &usageError{err.Error()} }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// code is the exit code of an error.
func (c Codes) code(err error) int {
	var own *exit
	var usage *usageError
	var interrupted *supervise.Interrupted
	switch {
	case err == nil:
		return codeOK
	case errors.As(err, &own):
		return own.code
	case errors.As(err, &usage), errors.Is(err, locker.ErrUsage):
		return codeUsage
	case errors.As(err, &interrupted):
		return interrupted.Code()
	case errors.Is(err, locker.ErrTimeout):
		return c.Timeout
	case errors.Is(err, locker.ErrBusy):
		return c.Busy
	case errors.Is(err, locker.ErrNotHolder):
		return c.NotHolder
	case errors.Is(err, locker.ErrGone):
		return c.NotHeld
	}
	return codeError
}
