package supervise

import (
	"os"
	"syscall"
)

// rareSignals are those of this system beyond the common ones: its status key.
func rareSignals() []os.Signal { return []os.Signal{syscall.SIGINFO} }
