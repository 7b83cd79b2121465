package supervise

import "golang.org/x/sys/unix"

// now reads the monotonic clock, which goes on while a Mac sleeps.
func now() Instant { return readClock(unix.CLOCK_MONOTONIC) }
