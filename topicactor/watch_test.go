package topicactor_test

import (
	"errors"
	"slices"
	"strings"
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
		status := w.First()[0]
		held := must(t, a, acquire(1, 0))
		seen := <-w.Frames()
		must(t, a, lease.Command{Op: lease.Release, Token: held.Lease.Token})
		missed := <-w.Frames()

		if first := watch(t, a, status.ID).First(); !slices.Equal(first, []*topicactor.Frame{seen, missed}) {
			t.Fatalf("resumed behind the status with %+v", first)
		}
		if first := watch(t, a, seen.ID).First(); len(first) != 1 || first[0] != missed {
			t.Fatalf("resumed with %+v", first)
		}
		if first := watch(t, a, missed.ID).First(); len(first) != 0 {
			t.Fatalf("missed nothing, but got %+v", first)
		}
		epoch, _, _ := strings.Cut(status.ID, "-")
		for _, id := range []string{"another-7", epoch + "-3", epoch + "-x", epoch + "-", epoch} {
			if first := watch(t, a, id).First(); len(first) != 1 || first[0].Status == nil {
				t.Fatalf("%q, which nobody was given, got %+v", id, first)
			}
		}
		held = must(t, a, acquire(2, 0))
		for range 63 {
			must(t, a, lease.Command{Op: lease.Renew, Token: held.Lease.Token})
		}
		if first := watch(t, a, seen.ID).First(); len(first) != 1 || first[0].Status == nil {
			t.Fatalf("one who missed more than is kept got %+v", first)
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
