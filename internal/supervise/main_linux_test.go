package supervise_test

import (
	"os"
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
	os.Exit(m.Run())
}
