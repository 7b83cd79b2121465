package policy

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Limits are how far requests on a topic may go.
type Limits struct {
	MaxTTL      time.Duration
	MaxWait     time.Duration
	MaxCapacity int
	MaxWaiters  int // places in the queue
}

// How far a policy file may set the limits.
const (
	minTTL, maxTTL = 100 * time.Millisecond, 30 * 24 * time.Hour
	maxWait        = 24 * time.Hour
	maxCapacity    = 65536
	maxWaiters     = 1 << 20
)

// overrides are the limits that a rule sets; nil leaves the server's own.
type overrides struct {
	ttl, wait         *time.Duration
	capacity, waiters *int
}

func (o *overrides) apply(l Limits) Limits {
	set(&l.MaxTTL, o.ttl)
	set(&l.MaxWait, o.wait)
	set(&l.MaxCapacity, o.capacity)
	set(&l.MaxWaiters, o.waiters)
	return l
}

func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

// parseDuration reads seconds, with a fraction or without, or a number with a unit, between least and most.
func parseDuration(s string, least, most time.Duration) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil && strings.Trim(s, "0123456789.") == "" {
		d, err = time.ParseDuration(s + "s")
	}
	if err != nil || d < least || d > most {
		return 0, fmt.Errorf("give seconds, or a number with a unit such as 20m, from %v to %v", least, most)
	}
	return d, nil
}

func parseCount(s string, most int) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > most {
		return 0, fmt.Errorf("give a whole number from 1 to %d", most)
	}
	return n, nil
}
