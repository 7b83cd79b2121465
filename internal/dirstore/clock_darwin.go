package dirstore

import (
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// readClock uses the monotonic clock, which goes on while a Mac sleeps.
func readClock() reading {
	var up unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &up); err != nil {
		return reading{now: time.Now()}
	}
	return reading{now: time.Now(), up: time.Duration(up.Nano()), boot: bootID()}
}

var bootID = sync.OnceValue(func() string {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return id
})
