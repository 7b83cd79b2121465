//go:build unix

package client

import "golang.org/x/sys/unix"

// bootTime cannot fail for a clock that every supported kernel has. A kernel without it would make every lease
// look lost, so it is better not to go on.
func bootTime() instant {
	var ts unix.Timespec
	if err := unix.ClockGettime(bootClock, &ts); err != nil {
		panic("mutex: this kernel has no clock that counts sleep: " + err.Error())
	}
	return instant(ts.Nano())
}
