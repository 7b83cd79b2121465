//go:build unix

package dirstore_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func (a *actor) signal(t testing.TB, sig syscall.Signal) {
	t.Helper()
	if err := a.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
}

// TestTheStoppedLoseTheirPlace: one who is stopped holds the queue up, but not for ever. When it goes on, it stands at
// the end.
func TestTheStoppedLoseTheirPlace(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	g := acquire(t, s, "k", time.Minute)
	first := enqueue(t, s, "k", "first")
	first.signal(t, syscall.SIGSTOP)
	enqueue(t, s, "k", "second")
	release(t, s, g)
	if st := status(t, s, "k"); st.Waiting != 2 || st.Waiters[0].Away {
		t.Fatalf("one who is stopped keeps its place at first: %+v", st)
	}
	age(t, dir, "first", 6*time.Minute)
	eventually(t, "the second was granted", func() bool { return order(dir) == "second" })
	first.signal(t, syscall.SIGCONT)
	eventually(t, "the first goes on", func() bool { return order(dir) == "second first" })
}

// age sets a waiter's heartbeat back.
func age(t testing.TB, dir, _ string, by time.Duration) {
	t.Helper()
	places, err := filepath.Glob(filepath.Join(dir, "locks", "k", "queue", "*.json"))
	if err != nil || len(places) == 0 {
		t.Fatal(places, err)
	}
	then := time.Now().Add(-by)
	if err := os.Chtimes(places[0], then, then); err != nil { // the first in line
		t.Fatal(err)
	}
}
