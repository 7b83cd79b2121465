package registry_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"legible.sh/mutex/internal/lease"
	"legible.sh/mutex/registry"
)

// TestALiveTopicIsSmall: what a held topic keeps beside its goroutine's stack. Most of it is fixed by size classes, so
// one more field can cost more than it looks like.
func TestALiveTopicIsSmall(t *testing.T) {
	const topics, most = 4000, 1900 // bytes a topic
	r := open(t, registry.Options{MaxTopics: topics, TopicIdle: time.Hour})
	before := heap()
	hold(t, r, topics)
	if got := (heap() - before) / topics; got > most {
		t.Errorf("a live topic keeps %d bytes, want at most %d", got, most)
	}
	if r.Len() != topics {
		t.Fatalf("%d topics", r.Len())
	}
}

// hold takes a lease on each of many topics.
func hold(t *testing.T, r *registry.Registry, topics int) {
	t.Helper()
	for i := range topics {
		c := lease.Command{Op: lease.Acquire, Token: tokenOf(i), TTL: time.Hour, Who: lease.Who{Name: "w"}}
		must(t, r, topicOf(i), c)
	}
}

func topicOf(i int) lease.Topic { return lease.Topic(fmt.Sprint("topic-", i)) }

func tokenOf(i int) (t lease.Token) {
	binary.LittleEndian.PutUint64(t[:], uint64(i+1))
	return t
}

// heap is what lives after a collection; pools keep what they hold through one.
func heap() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// TestManyNamesLeaveNothing: when many names were used and reaped, nothing is left that grows with their number. What the
// runtime keeps for goroutines to come grows with how many there were at once.
func TestManyNamesLeaveNothing(t *testing.T) {
	const names, atOnce, most = 20_000, 1_200, 100 // bytes a name
	var released atomic.Int32
	r := open(t, registry.Options{
		MaxTopics: atOnce, TopicIdle: 20 * time.Millisecond, Journal: forgetful{}, Release: func() { released.Add(1) },
	})
	before, goroutines := heap(), runtime.NumGoroutine()
	for i := range names {
		must(t, r, topicOf(i), acquire(1))
		must(t, r, topicOf(i), release(1))
	}
	ctx, cancel := context.WithCancel(t.Context())
	reaper := make(chan error, 1)
	go func() { reaper <- r.Run(ctx) }()
	until(t, "what they left is released", func() bool { return released.Load() > 0 })
	until(t, "all goroutines have ended but the reaper", func() bool { return runtime.NumGoroutine() <= goroutines+1 })
	if got := (heap() - before) / names; got > most {
		t.Errorf("%d bytes a name are left, want at most %d", got, most)
	}
	if n := r.Len(); n > 0 || released.Load() > 1 {
		t.Errorf("%d topics are left, memory was released %d times", n, released.Load())
	}
	cancel()
	if err := <-reaper; err != nil {
		t.Error(err)
	}
}

// forgetful is a journal that keeps no floors.
type forgetful struct{ *floors }

func (forgetful) Floor(lease.Topic, lease.Fence) {}

// until waits for a condition.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("never: " + what)
		}
	}
}
