package journal_test

import (
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
