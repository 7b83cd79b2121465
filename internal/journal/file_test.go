package journal_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"legible.sh/mutex/internal/journal"
	"legible.sh/mutex/internal/journal/disk"
	"legible.sh/mutex/internal/lease"
)

// Everything that a topic promised is there after a restart, whether the server ended well or was killed.
func TestRestartKeepsEverything(t *testing.T) {
	for name, end := range map[string]func(*world){"closed": (*world).close, "killed": (*world).kill} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.open()
			p := w.topic("gpu")
			p.must(lease.Command{Op: lease.Acquire, Token: token(1), TTL: 90 * time.Second, Capacity: 2,
				Key: lease.KeyOf("one"), Who: lease.Who{Name: "a \"b\" é", Reason: "r", Host: "h", PID: 7}})
			w.clock.pass(time.Second)
			p.acquire(2)
			w.clock.pass(time.Second)
			p.must(lease.Command{Op: lease.Renew, Token: token(1), TTL: 2 * time.Minute})
			p.must(lease.Command{Op: lease.Acquire, Token: token(3), TTL: time.Minute, Wait: time.Minute, Key: lease.KeyOf("three"),
				Who: lease.Who{Name: "waits"}})
			p.must(lease.Command{Op: lease.Acquire, Token: token(4), TTL: time.Minute, Wait: time.Minute, Key: lease.KeyOf("four"),
				Who: lease.Who{Name: "waits too"}})
			before := p.describe()
			end(w)
			w.open()
			after := w.topic("gpu")
			if got := after.describe(); got != before {
				t.Errorf("after the restart:\n%s\nbefore:\n%s", got, before)
			}
			again, err := after.do(lease.Command{Op: lease.Acquire, Token: token(9), TTL: 90 * time.Second, Key: lease.KeyOf("one")})
			if err != nil || !again.Replayed || again.Lease.Token != token(1) {
				t.Errorf("the key's own call again: %+v, %v", again, err)
			}
			if len(w.boot.Topics) != 1 || w.boot.Topics[0] != "gpu" {
				t.Errorf("topics at boot: %v", w.boot.Topics)
			}
			w.close()
		})
	}
}

// Places are kept for the keep window after a restart, in their order, and nobody is at them.
func TestPlacesAreAwayAfterRestart(t *testing.T) {
	w := newWorld(t)
	w.open()
	p := w.topic("x")
	p.acquire(1)
	wait := func(n int, key string) lease.Command {
		return lease.Command{Op: lease.Acquire, Token: token(n), TTL: time.Minute, Wait: time.Minute, Key: lease.KeyOf(key)}
	}
	p.must(wait(2, "two"))
	p.must(wait(3, "three"))
	p.must(wait(4, "four"))
	p.must(lease.Command{Op: lease.GiveUp, Key: lease.KeyOf("three")})
	w.restart()
	p = w.topic("x")
	for _, waiter := range p.state.Status().Waiters {
		if !waiter.Away {
			t.Errorf("waiter %d is present", waiter.Position)
		}
	}
	if n := p.state.Waiting(); n != 2 {
		t.Fatalf("%d places, want 2", n)
	}
	if _, err := p.do(wait(5, "three")); err != lease.ErrKeySpent {
		t.Errorf("the key that gave up: %v", err)
	}
	p.must(wait(6, "four"))
	p.must(lease.Command{Op: lease.Release, Token: token(1)})
	if p.state.Held() != 1 || p.state.Waiting() != 1 {
		t.Errorf("one who came back was not granted: %s", p.describe())
	}
	w.restart()
	p = w.topic("x")
	w.clock.pass(keep)
	p.must(lease.Command{Op: lease.Look})
	if n := p.state.Waiting(); n != 0 {
		t.Errorf("%d places after the keep window", n)
	}
	w.close()
}

// A spent key is refused after a restart, and forgotten when its time is over.
func TestSpentKeysAreRemembered(t *testing.T) {
	w := newWorld(t)
	w.open()
	p := w.topic("x")
	call := lease.Command{Op: lease.Acquire, Token: token(1), TTL: time.Second, Key: lease.KeyOf("k")}
	p.must(call)
	p.must(lease.Command{Op: lease.Release, Token: token(1)})
	p.must(lease.Command{Op: lease.GiveUp, Key: lease.KeyOf("never used")})
	w.clock.pass(keep - time.Second)
	w.restart()
	w.restart()
	p = w.topic("x")
	if _, err := p.do(call); err != lease.ErrKeySpent {
		t.Errorf("late duplicate: %v", err)
	}
	if _, err := p.do(lease.Command{Op: lease.Acquire, Token: token(2), TTL: time.Second, Key: lease.KeyOf("never used")}); err != lease.ErrKeySpent {
		t.Errorf("given up before it had anything: %v", err)
	}
	w.clock.pass(2 * time.Second)
	p.must(call)
	w.close()
}

// Leases that die while no server runs are gone, their fences and keys are not, and the boot tells of them.
func TestLeasesThatDieMeanwhile(t *testing.T) {
	w := newWorld(t)
	w.open()
	p := w.topic("x")
	call := lease.Command{Op: lease.Acquire, Token: token(1), TTL: time.Minute, Key: lease.KeyOf("k"), Who: lease.Who{Name: "late"}}
	p.must(call)
	w.clock.pass(time.Minute + time.Second)
	w.restart()
	if len(w.boot.Ended) != 1 || w.boot.Ended[0].Event.Who.Name != "late" || w.boot.Ended[0].Event.Kind != lease.Expired ||
		!w.boot.Ended[0].Event.At.Equal(epoch.Add(time.Minute)) {
		t.Errorf("ended: %+v", w.boot.Ended)
	}
	p = w.topic("x")
	if _, err := p.do(call); err != lease.ErrKeySpent {
		t.Errorf("the dead lease's key: %v", err)
	}
	if got := p.acquire(2); got.Fence != 2 {
		t.Errorf("fence %d, want 2", got.Fence)
	}
	if strings.Contains(string(w.disk.ReadFile(path)), token(1).Reveal()) {
		t.Error("the dead lease is still in the file")
	}
	w.close()
}

// The floor rises with a reaped topic and stays; the topic's capacity is forgotten.
func TestFloor(t *testing.T) {
	w := newWorld(t)
	w.open()
	p := w.topic("x")
	for n := range 5 {
		p.must(lease.Command{Op: lease.Acquire, Token: token(n), TTL: time.Minute, Capacity: 3})
		p.must(lease.Command{Op: lease.Release, Token: token(n)})
	}
	w.file.Floor("x", 5)
	w.topic("y").acquire(9) // stands behind it
	w.restart()
	if w.boot.Floor != 5 || len(w.boot.Topics) != 1 {
		t.Errorf("floor %d, topics %v", w.boot.Floor, w.boot.Topics)
	}
	if events := w.file.Recall("x", w.clock.now()); events != nil {
		t.Errorf("the reaped topic is still known: %v", events)
	}
	w.restart()
	if w.boot.Floor != 5 {
		t.Errorf("floor %d after two restarts", w.boot.Floor)
	}
	w.close()
}

// One write and one sync serve everybody who came while the disk was busy, and nobody is answered before its sync.
func TestGroupCommit(t *testing.T) {
	w := newWorld(t)
	var commits []journal.Commit
	w.options.OnCommit = func(c journal.Commit) { commits = append(commits, c) }
	reached, goOn := make(chan struct{}, 10), make(chan struct{})
	hold := false
	w.disk.Fail = func(op disk.Op, _ string) error {
		if op == disk.AppendSync && hold {
			reached <- struct{}{}
			<-goOn
		}
		return nil
	}
	w.open()
	w.topic("warm").acquire(1)
	hold = true

	answers := make(chan error, 100)
	append1 := func(name lease.Topic) {
		e := []lease.Event{{Kind: lease.Declared, Capacity: 1}}
		answers <- w.file.Append(name, e)
	}
	go append1("first")
	<-reached
	for _, name := range []lease.Topic{"a", "b", "c", "d"} {
		go append1(name)
	}
	eventually(t, "four are queued", func() bool { return journal.Queued(w.file) == 4 })
	select {
	case <-answers:
		t.Fatal("answered before the sync")
	default:
	}
	goOn <- struct{}{} // the first one's
	<-answers
	<-reached
	select {
	case <-answers:
		t.Fatal("answered before its own sync")
	default:
	}
	goOn <- struct{}{}
	for range 4 {
		if err := <-answers; err != nil {
			t.Error(err)
		}
	}
	hold = false
	w.close()
	if len(commits) != 3 || commits[2].Records != 4 {
		t.Errorf("commits: %+v", commits)
	}
}

// What is not durable costs no sync, and memory keeps nothing at no cost.
func TestNothingToStore(t *testing.T) {
	w := newWorld(t)
	w.open()
	if err := w.file.Append("x", []lease.Event{{Kind: lease.Detached}, {Kind: lease.Enqueued, Token: token(1)}}); err != nil {
		t.Error(err)
	}
	w.close()
	if n := w.file.Stats().Commits; n != 0 {
		t.Errorf("%d commits", n)
	}
	wantStorage(t, w.file.Append("x", []lease.Event{{Kind: lease.Declared, Capacity: 1}}))
	events := []lease.Event{{Kind: lease.Granted}}
	if n := testing.AllocsPerRun(100, func() { _ = journal.Memory{}.Append("x", events) }); n != 0 {
		t.Errorf("memory: %v allocations", n)
	}
}

// The other modes answer before the sync; one of them syncs within its interval, both when they end.
func TestFsyncModes(t *testing.T) {
	for _, mode := range []journal.Fsync{journal.Interval, journal.Never} {
		t.Run(string(mode), func(t *testing.T) {
			w := newWorld(t)
			w.options.Fsync, w.options.Interval = mode, time.Millisecond
			synced := make(chan disk.Op, 100)
			w.disk.Fail = func(op disk.Op, _ string) error {
				if op == disk.AppendSync || op == disk.CloseSync {
					synced <- op
				}
				return nil
			}
			w.open()
			w.topic("x").acquire(1)
			if mode == journal.Interval {
				if op := <-synced; op != disk.AppendSync {
					t.Errorf("synced by %q", op)
				}
			}
			w.close()
			if op := <-synced; op != disk.CloseSync {
				t.Errorf("synced by %q at the end", op)
			}
			w.open()
			if got := w.topic("x").acquireAs(2); got == nil {
				t.Error("the lease is lost")
			}
			w.close()
		})
	}
}

// acquireAs is an acquire that may be refused; its error, or nil.
func (p *topic) acquireAs(n int) error {
	_, err := p.do(acquire(n))
	return err
}

// Keys that were given up on names that nobody uses do not stay for ever.
func TestSpentKeysAreForgotten(t *testing.T) {
	w := newWorld(t)
	w.options.Keep = time.Millisecond // of the journal; forgetting is due a second later
	w.open()
	for n := range 100 {
		w.topic(lease.Topic(fmt.Sprint("t", n))).must(lease.Command{Op: lease.GiveUp, Key: lease.KeyOf("k")})
	}
	w.topic("used").acquire(1)
	w.clock.pass(time.Second)
	eventually(t, "all but the used topic are forgotten", func() bool { return journal.Known(w.file) == 1 })
	w.close()
}
