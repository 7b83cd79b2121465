package supervise

import "golang.org/x/sys/windows"

// now counts sleep; it moves in steps of about 16 milliseconds.
func now() Instant { return Instant(windows.DurationSinceBoot()) }
