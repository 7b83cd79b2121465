package supervise

import (
	"os"
	"syscall"
)

// The real-time signals that the C library leaves to programs.
const firstRealTime, lastRealTime = 35, 64

// systemSignals are the catchable signals of Linux beyond the common ones, less those that speak of this
// process alone: a fault, a timer, the end of a child, and SIGURG, which the Go runtime sends itself.
func systemSignals() []os.Signal {
	signals := []os.Signal{syscall.SIGPWR, syscall.SIGIO}
	for n := firstRealTime; n <= lastRealTime; n++ {
		signals = append(signals, syscall.Signal(n))
	}
	return signals
}
