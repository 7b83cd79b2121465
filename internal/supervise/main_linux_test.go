package supervise_test

import (
	"os"
	"os/signal"
	"syscall"
	"testing"

	"legible.sh/mutex/internal/supervise"
)

// TestMain makes the test binary what the tests need besides: a guard, and a program that runs a command under a
// lease kept in a directory (see lease_linux_test.go).
func TestMain(m *testing.M) {
	supervise.WatcherMain()
	if order, ok := os.LookupEnv(orderVar); ok {
		os.Exit(helper(order))
	}
	hearWhatIsIgnored()
	os.Exit(m.Run())
}

// hearWhatIsIgnored has the supervisors start without the ignored signals that a script hands to what it puts in the
// background, these tests for one: the supervisor rightly leaves those ignored.
func hearWhatIsIgnored() {
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP} {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig) // what is caught is not ignored after an exec
		}
	}
}
