package journal_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"legible.sh/mutex/internal/journal"
	"legible.sh/mutex/internal/journal/disk"
	"legible.sh/mutex/internal/journal/disktest"
	"legible.sh/mutex/internal/lease"
)

// The power is cut before each sync of a server with many topics, and of the batch's sectors, and those of the blank lines
// that are not safe either, any may be there: a start takes in all before the first that was lost, and nothing after it.
func TestAnySectorsOfABatch(t *testing.T) {
	rounds := 16
	if testing.Short() {
		rounds = 4
	}
	for _, blanks := range []int64{1 << 10, 4 << 10, 32 << 10} {
		t.Run(fmt.Sprintf("blanks=%d", blanks), func(t *testing.T) {
			w := newWorld(t)
			w.options.Blanks = blanks
			c := &cutter{w: w, disk: w.disk, hold: make(chan func() bool, 1), chance: rand.New(rand.NewPCG(uint64(blanks), 0))}
			w.disk.Fail = c.call
			w.open()
			for n := range 12 {
				c.topics = append(c.topics, &cutTopic{topic: w.topic(lease.Topic(fmt.Sprint("t", n)))})
			}
			if err := w.file.Append("many", declarations(40)); err != nil { // the first of a file is a large one too
				t.Fatal(err)
			}
			plug := w.topic("plug")
			for n := range rounds {
				c.round(plug, n)
				c.check(t)
			}
			w.close()
			t.Logf("%d power cuts in %d batches", c.cuts, c.batches)
		})
	}
}

// declarations are events of several sectors.
func declarations(n int) []lease.Event {
	return slices.Repeat([]lease.Event{{Kind: lease.Declared, Capacity: 1, Fence: 1}}, n)
}

// A file of the first generation knows no marks. One that is gone on with on a full disk knows them from then on, so that
// its first batch can be torn as well.
func TestFirstGenerationTornOnAFullDisk(t *testing.T) {
	image, err := os.ReadFile(filepath.Join("testdata", "first-generation", "mutex.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	w.disk.WriteFile(path, image)
	w.disk.Limit(int64(len(image)) + 300) // not enough for a new file
	w.open()
	if got := w.disk.ReadFile(path); !bytes.HasPrefix(got, image) {
		t.Fatalf("not gone on with:\n%s", got)
	}
	var torn *disktest.Disk
	powered := w.disk
	powered.Fail = func(op disk.Op, _ string) error {
		if op == disk.AppendSync {
			sectors := powered.Unsafe(path)
			torn = powered.Cut(path, true, func(sector int64) bool { return sector != sectors[0] })
		}
		return nil
	}
	powered.Limit(0)
	if err := w.file.Append("many", declarations(40)); err != nil {
		t.Fatal(err)
	}
	w.close()
	if _, err := found(t, torn); err != nil {
		t.Error(err)
	}
}

// cutter cuts the power before each sync.
type cutter struct {
	w      *world
	disk   *disktest.Disk
	chance *rand.Rand
	topics []*cutTopic
	hold   chan func() bool // of the next sync: it goes on when this is so

	safe          int // where the records of the last sync ended
	taken         []cut
	cuts, batches int
}

// cut is what a power cut left, and the records that had been written.
type cut struct {
	disk    *disktest.Disk
	written []byte
	safe    int
}

// cutTopic is a topic that one goroutine uses at a time.
type cutTopic struct {
	*topic
	held []lease.Token
}

func (c *cutter) call(op disk.Op, _ string) error {
	if op != disk.AppendSync {
		return nil
	}
	image := c.disk.ReadFile(path)
	written := image[:len(bytes.TrimRight(image, "\n"))+1]
	for _, grown := range []bool{true, false} {
		for _, keep := range c.choices(c.disk.Unsafe(path)) {
			c.taken = append(c.taken, cut{c.disk.Cut(path, grown, keep), written, c.safe})
		}
	}
	c.safe = len(written)
	c.batches++
	select {
	case ready := <-c.hold:
		for tries := 0; !ready() && tries < 20_000; tries++ { // the check finds fewer records if they never come
			time.Sleep(time.Millisecond)
		}
	default:
	}
	return nil
}

// choices are which of the sectors are kept: up to each one, all but each one, only each one, and any.
func (c *cutter) choices(sectors []int64) (all []func(int64) bool) {
	for _, s := range sectors {
		all = append(all,
			func(sector int64) bool { return sector < s },
			func(sector int64) bool { return sector != s },
			func(sector int64) bool { return sector == s })
	}
	for range 30 {
		seed := c.chance.Uint64()
		all = append(all, func(sector int64) bool { return rand.New(rand.NewPCG(seed, uint64(sector))).IntN(4) > 0 })
	}
	return all
}

// round makes one batch of what all topics do at once, by holding the one before until they wait.
func (c *cutter) round(plug *topic, n int) {
	c.w.clock.pass(time.Second)
	var commands []lease.Command
	for i, p := range c.topics {
		commands = append(commands, c.command(p, 100*n+i))
	}
	var all sync.WaitGroup
	before := c.batches
	c.hold <- func() bool { return journal.Queued(c.w.file) == len(c.topics) }
	all.Go(func() { _, _ = plug.do(acquire(n)) })
	eventually(c.w.t, "the one before is at its sync", func() bool { return len(c.hold) == 0 })
	for i, p := range c.topics {
		all.Go(func() { _, _ = p.do(commands[i]) })
	}
	all.Wait()
	if got := c.batches - before; got != 2 {
		c.w.t.Fatalf("round %d made %d batches, want the first and all topics'", n, got)
	}
	plug.must(lease.Command{Op: lease.Release, Token: token(n)})
}

// command gives one that always has something to store.
func (c *cutter) command(p *cutTopic, n int) lease.Command {
	if len(p.held) > 0 && c.chance.IntN(2) == 0 {
		return lease.Command{Op: lease.Renew, Token: p.held[0], TTL: time.Hour}
	}
	if len(p.held) > 1 {
		token := p.held[0]
		p.held = p.held[1:]
		return lease.Command{Op: lease.Release, Token: token}
	}
	p.held = append(p.held, token(n))
	reason := strings.Repeat("{ } ", c.chance.IntN(100)+1)
	return lease.Command{Op: lease.Acquire, Token: token(n), TTL: time.Hour, Capacity: 3, Who: lease.Who{Name: "n", Reason: reason}}
}

// check starts a server on what each cut left, and one on the records before the first loss.
func (c *cutter) check(t *testing.T) {
	t.Helper()
	want := map[int]string{}
	for _, cut := range c.taken {
		image := cut.disk.ReadFile(path)
		kept := beforeLoss(image, cut.written)
		if len(kept) < cut.safe {
			t.Fatalf("the power cut lost what was safe: %d of %d bytes are left", len(kept), cut.safe)
		}
		if want[len(kept)] == "" {
			other := disktest.New()
			other.WriteFile(path, kept)
			want[len(kept)], _ = found(t, other)
		}
		got, err := found(t, cut.disk)
		if err != nil {
			t.Fatalf("%v\n%q", err, image)
		}
		if got != want[len(kept)] {
			t.Fatalf("found\n%s\nwant\n%s\nof\n%q", got, want[len(kept)], image)
		}
	}
	c.cuts += len(c.taken)
	c.taken = nil
}

// beforeLoss is all lines of what was written that stand before the first byte that is not there.
func beforeLoss(image, written []byte) []byte {
	n := 0
	for n < len(image) && n < len(written) && image[n] == written[n] {
		n++
	}
	if n == len(image) && n < len(written) && written[n] == '\n' {
		n++ // a record is whole without its newline
	}
	return written[:bytes.LastIndexByte(written[:n], '\n')+1]
}

// found is all that a server that starts on a disk knows.
func found(t *testing.T, d *disktest.Disk) (string, error) {
	w := newWorld(t)
	w.disk = d
	if err := w.tryOpen(); err != nil {
		return "", err
	}
	defer w.close()
	return fmt.Sprint(w.boot.Floor, w.all()), nil
}
