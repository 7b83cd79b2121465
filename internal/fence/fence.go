package fence

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Max is the highest fence that a server gives: JavaScript has no larger whole numbers.
const Max = 1<<53 - 1

// ErrStale is the kind of a [StaleError].
var ErrStale = errors.New("stale fence")

// StaleError says that somebody with a higher fence was here. The work belongs to them now.
type StaleError struct {
	Where   string // file or URL
	Fence   int64  // the one that was refused
	Highest int64  // the one that is kept
}

func (e *StaleError) Error() string {
	return fmt.Sprintf("stale: %s was written under fence %d, and yours is %d. Your lease is gone: stop", e.Where, e.Highest, e.Fence)
}

// Unwrap gives [ErrStale].
func (e *StaleError) Unwrap() error { return ErrStale }

// Parse reads a fence: a whole number from 1 to [Max].
func Parse(text string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || n < 1 || n > Max {
		return 0, fmt.Errorf("%.40q is not a fence: send a whole number from 1 to %d, as the grant has it", text, int64(Max))
	}
	return n, nil
}

// admit is the rule: an equal fence is the same holder's next write, a lower one comes from a lease that is over.
func admit(where string, n, highest int64) error {
	if n < highest {
		return &StaleError{Where: where, Fence: n, Highest: highest}
	}
	return nil
}

// kept reads what was kept; a text that is no number admits nobody.
func kept(where, text string) (int64, error) {
	n, err := Parse(text)
	if err != nil {
		return 0, fmt.Errorf("%s holds no fence (%.40q): write the highest one known into it, from the topic's status or history", where, text)
	}
	return n, nil
}
