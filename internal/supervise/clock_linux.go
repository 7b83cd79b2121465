package supervise

import "golang.org/x/sys/unix"

func now() Instant { return readClock(unix.CLOCK_BOOTTIME) }
