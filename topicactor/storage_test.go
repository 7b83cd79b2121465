package topicactor_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"legible.sh/mutex/internal/lease"
)

// journal is a disk that a test can stop and break.
type journal struct {
	mu        sync.Mutex
	kept      []lease.Event
	fail      error
	refused   int           // since fail was set
	gate      chan struct{} // when set, Append waits for it
	suspended bool
	pause     time.Duration // how long the next turn is put aside when it has read the clock and asked about suspension
}

func (j *journal) Append(_ lease.Topic, events []lease.Event) error {
	j.mu.Lock()
	gate := j.gate
	j.mu.Unlock()
	if gate != nil {
		<-gate
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.fail != nil {
		if j.refused++; j.refused > 1000 {
			panic("it is tried again and again")
		}
		return j.fail
	}
	for _, e := range events {
		if e.Durable() {
			j.kept = append(j.kept, e)
		}
	}
	return nil
}

func (j *journal) Recall(_ lease.Topic, now time.Time) []lease.Event {
	j.mu.Lock()
	defer j.mu.Unlock()
	var events []lease.Event
	for _, e := range j.kept {
		if e.Kind == lease.Enqueued {
			e.Token, e.Deadline = lease.Token{}, now.Add(keep)
		}
		events = append(events, e)
	}
	return events
}

func (j *journal) Suspended() bool {
	j.mu.Lock()
	pause, suspended := j.pause, j.suspended
	j.pause = 0
	j.mu.Unlock()
	time.Sleep(pause)
	return suspended
}

func (j *journal) set(change func(*journal)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	change(j)
}

func TestNothingIsSaidBeforeItIsSafe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &journal{}
		a := start(t, j)
		gate := make(chan struct{})
		j.set(func(j *journal) { j.gate = gate })
		asked := goAcquire(t.Context(), a, acquire(1, 0))
		looked := goAcquire(t.Context(), a, lease.Command{Op: lease.Look})
		if len(asked) != 0 || len(looked) != 0 {
			t.Fatal("answered while the disk was still writing")
		}
		close(gate)
		if got := <-asked; got.err != nil {
			t.Fatal(got.err)
		}
		if got := <-looked; got.err != nil || len(got.answer.Status.Holders) != 1 {
			t.Fatalf("looked: %+v", got)
		}
	})
}

func TestFailedAppendLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &journal{}
		a := start(t, j)
		held := must(t, a, acquire(1, 0))
		waiting := goAcquire(t.Context(), a, acquire(2, time.Hour))
		watch, err := a.Watch(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		defer a.Unwatch(watch)
		disk := errors.New("no space")
		j.set(func(j *journal) { j.fail = disk })

		_, err = do(t, a, lease.Command{Op: lease.Release, Token: held.Lease.Token})
		if !errors.Is(err, lease.ErrStorage) || !errors.Is(err, disk) {
			t.Fatalf("release: %v", err)
		}
		if got := <-waiting; !errors.Is(got.err, lease.ErrStorage) {
			t.Fatalf("the waiter was told %v", got.err)
		}
		f := <-watch.Frames()
		if f.Status == nil || len(f.Status.Holders) != 1 || f.Status.Holders[0].Who.Name != "w1" || len(watch.Frames()) != 0 {
			t.Fatalf("watchers saw %+v, and %d more", f, len(watch.Frames()))
		}
		j.set(func(j *journal) { j.fail = nil })
		if st := status(t, a); len(st.Holders) != 1 || len(st.Waiters) != 0 {
			t.Fatalf("after the failure: %+v", st)
		}
		must(t, a, lease.Command{Op: lease.Release, Token: held.Lease.Token})
		if next := must(t, a, acquire(3, 0)); next.Lease.Fence != 2 {
			t.Fatalf("fence %d", next.Lease.Fence)
		}
	})
}

// A journal that has no room for a grant wrote nothing: who asked is not told that the outcome is unknown.
func TestNoRoomForAGrantIsNoFailureOfStorage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &journal{fail: fmt.Errorf("%w: no room", lease.ErrSuspended)}
		a := start(t, j)
		if _, err := do(t, a, acquire(1, 0)); !errors.Is(err, lease.ErrSuspended) || errors.Is(err, lease.ErrStorage) {
			t.Fatalf("acquire: %v", err)
		}
		j.set(func(j *journal) { j.fail = nil })
		if g := must(t, a, acquire(2, 0)); g.Lease.Fence != 1 {
			t.Fatalf("fence %d", g.Lease.Fence)
		}
	})
}

// A lease that is over and cannot be ended, since the disk fails, is tried now and then, and at once when poked.
func TestOverdueLeaseDoesNotSpin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &journal{}
		a := start(t, j)
		must(t, a, acquire(1, 0))
		j.set(func(j *journal) { j.fail = errors.New("no space") })
		time.Sleep(time.Minute + 10*time.Second)
		var tried int
		j.set(func(j *journal) { j.fail = nil; tried = j.refused })
		if tried < 9 || tried > 11 {
			t.Fatalf("tried %d times in 10 s", tried)
		}
		a.Poke()
		synctest.Wait()
		if held, _ := a.Load(); held != 0 {
			t.Fatalf("%d held after the disk has come back", held)
		}
	})
}

func TestSuspendedGrantsResumeWhenPoked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &journal{}
		a := start(t, j)
		held := must(t, a, acquire(1, 0))
		waiting := goAcquire(t.Context(), a, acquire(2, time.Hour))
		j.set(func(j *journal) { j.suspended = true })
		must(t, a, lease.Command{Op: lease.Release, Token: held.Lease.Token})
		if _, err := do(t, a, acquire(3, 0)); !errors.Is(err, lease.ErrSuspended) {
			t.Fatalf("acquire: %v", err)
		}
		if len(waiting) != 0 {
			t.Fatal("granted while suspended")
		}
		j.set(func(j *journal) { j.suspended = false })
		a.Poke()
		if got := <-waiting; got.err != nil {
			t.Fatal(got.err)
		}
	})
}

// TestAPokeDuringATurnIsNotLost: the turn has asked whether grants are suspended just before they no longer were, and is
// put aside until it has been poked. With many requests behind it, the poke finds no room in the mailbox.
func TestAPokeDuringATurnIsNotLost(t *testing.T) {
	for _, requests := range []int{1, 20} {
		t.Run(fmt.Sprint(requests), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := &journal{}
				a := start(t, j)
				held := must(t, a, acquire(1, 0))
				waiting := goAcquire(t.Context(), a, acquire(2, time.Hour))
				j.set(func(j *journal) { j.suspended = true })
				must(t, a, lease.Command{Op: lease.Release, Token: held.Lease.Token})
				time.Sleep(time.Second) // until the topic is quiet
				j.set(func(j *journal) { j.pause = time.Millisecond })
				for range requests {
					go func() { _, _ = do(t, a, lease.Command{Op: lease.Look}) }()
				}
				synctest.Wait()
				j.set(func(j *journal) { j.suspended = false })
				a.Poke()
				time.Sleep(time.Second)
				synctest.Wait()
				if len(waiting) == 0 {
					t.Error("grants are made again, and one who waits has none")
				}
			})
		})
	}
}
