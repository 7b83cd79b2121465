package dirstore_test

import (
	"syscall"
	"testing"
	"time"

	"legible.sh/mutex/internal/locker"
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

// TestASleepIsNobodysSilence: when the machine wakes up, nobody has shown yet that it goes on.
func TestASleepIsNobodysSilence(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	acquire(t, s, "k", time.Minute)
	enqueue(t, s, "k", "first")
	late := open(t, dir)
	late.Slept(10 * time.Minute)
	if st := status(t, late, "k"); st.State != locker.Expired || st.Waiting != 1 || st.Waiters[0].Away {
		t.Errorf("%+v", st)
	}
}
