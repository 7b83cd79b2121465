package journal_test

import (
	"fmt"
	"testing"
	"time"
)

// A start on a full disk goes on in the old file. That a lease had ended by then is written there too: the next start
// neither tells of it once more, nor, where the clock was set back meanwhile, finds it alive.
func TestLeaseThatEndedBeforeAStartOnAFullDisk(t *testing.T) {
	w := newWorld(t)
	held := w.openFull()
	w.disk.Limit(w.disk.Used())
	w.kill()
	w.clock.pass(2 * time.Minute)
	w.open()
	if len(w.boot.Ended) != len(held) {
		t.Fatalf("%d leases ended, want %d", len(w.boot.Ended), len(held))
	}
	w.kill()
	w.clock.set(-90 * time.Second)
	w.clock.boot = "two"
	w.open()
	if len(w.boot.Ended) > 0 {
		t.Errorf("%d leases ended once more", len(w.boot.Ended))
	}
	if got := w.topic(held[0].name).state.Held(); got != 0 {
		t.Error("a lease that had ended lives again")
	}
	w.close()
}

// Nor does each start on a full disk lengthen a lease again whose end lies far ahead, since the clock was set back.
func TestClockBackBeforeAStartOnAFullDisk(t *testing.T) {
	w := newWorld(t)
	held := w.openFull()
	w.disk.Limit(w.disk.Used())
	w.kill()
	w.clock.set(-24 * time.Hour)
	for boot := range 4 {
		w.clock.boot = fmt.Sprint("after ", boot)
		w.open()
		holders := w.topic(held[0].name).state.Status().Holders
		if len(holders) != 1 {
			t.Fatalf("%d holders, want 1", len(holders))
		}
		if got, want := holders[0].Expires.Sub(w.clock.now()), time.Minute-time.Duration(boot)*10*time.Second; got != want {
			t.Errorf("start %d: %v left, want %v", boot, got, want)
		}
		w.kill()
		w.clock.pass(10 * time.Second)
	}
}
