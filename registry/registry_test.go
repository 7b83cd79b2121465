package registry_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"legible.sh/mutex/internal/lease"
	"legible.sh/mutex/registry"
	"legible.sh/mutex/topicactor"
)

// floors remembers what the registry asked the journal to keep.
type floors struct {
	mu   sync.Mutex
	kept map[lease.Topic]lease.Fence
}

func (*floors) Append(lease.Topic, []lease.Event) error     { return nil }
func (*floors) Recall(lease.Topic, time.Time) []lease.Event { return nil }
func (*floors) Suspended() bool                             { return false }
func (f *floors) Floor(t lease.Topic, fence lease.Fence) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.kept == nil {
		f.kept = make(map[lease.Topic]lease.Fence)
	}
	f.kept[t] = fence
}

// open gives a registry that is stopped when the test ends.
func open(t *testing.T, o registry.Options) *registry.Registry {
	t.Helper()
	if o.Journal == nil {
		o.Journal = &floors{}
	}
	o.Keep = 30 * time.Second
	r := registry.New(o)
	r.Open()
	t.Cleanup(func() {
		if err := r.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return r
}

func do(ctx context.Context, r *registry.Registry, topic lease.Topic, c lease.Command) (*topicactor.Answer, error) {
	return r.Do(ctx, topic, &c)
}

func acquire(n byte) lease.Command {
	return lease.Command{Op: lease.Acquire, Token: lease.Token{15: n}, TTL: time.Minute, Who: lease.Who{Name: "w"}}
}

func release(n byte) lease.Command {
	return lease.Command{Op: lease.Release, Token: lease.Token{15: n}}
}

func must(t *testing.T, r *registry.Registry, topic lease.Topic, c lease.Command) *topicactor.Answer {
	t.Helper()
	a, err := r.Do(t.Context(), topic, &c)
	if err != nil {
		t.Fatalf("%s %+v: %v", topic, c, err)
	}
	return a
}

func TestTheCapRefusesOnlyWhenNothingCanBeReaped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, registry.Options{MaxTopics: 2, TopicIdle: time.Hour})
		must(t, r, "a", acquire(1))
		must(t, r, "b", acquire(2))
		if _, err := do(t.Context(), r, "c", acquire(3)); !errors.Is(err, registry.ErrTopicLimit) {
			t.Fatalf("a third topic: %v", err)
		}
		must(t, r, "a", release(1))
		must(t, r, "c", acquire(3))
		if r.Len() != 2 {
			t.Fatalf("%d topics", r.Len())
		}
	})
}

func TestFencesNeverStartOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &floors{}
		r := open(t, registry.Options{MaxTopics: 1, TopicIdle: time.Hour, Journal: j})
		for n := range byte(5) {
			must(t, r, "a", acquire(n+1))
			must(t, r, "a", release(n+1))
		}
		if got := must(t, r, "b", acquire(9)); got.Lease.Fence != 6 {
			t.Fatalf("b starts at %d", got.Lease.Fence)
		}
		must(t, r, "b", release(9))
		if got := must(t, r, "a", acquire(10)); got.Lease.Fence != 7 {
			t.Fatalf("a goes on at %d", got.Lease.Fence)
		}
		if j.kept["a"] != 5 || j.kept["b"] != 6 {
			t.Fatalf("kept %v", j.kept)
		}
	})
}

func TestIdleTopicsAreReapedAfterTheSpell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, registry.Options{MaxTopics: 10, TopicIdle: time.Hour})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ctx) }()
		must(t, r, "released", acquire(1))
		must(t, r, "released", release(1))
		must(t, r, "expires", acquire(2))
		time.Sleep(59 * time.Minute)
		if r.Len() != 2 {
			t.Fatalf("%d topics before the spell is over", r.Len())
		}
		time.Sleep(4 * time.Minute)
		if r.Len() != 0 {
			t.Fatalf("%d topics after it", r.Len())
		}
		cancel()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	})
}

// TestLookingIsNoUse lets a dashboard look all the time.
func TestLookingIsNoUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, registry.Options{MaxTopics: 2, TopicIdle: time.Hour})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ctx) }()
		for n, topic := range []lease.Topic{"older", "newer"} {
			must(t, r, topic, acquire(byte(n+1)))
			must(t, r, topic, release(byte(n+1)))
			time.Sleep(time.Minute)
		}
		must(t, r, "older", lease.Command{Op: lease.Look})
		must(t, r, "third", acquire(3)) // at the cap: the one that was idle for longest goes
		if a := must(t, r, "newer", lease.Command{Op: lease.Look}); a.Status.Capacity != 1 {
			t.Error("the one that was used last went")
		}
		for range 2 * 60 {
			time.Sleep(time.Minute)
			if _, err := r.List(ctx, ""); err != nil {
				t.Fatal(err)
			}
		}
		if r.Len() != 0 {
			t.Errorf("%d topics stay because they are looked at", r.Len())
		}
		cancel()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	})
}

func TestReadingMakesNoTopic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, registry.Options{MaxTopics: 10, TopicIdle: time.Hour})
		if a := must(t, r, "a", lease.Command{Op: lease.Look}); a.Status.Capacity != 0 {
			t.Fatalf("%+v", a.Status)
		}
		if _, err := do(t.Context(), r, "a", release(1)); !errors.Is(err, lease.ErrGone) {
			t.Fatalf("release: %v", err)
		}
		_, unwatch, err := r.Watch(t.Context(), "a", "")
		if err != nil {
			t.Fatal(err)
		}
		if list, _ := r.List(t.Context(), ""); len(list) != 0 {
			t.Fatalf("listed: %+v", list)
		}
		unwatch()
		if r.Len() != 0 {
			t.Fatal("a topic that was only watched stays")
		}
	})
}

func TestWatchedAndWaitedForTopicsStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, registry.Options{MaxTopics: 10, TopicIdle: time.Hour})
		must(t, r, "a", acquire(1))
		_, unwatch, err := r.Watch(t.Context(), "a", "")
		if err != nil {
			t.Fatal(err)
		}
		must(t, r, "a", release(1))
		if n := r.Prune(); n != 0 {
			t.Fatalf("pruned %d while watched", n)
		}
		unwatch()
		if n := r.Prune(); n != 1 {
			t.Fatalf("pruned %d", n)
		}
	})
}

func TestSpentKeysOutliveThePrune(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, registry.Options{MaxTopics: 10, TopicIdle: time.Hour})
		key := lease.KeyOf("ticket")
		must(t, r, "a", lease.Command{Op: lease.GiveUp, Key: key})
		r.Prune()
		late := acquire(1)
		late.Key = key
		if _, err := r.Do(t.Context(), "a", &late); !errors.Is(err, lease.ErrKeySpent) {
			t.Fatalf("a late duplicate: %v", err)
		}
		time.Sleep(31 * time.Second)
		synctest.Wait()
		if r.Len() != 0 {
			t.Fatal("a topic that never granted anything stays after its key was forgotten")
		}
	})
}

// TestUseAgainstReaping hammers few names through a cap of one: every cycle reaps what another has just used.
func TestUseAgainstReaping(t *testing.T) {
	r := open(t, registry.Options{MaxTopics: 2, TopicIdle: time.Hour})
	var (
		mu   sync.Mutex
		seen = make(map[lease.Topic]lease.Fence)
		work sync.WaitGroup
	)
	for g := range byte(8) {
		work.Go(func() {
			for i := range 500 {
				topic := lease.Topic(fmt.Sprint("t", i%3))
				a, err := do(t.Context(), r, topic, acquire(g+1))
				if err != nil {
					continue // busy, or the cap
				}
				mu.Lock()
				if a.Lease.Fence <= seen[topic] {
					t.Errorf("%s: fence %d after %d", topic, a.Lease.Fence, seen[topic])
				}
				seen[topic] = a.Lease.Fence
				mu.Unlock()
				if _, err := do(t.Context(), r, topic, release(g+1)); err != nil {
					t.Errorf("%s: a lease was lost: %v", topic, err)
				}
			}
		})
	}
	work.Wait()
}

func BenchmarkCycle(b *testing.B) {
	r := registry.New(registry.Options{MaxTopics: 10, TopicIdle: time.Hour, Keep: time.Minute, Journal: &floors{}})
	r.Open()
	defer func() { _ = r.Stop(context.Background()) }()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := do(b.Context(), r, "a", acquire(1)); err != nil {
			b.Fatal(err)
		}
		if _, err := do(b.Context(), r, "a", release(1)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkList10000(b *testing.B) {
	r := registry.New(registry.Options{MaxTopics: 10_000, TopicIdle: time.Hour, Keep: time.Minute, Journal: &floors{}})
	r.Open()
	defer func() { _ = r.Stop(context.Background()) }()
	for i := range 10_000 {
		if _, err := do(b.Context(), r, lease.Topic(fmt.Sprint("t", i)), acquire(1)); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if all, err := r.List(b.Context(), ""); err != nil || len(all) != 10_000 {
			b.Fatal(len(all), err)
		}
	}
}
