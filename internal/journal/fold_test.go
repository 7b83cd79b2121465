package journal

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"legible.sh/mutex/internal/journal/record"
	"legible.sh/mutex/internal/lease"
)

// A snapshot that is taken a little at a time, while topics go on changing, come and go, comes to the same as the fold
// at its end.
func TestSnapshotFollowsWhatChanges(t *testing.T) {
	for seed := range uint64(200) {
		d := driver{f: newFold(window, time.Hour), chance: rand.New(rand.NewPCG(seed, 0)), anchor: anchor{at: time.UnixMilli(1e12), boot: "b"}}
		for range 60 {
			d.change()
		}
		walk := d.f.beginSnapshot()
		walk.chunk = 1
		b := d.f.limits(d.anchor.record(nil))
		for more := true; more; {
			b, more = d.f.chunk(walk, b, present)
			for range d.chance.IntN(6) {
				d.change()
			}
		}
		b = d.f.limits(d.f.takeTail(b))
		d.f.endSnapshot()
		got := newFold(window, time.Hour)
		into := replay{fold: got}
		for line := range bytes.Lines(b) {
			r, err := record.Parse(line)
			if err != nil {
				t.Fatal(err)
			}
			into.record(&r)
		}
		if g, w := got.dump(), d.f.dump(); !reflect.DeepEqual(g, w) {
			for name := range w {
				if !reflect.DeepEqual(g[name], w[name]) {
					t.Errorf("seed %d: the snapshot came to\n%v\nthe fold is\n%v", seed, g[name], w[name])
				}
			}
			t.FailNow()
		}
		if got.room != d.f.room || got.content > d.f.content {
			t.Fatalf("seed %d: room %d content %d, want %d %d", seed, got.room, got.content, d.f.room, d.f.content)
		}
	}
}

const (
	window  = 1000 * time.Hour
	present = instant(1_000_500_000 * time.Millisecond * 1000)
)

// driver makes random changes to a fold, each with the lines that a batch would have.
type driver struct {
	f      *fold
	chance *rand.Rand
	anchor anchor
	n      int
}

func (d *driver) change() {
	d.n++
	name := lease.Topic(fmt.Sprint("t", d.chance.IntN(12)))
	t := d.f.topics[name]
	at := time.UnixMilli(int64(1e12) + int64(d.n)*1000)
	e := lease.Event{At: at, Key: lease.KeyOf(fmt.Sprint(d.chance.IntN(5)))}
	switch {
	case d.chance.IntN(8) == 0:
		d.f.retire(name, lease.Fence(d.n))
		d.f.follow(name, record.AppendFloor(nil, name, lease.Fence(d.n)))
		return
	case d.chance.IntN(20) == 0:
		d.anchor.at = d.anchor.at.Add(time.Minute)
		d.f.shift(time.Minute)
		d.f.followAll(d.anchor.record(nil))
		return
	case d.chance.IntN(3) == 0 && t != nil && len(t.leases) > 0:
		l := t.leases[d.chance.IntN(len(t.leases))]
		e.Token, e.Fence, e.TTL, e.Expires = l.token, l.fence, l.ttl, at.Add(l.ttl)
		e.Kind = []lease.Kind{lease.Renewed, lease.Released, lease.Expired, lease.Forced}[d.chance.IntN(4)]
	case d.chance.IntN(4) == 0:
		e.Kind, e.TTL, e.Enqueued = lease.Enqueued, time.Second, at
	case d.chance.IntN(4) == 0:
		e.Kind, e.Cause = lease.Left, lease.GaveUp
	default:
		e = lease.Event{Kind: lease.Granted, Declares: t == nil || t.capacity == 0, Capacity: 100, Fence: lease.Fence(d.n), Token: lease.Token{15: byte(d.n), 14: byte(d.n >> 8)},
			TTL: time.Second, At: at, Since: at, Expires: at.Add(time.Second), Slot: d.n % 100}
	}
	d.f.apply(name, &e)
	d.f.follow(name, record.AppendEvent(nil, name, &e))
}

// dump is all that a fold knows, in an order of its own.
func (f *fold) dump() map[string]any {
	all := map[string]any{"floor": f.floor, "high": f.high}
	for name, t := range f.topics {
		if !t.isBlank(f.floor) {
			var lines []byte
			for _, e := range t.events(f.keep, present) {
				lines = record.AppendEvent(lines, name, &e)
			}
			all[string(name)] = string(lines)
		}
	}
	return all
}
