package dirstore

import (
	"strings"
	"time"
)

// reading is one look at this machine's clocks.
type reading struct {
	now  time.Time     // the wall clock, with the process's monotonic one
	up   time.Duration // since the boot, sleep included
	boot string        // which boot up counts from; "" if that is not known, and then up means nothing
	// awake is up without sleep; 0 where the system does not tell.
	awake time.Duration
}

// slept is for how long the machine slept since a moment that was written down by both of a boot's clocks; 0 if unknown.
func (r reading) slept(boot string, up, awake time.Duration) time.Duration {
	if boot == "" || boot != r.boot || awake == 0 || r.awake == 0 {
		return 0
	}
	return max((r.up-up)-(r.awake-awake), 0)
}

// left is how long it is until a moment that was written down by both clocks. A boot's own clock is believed before
// the wall clock, which may have been set meanwhile; the wall clock counts across boots and machines.
func (r reading) left(boot string, up time.Duration, wall time.Time) time.Duration {
	if boot != "" && boot == r.boot {
		return up - r.up
	}
	return wall.Sub(r.now.Round(0))
}

// past moves a time that was written down onto this reading's clock. What lies ahead of it (the wall clock was set
// back) is taken to have been just now.
func (r reading) past(wall time.Time) time.Time {
	if wall.IsZero() {
		return wall
	}
	return r.now.Add(min(wall.Sub(r.now.Round(0)), 0))
}

// stamp is a time as the files have it: RFC 3339 in UTC with milliseconds.
type stamp time.Time

const stampLayout = "2006-01-02T15:04:05.000Z07:00"

// MarshalText gives t in the files' form.
func (t stamp) MarshalText() ([]byte, error) {
	return time.Time(t).UTC().AppendFormat(nil, stampLayout), nil
}

// UnmarshalText reads any RFC 3339 time.
func (t *stamp) UnmarshalText(text []byte) error {
	v, err := time.Parse(time.RFC3339, strings.TrimSpace(string(text)))
	*t = stamp(v.UTC())
	return err
}
