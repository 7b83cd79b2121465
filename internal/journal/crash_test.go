package journal_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"legible.sh/mutex/internal/journal/disk"
	"legible.sh/mutex/internal/journal/disktest"
	"legible.sh/mutex/internal/lease"
)

var seeds = flag.Int("journal.seeds", 3, "how many random histories the crash tests take")

var errPower = errors.New("the power is cut")

// The power is cut at every single file call of a workload, compactions included, and of what was not synced any part
// may be there: nothing acknowledged is lost, nothing that ended lives again, no fence goes back.
func TestPowerCutAtEveryCall(t *testing.T) {
	if testing.Short() {
		*seeds = 1
	}
	for seed := range uint64(*seeds) {
		cut := 1
		for ; powerCut(t, seed, cut); cut++ {
		}
		t.Logf("seed %d: the power was cut at each of %d calls", seed, cut)
	}
}

// powerCut runs the workload until call number cut, and looks at what several power cuts then leave. It is false when the
// workload ended before. In a bubble, where waiting for the journal to come back takes no time.
func powerCut(t *testing.T, seed uint64, cut int) (reached bool) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.options.CompactAt = 2 << 10
		var calls atomic.Int64
		var crashed []*disktest.Disk
		powered := w.disk
		powered.Fail = func(disk.Op, string) error {
			if calls.Add(1) == int64(cut) { // before a sync that fails loses what it was for
				for chance := range uint64(4) {
					crashed = append(crashed, powered.Crash(rand.New(rand.NewPCG(seed, chance))))
				}
			}
			return nil
		}
		var l *workload
		if w.tryOpen() == nil {
			l = newWorkload(w, seed)
			_ = l.run(120)
			_ = w.file.Close()
		}
		for chance := range crashed {
			w.disk = crashed[chance]
			image := w.disk.ReadFile(path)
			if err := w.tryOpen(); err != nil {
				t.Fatalf("seed %d, cut at call %d, chance %d: %v\n%q", seed, cut, chance, err, image)
			}
			if l != nil {
				l.check(t)
			}
			w.close()
			if t.Failed() {
				t.Fatalf("seed %d, cut at call %d, chance %d:\n%s", seed, cut, chance, image)
			}
		}
		reached = crashed != nil
	})
	return reached
}

// Each file call fails in turn, once or for a while: what it was for is refused or done without, the journal comes back
// by itself, and a power cut after that loses nothing.
func TestEveryCallFails(t *testing.T) {
	for _, op := range []disk.Op{
		disk.AppendWrite, disk.AppendSync, disk.NewCreate, disk.NewWrite, disk.NewAllocate, disk.NewSync, disk.NewRename,
		disk.NewSyncDir, disk.AppendLook, disk.NewLook, disk.AppendBlanks,
	} {
		for _, times := range []int{1, 3} {
			for _, after := range []int{0, 5, 100} {
				t.Run(fmt.Sprintf("%s/%d times/%d on", op, times, after), func(t *testing.T) { failCall(t, op, times, after) })
			}
		}
	}
}

func failCall(t *testing.T, op disk.Op, times, after int) {
	w := newWorld(t)
	w.options.CompactAt = 2 << 10
	var armed atomic.Bool
	var failed atomic.Int64
	w.disk.Fail = func(called disk.Op, _ string) error {
		if armed.Load() && called == op && failed.Add(1) <= int64(times) {
			return errPower
		}
		return nil
	}
	w.open()
	l := newWorkload(w, 7)
	if err := l.run(50); err != nil {
		t.Fatal(err)
	}
	armed.Store(true)
	for n := 0; failed.Load() < int64(times); n++ {
		if n == 2000 {
			t.Fatalf("%q was called %d times only", op, failed.Load())
		}
		if err := l.run(10); err != nil {
			wantStorage(t, err)
			for _, s := range l.topics {
				s.unsure = nil // refused, and the process lives: nothing of it may ever show
			}
		}
	}
	eventually(t, "the journal is healthy again", func() bool { return w.file.Healthy() == nil && !w.file.Suspended() })
	if err := l.run(after); err != nil {
		t.Fatalf("after it came back: %v", err)
	}
	lastly := w.disk
	lastly.Kill()
	_ = w.file.Close()
	for chance := range uint64(4) {
		w.disk = lastly.Crash(rand.New(rand.NewPCG(1, chance)))
		w.open()
		l.check(t)
		w.close()
	}
}

// A compaction whose change of names may not be safe is the end of both files: what is appended to either could be
// lost. While no third one can be made, everything is refused.
func TestNamesNotSafe(t *testing.T) {
	w := newWorld(t)
	w.options.CompactAt = 2 << 10
	var armed, failed atomic.Bool
	w.disk.Fail = func(op disk.Op, _ string) error {
		if armed.Load() && (op == disk.NewSyncDir || failed.Load() && op == disk.NewCreate) {
			failed.Store(true)
			return errPower
		}
		return nil
	}
	w.open()
	l := newWorkload(w, 3)
	armed.Store(true)
	for !failed.Load() {
		if err := l.run(1); err != nil {
			wantStorage(t, err)
		}
	}
	eventually(t, "the journal says that it is broken", func() bool { return w.file.Healthy() != nil })
	wantStorage(t, w.file.Append("x", []lease.Event{{Kind: lease.Declared, Capacity: 1}}))
	armed.Store(false)
	eventually(t, "it comes back", func() bool { return w.file.Healthy() == nil })
	w.close()
}
