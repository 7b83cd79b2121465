package supervise

import (
	"os"
	"syscall"
)

// The real-time signals that the C library leaves to programs.
const firstRealTime, lastRealTime = 35, 64

// rareSignals are the other catchable signals, less those that speak of this process alone: a fault, a timer, the end
// of a child, and SIGURG, which the Go runtime sends itself.
func rareSignals() []os.Signal {
	signals := []os.Signal{syscall.SIGPWR, syscall.SIGIO}
	for n := firstRealTime; n <= lastRealTime; n++ {
		signals = append(signals, syscall.Signal(n))
	}
	return signals
}
