package registry_test

import (
	"encoding/binary"
	"fmt"
	"runtime"
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
		c := lease.Command{Op: lease.Acquire, TTL: time.Hour, Who: lease.Who{Name: "w"}}
		binary.LittleEndian.PutUint64(c.Token[:], uint64(i+1))
		must(t, r, lease.Topic(fmt.Sprint("topic-", i)), c)
	}
}

// heap is what lives after a collection; pools keep what they hold through one.
func heap() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
