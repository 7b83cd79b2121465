package journal_test

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"legible.sh/mutex/internal/journal"
	"legible.sh/mutex/internal/journal/disk"
	"legible.sh/mutex/internal/journal/disktest"
	"legible.sh/mutex/internal/lease"
	"legible.sh/mutex/registry"
)

// town is a server that is stopped, killed and started again, on a disk that is full or fails now and then and a machine whose wall
// clock is set, with clients that outlive all that and remember what they were promised.
type town struct {
	t        *testing.T
	begun    time.Time
	disk     *disktest.Disk
	file     *journal.File
	registry *registry.Registry
	failing  atomic.Bool
	numbers  int

	mu     sync.RWMutex // the wall clock, and all below
	offset time.Duration
	set    time.Time
	chance *rand.Rand
	fences map[lease.Topic]lease.Fence
}

// townKeep is how long keys are remembered here, slack what times lose on their way through a file and past a set clock.
const (
	townKeep = 5 * time.Second
	slack    = 20 * time.Millisecond
)

// What was promised holds, whatever becomes of server, disk and clock: fences rise, a lease lives to its time and no longer,
// what was released stays so, a spent key is refused, a repeated acquire gets its lease, and who waits is answered in time.
func TestTown(t *testing.T) {
	for seed := range uint64(60) {
		synctest.Test(t, func(t *testing.T) {
			w := &town{t: t, begun: time.Now(), disk: disktest.New(), chance: rand.New(rand.NewPCG(seed, 11)), fences: map[lease.Topic]lease.Fence{}}
			w.run()
		})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func (w *town) run() {
	clients := make([]*citizen, 6)
	for n := range clients {
		clients[n] = &citizen{town: w}
	}
	for range 8 {
		w.open()
		ctx, stop := context.WithCancel(context.Background())
		var parts, busy sync.WaitGroup
		parts.Go(func() { _ = w.registry.Run(ctx) })
		parts.Go(func() { w.follow(ctx) })
		parts.Go(func() { w.weather(ctx) })
		for _, c := range clients {
			busy.Go(c.live)
		}
		w.pause(12_000)
		var next *disktest.Disk
		if w.pick(2) == 0 {
			next = w.disk.Kill()
		}
		_ = w.registry.Stop(context.Background())
		busy.Wait()
		stop()
		parts.Wait()
		_ = w.file.Close() // of no matter on a disk that is gone
		if next == nil {
			next = w.disk.Kill()
		}
		w.disk = next
		w.pause(3000)
	}
}

func (w *town) open() {
	var boot *journal.Boot
	var err error
	w.failing.Store(false)
	w.disk.Fail = func(disk.Op, string) error {
		if w.failing.Load() && w.pick(4) == 0 {
			return syscall.EIO
		}
		return nil
	}
	w.file, boot, err = journal.Open(dir, journal.Options{
		Keep: townKeep, Disk: w.disk, Log: slog.New(slog.DiscardHandler), CompactAt: 8 << 10, Blanks: 4 << 10, Clock: w.clock,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.registry = registry.New(registry.Options{
		MaxTopics: 5, TopicIdle: 2 * time.Second, Keep: townKeep, Journal: onWall{w.file, w}, Floor: boot.Floor, Topics: boot.Topics,
	})
	w.registry.Open()
}

func (w *town) clock() journal.Reading {
	return journal.Reading{Now: time.Now().Add(w.off()), Up: time.Since(w.begun), Boot: "one"}
}

func (w *town) off() time.Duration {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.offset
}

// onWall gives the journal the actors' times as the wall clock has them, which a test cannot set.
type onWall struct {
	*journal.File
	town *town
}

func (j onWall) Append(topic lease.Topic, events []lease.Event) error {
	events = moved(events, j.town.off())
	if j.town.pick(50) == 0 {
		j.town.setClock() // while this was on its way
	}
	return j.File.Append(topic, events)
}

func (j onWall) Recall(topic lease.Topic, now time.Time) []lease.Event {
	for {
		off := j.town.off()
		if events := j.File.Recall(topic, now.Add(off)); off == j.town.off() {
			return moved(events, -off)
		}
	}
}

func moved(events []lease.Event, by time.Duration) []lease.Event {
	events = slices.Clone(events)
	for i := range events {
		e := &events[i]
		for _, t := range []*time.Time{&e.At, &e.Since, &e.Enqueued, &e.Expires, &e.Renewed, &e.Deadline} {
			if !t.IsZero() {
				*t = t.Add(by)
			}
		}
	}
	return events
}

func (w *town) pick(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.chance.IntN(n)
}

func (w *town) pause(millis int) { time.Sleep(time.Duration(1+w.pick(millis)) * time.Millisecond) }

func (w *town) follow(ctx context.Context) {
	for {
		select {
		case <-w.file.Changed():
			w.registry.Poke()
		case <-ctx.Done():
			return
		}
	}
}

// weather fills the disk, makes room again, sets the clock, and has the disk fail for a while.
func (w *town) weather(ctx context.Context) {
	for ctx.Err() == nil {
		w.pause(3000)
		switch w.pick(3) {
		case 0:
			w.disk.Limit(w.disk.Used() + int64(w.pick(3000)))
		case 1:
			w.disk.Limit(0)
		default:
			w.setClock()
		}
		w.failing.Store(w.pick(4) == 0)
	}
}

// setClock sets the wall clock, but not twice while one request may be on its way: nobody could tell between which of the two.
func (w *town) setClock() {
	by := time.Duration(w.pick(240)-120) * time.Minute
	w.mu.Lock()
	defer w.mu.Unlock()
	if time.Since(w.set) > 2*time.Second {
		w.offset, w.set = w.offset+by, time.Now()
	}
}

// granted looks at a fence that was told.
func (w *town) granted(topic lease.Topic, fence lease.Fence) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if fence <= w.fences[topic] {
		w.t.Errorf("%s: fence %d after %d", topic, fence, w.fences[topic])
	}
	w.fences[topic] = fence
}
