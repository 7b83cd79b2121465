package journal_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"legible.sh/mutex/internal/journal"
	"legible.sh/mutex/internal/journal/disk"
	"legible.sh/mutex/internal/lease"
)

// openFull opens a journal on a small disk, and fills that with leases. It is not compacted: the room must do without.
func (w *world) openFull() (held []*topic) {
	w.t.Helper()
	w.disk.Limit(4 << 20)
	w.options.CompactAt = 1 << 40
	w.open()
	return w.fillUp()
}

// fillUp takes leases until no more are granted, and gives them.
func (w *world) fillUp() (held []*topic) {
	w.t.Helper()
	for n := 0; ; n++ {
		if n == 10_000 {
			w.t.Fatal("the disk never got full")
		}
		p := w.topic(lease.Topic(fmt.Sprint("t", n)))
		_, err := p.do(acquire(n))
		if errors.Is(err, journal.ErrStorage) || errors.Is(err, lease.ErrSuspended) {
			return held
		}
		if err != nil {
			w.t.Fatal(err)
		}
		held = append(held, p)
	}
}

// anHour renews all leases for an hour, at a third of their ttl, and releases them.
func (w *world) anHour(held []*topic) {
	w.t.Helper()
	for range 180 {
		w.clock.pass(20 * time.Second)
		for n, p := range held {
			p.must(lease.Command{Op: lease.Renew, Token: token(n)})
		}
	}
	for n, p := range held {
		p.must(lease.Command{Op: lease.Release, Token: token(n)})
	}
}

// On a full disk grants are refused first; every lease that was granted can be renewed for an hour and released, and
// when there is room again grants go on by themselves.
func TestFullDisk(t *testing.T) {
	w := newWorld(t)
	held := w.openFull()
	if len(held) < 50 {
		t.Errorf("only %d leases on an empty disk of 4 MiB", len(held))
	}
	w.disk.Limit(w.disk.Used()) // others took the rest
	<-w.file.Changed()
	if !w.file.Suspended() || w.file.Healthy() == nil {
		t.Error("not suspended on a full disk")
	}
	w.anHour(held)
	w.disk.Limit(64 << 20)
	eventually(t, "grants go on", func() bool { return !w.file.Suspended() })
	<-w.file.Changed()
	w.topic("again").acquire(1)
	if err := w.file.Healthy(); err != nil {
		t.Error(err)
	}
	w.close()
	w.open()
	if len(w.boot.Topics) != len(held)+1 {
		t.Errorf("%d topics after a restart, want %d", len(w.boot.Topics), len(held)+1)
	}
	w.close()
}

// A disk that stays full is looked at again and again, and spoken of once.
func TestFullDiskIsSpokenOfOnce(t *testing.T) {
	w := newWorld(t)
	w.options.CompactAt = 1 << 40
	var full atomic.Bool
	var asked atomic.Int64
	w.disk.Fail = func(op disk.Op, _ string) error {
		if op != disk.AppendAllocate || !full.Load() {
			return nil
		}
		asked.Add(1)
		return syscall.ENOSPC
	}
	w.open()
	defer w.close()
	for turn := range 2 {
		full.Store(true)
		asked.Store(0)
		held := w.fillUp()
		eventually(t, "it asks a third time", func() bool { return asked.Load() > 2*2 }) // twice each time
		if n := strings.Count(w.log.String(), "no more room"); n != turn+1 {
			t.Errorf("said %d times, want %d:\n%s", n, turn+1, w.log)
		}
		full.Store(false)
		eventually(t, "there is room again", func() bool { return !w.file.Suspended() })
		for n, p := range held {
			p.must(lease.Command{Op: lease.Release, Token: token(n)})
		}
	}
}

// On a full disk a lease with a short ttl has more room set aside than any margin. That each grant of one suspends must
// not mean that each release resumes, a thousand times a second, and wakes all topics.
func TestFullDiskDoesNotFlap(t *testing.T) {
	w := newWorld(t)
	w.disk.Limit(4 << 20)
	w.options.CompactAt = 1 << 40
	w.open()
	defer w.close()
	short := acquire(10_000)
	short.TTL = 5 * time.Second
	p := w.topic("short")
	if _, err := p.do(short); err != nil {
		t.Fatal(err)
	}
	w.fillUp()
	w.disk.Limit(w.disk.Used())
	eventually(t, "grants are suspended", w.file.Suspended)
	p.must(lease.Command{Op: lease.Release, Token: short.Token})
	if !w.file.Suspended() {
		t.Error("a release resumed grants at once")
	}
	eventually(t, "grants go on with the next look for room", func() bool { return !w.file.Suspended() })
}

// A grant that is on its way when room runs out, before anybody was told to stop, is refused if what it would need is not
// there, and the others are told to stop: the turn that was refused may have held a release too, which is to go on. What is
// appended beside it is not refused.
func TestGrantOnItsWay(t *testing.T) {
	w := newWorld(t)
	w.disk.Limit(4 << 20)
	w.open()
	p := w.topic("x")
	p.acquire(1)
	var many []lease.Event
	for n := range 200 { // room for an hour of all of them is more than the disk has
		e := granted(100+n, w.clock.now())
		e.Fence, e.Capacity = lease.Fence(1+n), 200
		many = append(many, e)
	}
	if err := w.file.Append("many", many); !errors.Is(err, lease.ErrSuspended) || errors.Is(err, journal.ErrStorage) {
		t.Errorf("got %v, want ErrSuspended, for nothing was written", err)
	}
	eventually(t, "nobody is granted", w.file.Suspended)
	if events := w.file.Recall("many", w.clock.now()); events != nil {
		t.Errorf("of a refused grant %d events are known", len(events))
	}
	p.must(lease.Command{Op: lease.Renew, Token: token(1)})
	w.restart()
	if len(w.boot.Topics) != 1 {
		t.Errorf("topics after a restart: %v", w.boot.Topics)
	}
	w.close()
}

// A server that ends on a full disk keeps its room for the one that follows.
func TestEndedOnFullDisk(t *testing.T) {
	w := newWorld(t)
	held := w.openFull()
	w.disk.Limit(w.disk.Used())
	w.close()
	w.disk.Limit(w.disk.Used()) // others take what it gave back
	w.open()
	for n := range held {
		held[n] = w.topic(held[n].name)
	}
	w.anHour(held)
	w.close()
}

// The room outlives a kill: a server that starts on the full disk renews and releases from it, behind a torn record.
func TestKilledOnFullDisk(t *testing.T) {
	w := newWorld(t)
	held := w.openFull()
	before := held[0].describe()
	w.disk.Limit(w.disk.Used())
	w.kill()
	w.tear(`{"t":"grant","topic":"torn`)
	w.open()
	if !w.file.Suspended() {
		t.Error("not suspended")
	}
	for n := range held {
		held[n] = w.topic(held[n].name)
	}
	if got := held[0].describe(); got != before {
		t.Errorf("after the kill: %s, before: %s", got, before)
	}
	w.anHour(held)
	w.kill()
	w.open()
	for n := range held {
		if got := w.topic(held[n].name).state.Held(); got != 0 {
			t.Fatalf("released on the full disk, and held after a restart")
		}
	}
	w.disk.Limit(0)
	eventually(t, "grants go on", func() bool { return !w.file.Suspended() })
	w.close()
}

// tear appends to the file as a crash might.
func (w *world) tear(text string) {
	w.t.Helper()
	if err := w.disk.Append(path, []byte(text)); err != nil {
		w.t.Fatal(err)
	}
}

// A disk so full that not even a start has room: everything is refused, and all is there when there is room again.
func TestStartOnFullDisk(t *testing.T) {
	w := newWorld(t)
	w.open()
	p := w.topic("x")
	p.acquire(1)
	before := p.describe()
	w.close() // gives its room back
	w.disk.Limit(w.disk.Used())
	w.open()
	if got := w.topic("x").describe(); got != before {
		t.Errorf("found %s, want %s", got, before)
	}
	_, err := w.topic("x").do(lease.Command{Op: lease.Release, Token: token(1)})
	wantStorage(t, err)
	if w.file.Healthy() == nil || !w.file.Suspended() {
		t.Error("healthy on a full disk")
	}
	w.disk.Limit(0)
	eventually(t, "it comes back", func() bool { return w.file.Healthy() == nil })
	w.topic("x").must(lease.Command{Op: lease.Release, Token: token(1)})
	w.close()
}

// A disk that is full of what others wrote between one append and the next: what was refused is not held in memory, and
// nothing is lost.
func TestRunsOutOfRoom(t *testing.T) {
	w := newWorld(t)
	w.disk.Limit(2 << 20)
	w.options.ReserveSpan = time.Second // as good as nothing is set aside
	w.options.CompactAt = 1 << 40
	w.open()
	p := w.topic("x")
	p.acquire(1)
	w.disk.Limit(w.disk.Used())
	var refused error
	for refused == nil {
		_, refused = p.do(lease.Command{Op: lease.Renew, Token: token(1)})
	}
	wantStorage(t, refused)
	before := p.describe()
	if before != w.topic("x").describe() {
		t.Errorf("the actor and the journal differ")
	}
	w.disk.Limit(0)
	eventually(t, "it comes back", func() bool { return w.file.Healthy() == nil })
	w.restart()
	if got := w.topic("x").describe(); got != before {
		t.Errorf("after a restart %s, acknowledged %s", got, before)
	}
	w.close()
}

// Where a file system cannot set room aside, the free space is what counts.
func TestNoAllocate(t *testing.T) {
	w := newWorld(t)
	w.disk.NoAllocate = true
	w.disk.Limit(4 << 20)
	w.open()
	if held := w.fillUp(); len(held) < 50 {
		t.Errorf("only %d leases", len(held))
	}
	w.disk.Limit(0)
	eventually(t, "grants go on", func() bool { return !w.file.Suspended() })
	w.close()
}
