package journal_test

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strconv"
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

// house is a whole server but for its requests: registry, actors and journal, on a disk that fails now and then.
type house struct {
	t        *testing.T
	registry *registry.Registry
	file     *journal.File
	failing  atomic.Bool
	tokens   atomic.Int64

	mu       sync.Mutex // the chance, and what clients were promised
	chance   *rand.Rand
	fences   map[lease.Topic]lease.Fence
	promised map[lease.Topic]time.Time // to nobody else until then
}

// Clients take, wait, hang up, give up, give back and let lapse, while the disk fails for seconds at a time. Nobody is
// granted what another was promised, fences rise, nobody waits for longer than was asked, and in the end nothing is left.
func TestHouseOnADiskThatFails(t *testing.T) {
	for seed := range uint64(100) {
		synctest.Test(t, func(t *testing.T) {
			h := &house{t: t, chance: rand.New(rand.NewPCG(seed, 3)), fences: map[lease.Topic]lease.Fence{}, promised: map[lease.Topic]time.Time{}}
			h.run()
		})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func (h *house) run() {
	h.open()
	ctx, stop := context.WithCancel(context.Background())
	var parts, clients, weather sync.WaitGroup
	parts.Go(func() { _ = h.registry.Run(ctx) })
	parts.Go(func() { h.follow(ctx) })
	calm, settle := context.WithCancel(ctx)
	weather.Go(func() { h.storms(calm) })
	for range 8 {
		clients.Go(func() {
			for range 25 {
				h.client(lease.Topic("t" + strconv.Itoa(h.pick(4))))
			}
		})
	}
	clients.Wait()
	settle()
	weather.Wait()
	time.Sleep(30 * time.Second)
	_, held, waiting := h.registry.Load()
	if live := h.registry.Len(); live+held+waiting > 0 || h.file.Suspended() {
		h.t.Errorf("long after all is over, of %d topics %d are held and %d wait; healthy: %v", live, held, waiting, h.file.Healthy())
	}
	stop()
	parts.Wait()
	if err := errors.Join(h.registry.Stop(context.Background()), h.file.Close()); err != nil {
		h.t.Error(err)
	}
}

func (h *house) open() {
	d, begun := disktest.New(), time.Now()
	var err error
	h.file, _, err = journal.Open(dir, journal.Options{
		Keep: 5 * time.Second, Disk: d, Log: slog.New(slog.DiscardHandler), CompactAt: 8 << 10,
		Clock: func() journal.Reading { return journal.Reading{Now: time.Now(), Up: time.Since(begun), Boot: "one"} },
	})
	if err != nil {
		h.t.Fatal(err)
	}
	d.Fail = func(op disk.Op, _ string) error {
		switch {
		case h.failing.Load() && h.pick(4) == 0:
			return syscall.EIO
		case h.failing.Load() && op == disk.AppendAllocate:
			return syscall.ENOSPC
		}
		return nil
	}
	h.registry = registry.New(registry.Options{MaxTopics: 5, TopicIdle: 3 * time.Second, Keep: 5 * time.Second, Journal: h.file})
	h.registry.Open()
}

func (h *house) pick(n int) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.chance.IntN(n)
}

func (h *house) pause(millis int) { time.Sleep(time.Duration(h.pick(millis)) * time.Millisecond) }

// follow does what the server does with the journal's news.
func (h *house) follow(ctx context.Context) {
	for {
		select {
		case <-h.file.Changed():
			h.registry.Poke()
		case <-ctx.Done():
			return
		}
	}
}

func (h *house) storms(calm context.Context) {
	for calm.Err() == nil {
		h.pause(10_000)
		h.failing.Store(true)
		h.pause(3000)
		h.failing.Store(false)
	}
}

// client takes a topic once, and mostly gives it back.
func (h *house) client(topic lease.Topic) {
	number := int(h.tokens.Add(1))
	c := acquire(number)
	c.TTL, c.Wait = time.Duration(1+h.pick(5))*time.Second, time.Duration(h.pick(4))*time.Second
	if h.pick(3) == 0 {
		c.Key = lease.KeyOf(strconv.Itoa(number))
	}
	patience, hangUp := context.WithTimeout(context.Background(), time.Duration(1+h.pick(6000))*time.Millisecond)
	defer hangUp()
	begun := time.Now()
	answer, err := h.registry.Do(patience, topic, &c)
	if waited := time.Since(begun); waited > c.Wait+time.Second { // a second: appends wait a little for a broken disk
		h.t.Errorf("waited %v for %v: %v", waited, c.Wait, err)
	}
	if err != nil {
		_, _ = h.registry.Do(context.Background(), topic, &lease.Command{Op: lease.GiveUp, Key: c.Key})
		h.pause(500)
		return
	}
	h.granted(topic, &answer.Lease)
	h.pause(1500)
	if h.pick(5) == 0 {
		return
	}
	h.ends(topic, &answer.Lease)
	for range 5 {
		if _, err := h.registry.Do(context.Background(), topic, &lease.Command{Op: lease.Release, Token: c.Token}); !errors.Is(err, lease.ErrStorage) {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func (h *house) granted(topic lease.Topic, l *lease.Lease) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if l.Fence <= h.fences[topic] {
		h.t.Errorf("%s: fence %d after %d", topic, l.Fence, h.fences[topic])
	}
	if until := h.promised[topic]; l.Since.Before(until) {
		h.t.Errorf("%s: granted %v before another's time was over", topic, until.Sub(l.Since))
	}
	h.fences[topic], h.promised[topic] = l.Fence, l.Expires
}

// ends says that a lease is about to be given back.
func (h *house) ends(topic lease.Topic, l *lease.Lease) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.fences[topic] == l.Fence {
		delete(h.promised, topic)
	}
}
