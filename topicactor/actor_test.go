package topicactor_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"legible.sh/mutex/internal/lease"
	"legible.sh/mutex/topicactor"
)

const keep = 30 * time.Second

// start runs an actor in the bubble and stops it at the end; synctest fails the test if its goroutine stays.
func start(t *testing.T, j *journal) *topicactor.Actor {
	t.Helper()
	open := make(chan struct{})
	close(open)
	config := &topicactor.Config{Keep: keep, Journal: j, Gate: open}
	a := topicactor.Start("t", 0, config)
	t.Cleanup(func() {
		a.Stop()
		config.Wait()
	})
	return a
}

func token(n byte) lease.Token { return lease.Token{15: n} }

func do(t *testing.T, a *topicactor.Actor, c lease.Command) (*topicactor.Answer, error) {
	return a.Do(t.Context(), &c)
}

// acquire asks for a minute under token n.
func acquire(n byte, wait time.Duration) lease.Command {
	return lease.Command{
		Op: lease.Acquire, Token: token(n), TTL: time.Minute, Wait: wait, Who: lease.Who{Name: fmt.Sprint("w", n)},
	}
}

func must(t *testing.T, a *topicactor.Actor, c lease.Command) *topicactor.Answer {
	t.Helper()
	answer, err := a.Do(t.Context(), &c)
	if err != nil {
		t.Fatalf("%+v: %v", c, err)
	}
	return answer
}

func status(t *testing.T, a *topicactor.Actor) lease.Status {
	t.Helper()
	return must(t, a, lease.Command{Op: lease.Look}).Status
}

// result is what a goroutine's acquire came to.
type result struct {
	answer *topicactor.Answer
	err    error
}

func goAcquire(ctx context.Context, a *topicactor.Actor, c lease.Command) chan result {
	done := make(chan result, 1)
	go func() {
		answer, err := a.Do(ctx, &c)
		done <- result{answer, err}
	}()
	synctest.Wait()
	return done
}

func TestWaitersAreGrantedInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := start(t, &journal{})
		first := must(t, a, acquire(1, 0))
		second := goAcquire(t.Context(), a, acquire(2, time.Hour))
		third := goAcquire(t.Context(), a, acquire(3, time.Hour))
		must(t, a, lease.Command{Op: lease.Release, Token: first.Lease.Token})
		got := <-second
		if got.err != nil || got.answer.Lease.Fence != first.Lease.Fence+1 || !slices.Equal(got.answer.Holders, []string{"w2"}) {
			t.Fatalf("second: %+v", got)
		}
		if len(third) != 0 {
			t.Fatal("the third was answered while the second holds")
		}
		time.Sleep(time.Minute) // the second never renews
		if got := <-third; got.err != nil || got.answer.Lease.Fence != 3 {
			t.Fatalf("third: %+v", got)
		}
	})
}

func TestWaitIsOverAtItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := start(t, &journal{})
		must(t, a, acquire(1, 0))
		began := time.Now()
		_, err := do(t, a, acquire(2, 5*time.Second))
		var held *lease.HeldError
		if !errors.As(err, &held) || held.Kind != lease.ErrTimeout {
			t.Fatalf("got %v", err)
		}
		if waited := time.Since(began); waited != 5*time.Second {
			t.Fatalf("waited %v", waited)
		}
		if held.RetryAfter != 55*time.Second || !slices.Equal(held.Holders, []string{"w1"}) {
			t.Fatalf("facts: %+v", held)
		}
	})
}

// TestATimerThatFiresDuringATurnIsNotLost: the turn has read the clock just before the lease's end, and is put aside
// until after it. With many requests behind it, the timer finds no room in the mailbox.
func TestATimerThatFiresDuringATurnIsNotLost(t *testing.T) {
	for _, requests := range []int{1, 20} {
		t.Run(fmt.Sprint(requests), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := &journal{}
				a := start(t, j)
				must(t, a, acquire(1, 0))
				waiting := goAcquire(t.Context(), a, acquire(2, time.Hour))
				time.Sleep(time.Minute - time.Millisecond)
				synctest.Wait()
				j.set(func(j *journal) { j.pause = 2 * time.Millisecond })
				for range requests {
					go func() { _, _ = do(t, a, lease.Command{Op: lease.Look}) }()
				}
				time.Sleep(time.Second)
				synctest.Wait()
				if len(waiting) == 0 {
					t.Error("the lease has ended, and the next one still waits")
				}
			})
		})
	}
}

// TestWhoAbandonsDoesNotHideThatATopicIsIdle: an abandon may come when its asker has nothing to do with the topic any
// more, in the same turn in which the last lease ends.
func TestWhoAbandonsDoesNotHideThatATopicIsIdle(t *testing.T) {
	for range 100 { // chance decides which of the timer and the abandon comes first
		synctest.Test(t, func(t *testing.T) {
			open := make(chan struct{})
			close(open)
			var told atomic.Int32
			config := &topicactor.Config{Keep: keep, Journal: &journal{}, Gate: open, OnIdle: func(*topicactor.Actor) { told.Add(1) }}
			a := topicactor.Start("t", 0, config)
			must(t, a, acquire(1, 0))
			before := told.Load() // a topic is idle until it is first used
			time.Sleep(time.Minute)
			must(t, a, lease.Command{Op: lease.Abandon, Token: token(2)})
			synctest.Wait()
			if told.Load() != before+1 || !a.Idle() {
				t.Error("nobody was told that the topic is idle")
			}
			a.Stop()
			config.Wait()
		})
	}
}

func TestOneWhoGoesLeavesTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := start(t, &journal{})
		held := must(t, a, acquire(1, 0))
		ctx, cancel := context.WithCancel(t.Context())
		gone := goAcquire(ctx, a, acquire(2, time.Hour))
		cancel()
		if got := <-gone; !errors.Is(got.err, context.Canceled) {
			t.Fatalf("got %v", got.err)
		}
		if st := status(t, a); len(st.Waiters) != 0 {
			t.Fatalf("still waiting: %+v", st.Waiters)
		}
		must(t, a, lease.Command{Op: lease.Release, Token: held.Lease.Token})
		if st := status(t, a); len(st.Holders) != 0 {
			t.Fatalf("held by one who left: %+v", st.Holders)
		}
	})
}

func TestGrantThatWonTheRaceIsTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &journal{}
		a := start(t, j)
		gate := make(chan struct{})
		j.set(func(j *journal) { j.gate = gate })
		ctx, cancel := context.WithCancel(t.Context())
		// The grant is decided and lies at the disk when its asker goes.
		asked := goAcquire(ctx, a, acquire(1, time.Hour))
		cancel()
		synctest.Wait()
		close(gate)
		j.set(func(j *journal) { j.gate = nil })
		if got := <-asked; got.err == nil {
			t.Fatal("answered before the disk was done")
		}
		if st := status(t, a); len(st.Holders) != 0 {
			t.Fatalf("held by nobody: %+v", st.Holders)
		}
	})
}

func TestStopTellsEverybody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open := make(chan struct{})
		close(open)
		config := &topicactor.Config{Keep: keep, Journal: &journal{}, Gate: open}
		a := topicactor.Start("t", 0, config)
		must(t, a, acquire(1, 0))
		waiting := goAcquire(t.Context(), a, acquire(2, time.Hour))
		watch, err := a.Watch(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		a.Stop()
		if got := <-waiting; !errors.Is(got.err, topicactor.ErrStopped) {
			t.Fatalf("waiter: %v", got.err)
		}
		if _, ok := <-watch.Frames(); ok || !errors.Is(watch.Err(), topicactor.ErrStopped) {
			t.Fatalf("watcher: %v", watch.Err())
		}
		config.Wait()
		if _, err := do(t, a, acquire(3, 0)); !errors.Is(err, topicactor.ErrStopped) {
			t.Fatalf("later: %v", err)
		}
	})
}

// TestStopAnswersThoseWhoWaitForRoom: nobody is left in front of the full mailbox of an actor that ends.
func TestStopAnswersThoseWhoWaitForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		config := &topicactor.Config{Keep: keep, Journal: &journal{}, Gate: gate}
		a := topicactor.Start("t", 0, config)
		var senders sync.WaitGroup
		var refused atomic.Int32
		for range 500 { // many more than the mailbox and a turn have room for
			senders.Go(func() {
				if _, err := do(t, a, lease.Command{Op: lease.Look}); errors.Is(err, topicactor.ErrStopped) {
					refused.Add(1)
				}
			})
		}
		synctest.Wait()
		a.Stop()
		close(gate)
		senders.Wait()
		config.Wait()
		if refused.Load() == 0 {
			t.Fatal("all were served by an actor that was to stop")
		}
	})
}

func TestTakenOverWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := start(t, &journal{})
		held := must(t, a, acquire(1, 0))
		with := func(n byte) lease.Command {
			c := acquire(n, time.Hour)
			c.Key = lease.KeyOf("ticket")
			return c
		}
		older := goAcquire(t.Context(), a, with(2))
		newer := goAcquire(t.Context(), a, with(3))
		if got := <-older; !errors.Is(got.err, lease.ErrSuperseded) {
			t.Fatalf("older: %v", got.err)
		}
		must(t, a, lease.Command{Op: lease.Release, Token: held.Lease.Token})
		got := <-newer
		again := must(t, a, with(4))
		if got.err != nil || !again.Replayed || again.Lease.Token != got.answer.Lease.Token {
			t.Fatalf("newer %+v, again %+v", got, again)
		}
	})
}
