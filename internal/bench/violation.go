package bench

import "fmt"

// ViolationError is a promise that the server broke.
type ViolationError struct{ What string }

func (e *ViolationError) Error() string { return "the server broke a promise: " + e.What }

func violated(format string, args ...any) error {
	return &ViolationError{fmt.Sprintf(format, args...)}
}
