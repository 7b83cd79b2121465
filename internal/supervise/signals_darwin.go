package supervise

import (
	"os"
	"syscall"
)

// systemSignals are those of this system beyond the common ones: its status key.
func systemSignals() []os.Signal { return []os.Signal{syscall.SIGINFO} }
