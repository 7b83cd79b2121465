package main

import (
	"os"
	"runtime"
)

// addThread lets the server run on one thread more than there are processors. With as many as processors, the kernel
// that puts one of them aside for another program stops a share of the requests, and often leaves a processor idle
// beside it, for it seldom moves a thread that ran a moment ago. Beside its own clients on two processors, one thread
// more is an eighth more requests.
//
// Where somebody chose a number it stays, and so does one that a container's quota made smaller: a thread above the
// quota stops them all for the rest of its period (one that is set while the server runs is not noticed any more).
// One processor alone has nothing to be idle.
func addThread() {
	n := runtime.NumCPU()
	if os.Getenv("GOMAXPROCS") == "" && n > 1 && runtime.GOMAXPROCS(0) == n {
		runtime.GOMAXPROCS(n + 1)
	}
}
