package topicactor_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"legible.sh/mutex/internal/lease"
	"legible.sh/mutex/topicactor"
)

func watch(t *testing.T, a *topicactor.Actor, after string) *topicactor.Watch {
	t.Helper()
	w, err := a.Watch(t.Context(), after)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Unwatch(w) })
	return w
}

func TestWatcherSeesEverythingInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := start(t, &journal{})
		w := watch(t, a, "")
		if first := w.First(); len(first) != 1 || first[0].Status.Capacity != 0 {
			t.Fatalf("first: %+v", first)
		}
		held := must(t, a, acquire(1, 0))
		must(t, a, lease.Command{Op: lease.Renew, Token: held.Lease.Token})
		time.Sleep(time.Minute)
		for _, want := range []lease.Kind{lease.Granted, lease.Renewed, lease.Expired} {
			f := <-w.Frames()
			if f.Kind != want || f.Name != "w1" || f.Fence != 1 {
				t.Fatalf("want %v, got %+v", want, f)
			}
		}
	})
}

func TestWatcherResumes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := start(t, &journal{})
		w := watch(t, a, "")
		held := must(t, a, acquire(1, 0))
		seen := <-w.Frames()
		must(t, a, lease.Command{Op: lease.Release, Token: held.Lease.Token})
		missed := <-w.Frames()

		if first := watch(t, a, seen.ID).First(); len(first) != 1 || first[0] != missed {
			t.Fatalf("resumed with %+v", first)
		}
		if first := watch(t, a, missed.ID).First(); len(first) != 0 {
			t.Fatalf("missed nothing, but got %+v", first)
		}
		if first := watch(t, a, "another-7").First(); len(first) != 1 || first[0].Status == nil {
			t.Fatalf("an unknown epoch got %+v", first)
		}
	})
}

func TestSlowWatcherIsCutOffAndSlowsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := start(t, &journal{})
		slow, quick := watch(t, a, ""), watch(t, a, "")
		held := must(t, a, acquire(1, 0))
		<-quick.Frames()
		for range 100 {
			must(t, a, lease.Command{Op: lease.Renew, Token: held.Lease.Token})
			if f := <-quick.Frames(); f.Kind != lease.Renewed {
				t.Fatalf("the quick one got %+v", f)
			}
		}
		n := 0
		for range slow.Frames() {
			n++
		}
		if !errors.Is(slow.Err(), topicactor.ErrLagged) || n != 64 {
			t.Fatalf("the slow one ended after %d with %v", n, slow.Err())
		}
	})
}
