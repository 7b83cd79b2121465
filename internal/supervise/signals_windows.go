package supervise

import (
	"os"
	"syscall"
)

const nonblocking = 0

var queueSignals = []os.Signal{os.Interrupt, syscall.SIGTERM}

func endsQueue(syscall.Signal) bool { return true }

var runSignals []os.Signal

func rareSignals() []os.Signal { return nil }

// roleOf: Windows knows only the two that ask for an end.
func roleOf(syscall.Signal, bool) role { return roleEnd }
