package dirstore_test

import (
	"syscall"
	"testing"
	"time"
)

// TestDeathWakesTheNext: when the one ahead dies in the queue, the key being free, nothing but its death says so.
func TestDeathWakesTheNext(t *testing.T) {
	s := open(t, t.TempDir())
	g := acquire(t, s, "k", time.Minute)
	first := enqueue(t, s, "k", "first")
	first.signal(t, syscall.SIGSTOP)
	waiter := open(t, s.Dir())
	waiter.OnlyNotified()
	granted := make(chan error, 1)
	go func() {
		_, err := waiter.Acquire(t.Context(), "k", forever)
		granted <- err
	}()
	eventually(t, "both wait", func() bool { return status(t, s, "k").Waiting == 2 })
	release(t, s, g) // wakes the first, who does not stir
	first.kill(t)
	within(t, granted)
}
