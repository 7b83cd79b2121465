package journal_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"legible.sh/mutex/internal/journal"
	"legible.sh/mutex/internal/lease"
)

// left is how long the only lease of topic x still lives, by its own reckoning.
func (w *world) left() time.Duration {
	holders := w.topic("x").state.Status().Holders
	if len(holders) != 1 {
		return 0
	}
	return holders[0].Expires.Sub(w.clock.now())
}

// A lease lives through a restart to the time it was promised.
func TestLeaseLivesToItsTime(t *testing.T) {
	w := newWorld(t)
	w.open()
	w.topic("x").acquire(1)
	w.kill()
	w.clock.pass(45 * time.Second)
	w.open()
	if got := w.left(); got != 15*time.Second {
		t.Errorf("%v left, want 15 s", got)
	}
	w.close()
}

// A wall clock that is set, while a server runs or while none does, changes nothing of how long leases live, and is
// logged. What tells is the clock that nobody sets.
func TestWallClockIsSet(t *testing.T) {
	for _, by := range []time.Duration{time.Hour, -time.Hour} {
		for _, when := range []string{"while down", "while up", "while up, and a crash"} {
			t.Run(when+" by "+by.String(), func(t *testing.T) {
				w := newWorld(t)
				w.open()
				w.topic("x").acquire(1)
				w.clock.pass(20 * time.Second)
				switch when {
				case "while down":
					w.kill()
					w.clock.set(by)
					w.open()
				case "while up":
					w.clock.set(by)
					w.topic("y").acquire(2) // the next commit notices
					if got := w.left(); got != 40*time.Second {
						t.Errorf("%v left for an actor that is rebuilt, want 40 s", got)
					}
					w.restart()
				default:
					w.clock.set(by)
					w.restart() // nothing was committed since
				}
				if got := w.left(); got != 40*time.Second {
					t.Errorf("%v left, want 40 s", got)
				}
				if !strings.Contains(w.log.String(), "the wall clock was set") {
					t.Errorf("not logged: %s", w.log)
				}
				w.clock.pass(10 * time.Second)
				w.restart()
				if got := w.left(); got != 30*time.Second {
					t.Errorf("%v left after one more restart, want 30 s", got)
				}
				w.close()
			})
		}
	}
}

// On another boot only the wall clock is left to judge by. One that was set back never lengthens a lease by more than
// its ttl, however many restarts follow.
func TestWallClockBackOnAnotherBoot(t *testing.T) {
	w := newWorld(t)
	w.open()
	w.topic("x").acquire(1)
	w.topic("x").must(lease.Command{Op: lease.Renew, Token: token(1), TTL: 10 * time.Second})
	w.kill()
	w.clock.set(-24 * time.Hour)
	w.clock.boot = "two"
	w.open()
	if got := w.left(); got != 10*time.Second {
		t.Errorf("%v left, want the whole ttl", got)
	}
	for range 3 {
		w.clock.pass(3 * time.Second)
		w.restart()
	}
	if got := w.left(); got != time.Second {
		t.Errorf("%v left after 9 s, want 1 s", got)
	}
	w.clock.pass(time.Second)
	w.restart()
	if got := w.left(); got != 0 {
		t.Errorf("%v left", got)
	}
	w.close()
}

// What a time service corrects little by little is no step.
func TestSlewIsNoStep(t *testing.T) {
	w := newWorld(t)
	w.open()
	p := w.topic("x")
	p.acquire(1)
	w.clock.set(300 * time.Millisecond)
	p.must(lease.Command{Op: lease.Renew, Token: token(1)})
	if strings.Contains(w.log.String(), "was set") {
		t.Errorf("logged: %s", w.log)
	}
	w.close()
}

// What the journal tells between two commits goes by the clock that was just set: an actor is rebuilt after a grant was
// refused, or while nothing can be written, and no commit has noticed by then.
func TestWallClockIsSetWithoutACommit(t *testing.T) {
	for _, by := range []time.Duration{time.Hour, -time.Hour} {
		w := newWorld(t)
		w.open()
		w.topic("x").acquire(1)
		w.clock.pass(20 * time.Second)
		w.clock.set(by)
		if got := w.left(); got != 40*time.Second {
			t.Errorf("set by %v: %v left for an actor that is rebuilt, want 40 s", by, got)
		}
		w.close()
	}
}

// A key that was spent just now stays so in a new file, however far ahead the wall clock was set before that was made.
func TestWallClockIsSetBeforeANewFile(t *testing.T) {
	w := newWorld(t)
	w.open()
	key := lease.KeyOf("k")
	c := acquire(1)
	c.Key = key
	p := w.topic("x")
	p.must(c)
	p.must(lease.Command{Op: lease.Release, Token: c.Token})
	w.clock.set(time.Hour)
	if err := w.disk.Remove("test", path); err != nil { // noticed before the next record, and so before the clock
		t.Fatal(err)
	}
	w.topic("y").acquire(2)
	w.restart()
	c.Token = token(3)
	if _, err := w.topic("x").do(c); !errors.Is(err, lease.ErrKeySpent) {
		t.Errorf("got %v, want ErrKeySpent", err)
	}
	w.close()
}

// A grant or renewal that waits for the disk while the wall clock is set keeps its time as well: it was decided by the clock
// that was, and stands in the file behind the record that says the new one.
func TestWallClockIsSetWhileAnAppendWaits(t *testing.T) {
	for _, by := range []time.Duration{time.Hour, -time.Hour} {
		w := newWorld(t)
		hung := w.syncThatHangs()
		w.open()
		hung.armed.Store(true)
		var done sync.WaitGroup
		done.Go(func() { w.topic("other").acquire(1) })
		<-hung.reached
		done.Go(func() { w.topic("x").acquire(2) })
		eventually(t, "the grant waits", func() bool { return journal.Queued(w.file) == 1 })
		w.clock.set(by)
		close(hung.letGo)
		done.Wait()
		for range 2 {
			if got := w.left(); got != time.Minute {
				t.Errorf("set by %v: %v left, want a minute", by, got)
			}
			w.restart()
		}
		w.close()
	}
}

// Nor does it matter that another topic's commit has noticed already when it comes into the queue.
func TestWallClockIsSetBeforeAnAppend(t *testing.T) {
	w := newWorld(t)
	w.open()
	c := acquire(2)
	_, events, err := w.topic("x").state.Step(&c, w.clock.now(), nil)
	if err != nil {
		t.Fatal(err)
	}
	w.clock.set(time.Hour)
	w.topic("y").acquire(1)
	if err := w.file.Append("x", events); err != nil {
		t.Fatal(err)
	}
	w.restart()
	if got := w.left(); got != time.Minute {
		t.Errorf("%v left, want a minute", got)
	}
	w.close()
}
