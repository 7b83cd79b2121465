package journal_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"legible.sh/mutex/internal/journal"
	"legible.sh/mutex/internal/lease"
)

// On a full disk the places that are kept for keys still end, and each end is a record. It has room of its own: whoever
// leaves must not take that of renewals and releases.
func TestLeavingOnAFullDisk(t *testing.T) {
	w := newWorld(t)
	w.disk.Limit(4 << 20)
	w.options.CompactAt = 1 << 40
	w.open()
	p := w.topic("x")
	p.acquire(1)
	places := 0
	for ; ; places++ {
		c := acquire(100 + places)
		c.Wait, c.Key = time.Hour, lease.KeyOf(fmt.Sprint(places))
		_, err := p.do(c)
		if errors.Is(err, journal.ErrStorage) {
			t.Fatal(err)
		}
		if errors.Is(err, lease.ErrSuspended) || places == 50_000 {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	w.disk.Limit(w.disk.Used()) // others took the rest
	for n := range places {
		if _, err := p.do(lease.Command{Op: lease.GiveUp, Key: lease.KeyOf(fmt.Sprint(n))}); err != nil {
			t.Fatalf("place %d of %d could not be left: %v", n, places, err)
		}
	}
	for range 180 {
		w.clock.pass(20 * time.Second)
		p.must(lease.Command{Op: lease.Renew, Token: token(1)})
	}
	p.must(lease.Command{Op: lease.Release, Token: token(1)})
	w.close()
}
