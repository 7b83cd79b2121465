//go:build unix

package supervise

import "golang.org/x/sys/unix"

// readClock cannot fail for a clock that the kernel has, and every supported kernel has these; a kernel
// without them would make every lease look lost, so it is better not to go on.
func readClock(id int32) Instant {
	var ts unix.Timespec
	if err := unix.ClockGettime(id, &ts); err != nil {
		panic("supervise: this kernel has no clock that counts sleep: " + err.Error())
	}
	return Instant(ts.Nano())
}
