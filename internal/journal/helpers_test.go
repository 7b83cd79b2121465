package journal_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"legible.sh/mutex/internal/journal"
	"legible.sh/mutex/internal/journal/disk"
	"legible.sh/mutex/internal/journal/disktest"
	"legible.sh/mutex/internal/lease"
	"legible.sh/mutex/internal/testlog"
)

const (
	dir  = "/data"
	path = "/data/mutex.jsonl"
	keep = 30 * time.Second
)

// epoch is when the tests' clocks begin: a whole number of milliseconds, as the file has them.
var epoch = time.UnixMilli(1_800_000_000_000)

// clock is a machine's clocks, set by hand.
type clock struct {
	mu   sync.Mutex
	wall time.Time
	up   time.Duration
	boot string
}

func newClock() *clock { return &clock{wall: epoch, up: time.Hour, boot: "one"} }

func (c *clock) read() journal.Reading {
	c.mu.Lock()
	defer c.mu.Unlock()
	return journal.Reading{Now: c.wall, Up: c.up, Boot: c.boot}
}

func (c *clock) now() time.Time { return c.read().Now }

// pass lets time pass.
func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wall, c.up = c.wall.Add(d), c.up+d
}

// set sets the wall clock off by d.
func (c *clock) set(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wall = c.wall.Add(d)
}

// world is a journal on a simulated disk, with clocks of its own.
type world struct {
	t       testing.TB
	disk    *disktest.Disk
	clock   *clock
	log     *testlog.Buffer
	options journal.Options
	file    *journal.File
	boot    *journal.Boot
}

func newWorld(t testing.TB) *world {
	w := &world{t: t, disk: disktest.New(), clock: newClock(), log: &testlog.Buffer{}}
	w.options = journal.Options{Keep: keep, Blanks: 4 << 10, Clock: w.clock.read, Log: slog.New(slog.NewTextHandler(w.log, nil))}
	return w
}

// open starts a server on the disk as it is.
func (w *world) open() {
	w.t.Helper()
	if err := w.tryOpen(); err != nil {
		w.t.Fatalf("open: %v", err)
	}
}

func (w *world) tryOpen() (err error) {
	w.options.Disk = w.disk
	w.file, w.boot, err = journal.Open(dir, w.options)
	return err
}

// hungSync is the sync of an append in which the disk hangs.
type hungSync struct {
	armed          atomic.Bool // the next one is it
	reached, letGo chan struct{}
}

// syncThatHangs must be asked for before the journal is opened.
func (w *world) syncThatHangs() *hungSync {
	h := &hungSync{reached: make(chan struct{}), letGo: make(chan struct{})}
	w.disk.Fail = func(op disk.Op, _ string) error {
		if op == disk.AppendSync && h.armed.CompareAndSwap(true, false) {
			close(h.reached)
			<-h.letGo
		}
		return nil
	}
	return h
}

// real opens a journal in a real directory.
func (w *world) real(data string) {
	w.t.Helper()
	w.options.Disk = nil
	var err error
	if w.file, w.boot, err = journal.Open(data, w.options); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) close() {
	w.t.Helper()
	if err := w.file.Close(); err != nil {
		w.t.Fatalf("close: %v", err)
	}
}

// kill ends the server without a word, and leaves the disk as the system had it.
func (w *world) kill() {
	w.disk = w.disk.Kill()
	_ = w.file.Close()
}

// records is the file without the blank lines behind its last record.
func (w *world) records() []byte {
	image := w.disk.ReadFile(path)
	return image[:len(bytes.TrimRight(image, "\n"))+1]
}

func (w *world) restart() {
	w.t.Helper()
	w.kill()
	w.open()
}

// topic is an actor without its goroutine: the rules, and the journal under them.
type topic struct {
	w     *world
	name  lease.Topic
	state *lease.State
}

func (w *world) topic(name lease.Topic) *topic {
	p := &topic{w: w, name: name}
	p.rebuild()
	return p
}

func (p *topic) rebuild() {
	p.state = lease.New(0, keep)
	for _, e := range p.w.file.Recall(p.name, p.w.clock.now()) {
		p.state.Apply(&e)
	}
}

// do runs a command as an actor would: on a failed append the state goes back to what the journal has.
func (p *topic) do(c lease.Command) (lease.Outcome, error) {
	p.state.Suspend(p.w.file.Suspended())
	out, events, err := p.state.Step(&c, p.w.clock.now(), nil)
	if stored := p.w.file.Append(p.name, events); stored != nil {
		p.rebuild()
		return lease.Outcome{}, stored
	}
	return out, err
}

func (p *topic) must(c lease.Command) lease.Outcome {
	p.w.t.Helper()
	out, err := p.do(c)
	if err != nil {
		p.w.t.Fatalf("%s: %v", p.name, err)
	}
	return out
}

// acquire takes a permit under a token made from a number.
func (p *topic) acquire(n int) lease.Lease {
	p.w.t.Helper()
	return p.must(acquire(n)).Lease
}

func acquire(n int) lease.Command {
	return lease.Command{
		Op: lease.Acquire, Token: token(n), TTL: time.Minute, Who: lease.Who{Name: fmt.Sprintf("holder-%d", n)},
	}
}

func token(n int) (t lease.Token) {
	binary.BigEndian.PutUint64(t[8:], uint64(n))
	t[0] = 0xab
	return t
}

// describe is all that anybody can find out about a topic, but for who is just away.
func (p *topic) describe() string { return describe(p.state) }

func describe(s *lease.State) string {
	var b strings.Builder
	st := s.Status()
	fmt.Fprintf(&b, "fence %d capacity %d", s.Fence(), st.Capacity)
	for _, h := range st.Holders {
		fmt.Fprintf(&b, "; holder %s fence %d slot %d since %d renewed %d expires %d", h.Who.Name, h.Fence, h.Slot,
			millis(h.Since), millis(h.Renewed), millis(h.Expires))
	}
	for _, w := range st.Waiters {
		fmt.Fprintf(&b, "; waiter %d %s since %d", w.Position, w.Who.Name, millis(w.Enqueued))
	}
	return b.String()
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// eventually waits until what others are doing has come to pass.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

func wantStorage(t testing.TB, err error) {
	t.Helper()
	if !errors.Is(err, journal.ErrStorage) {
		t.Fatalf("got %v, want an ErrStorage", err)
	}
}
