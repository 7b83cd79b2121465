package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
	"time"

	"legible.sh/mutex/internal/journal/disk"
	"legible.sh/mutex/internal/journal/record"
	"legible.sh/mutex/internal/lease"
)

// Boot is what was found in the directory.
type Boot struct {
	Floor  lease.Fence   // topics that are not among Topics start above it
	Topics []lease.Topic // live or declared, in the order of their names; each one's [File.Recall] has it
	Ended  []Ended       // leases that ended while no server ran, in the order of their ends
}

// Open locks the directory, made if need be, reads the journal in it, begins a new compact file, and starts the
// committer, which [File.Close] ends. The errors: [*disk.LockedError] when another server has the directory,
// [*DamagedError] when acknowledged records cannot be read.
func Open(dir string, options Options) (*File, *Boot, error) {
	options = options.withDefaults()
	fs := options.Disk
	if err := fs.MakeDir(disk.MakeDir, dir); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", disk.MakeDir, err)
	}
	lock, err := fs.Lock(disk.LockDir, filepath.Join(dir, lockName))
	if err != nil {
		return nil, nil, fmt.Errorf("data directory %s: %w", dir, err)
	}
	c := newCommitter(dir, options)
	c.lock = lock
	boot, err := c.boot()
	if err != nil {
		_ = c.lock.Close()
		return nil, nil, err
	}
	return start(c), boot, nil
}

func newCommitter(dir string, options Options) *committer {
	return &committer{
		options: options, log: options.Log, fs: options.Disk, dir: dir,
		queue:  newQueue(),
		shared: &sharedFold{fold: newFold(options.Keep, options.ReserveSpan)},
		status: &status{changed: make(chan struct{}, 1)}, count: &counters{},
		copied: make(chan struct{}, 1), retry: newAlarm(), refuse: newAlarm(), syncing: newAlarm(), quiet: newAlarm(), forget: newAlarm(),
		watch: newAlarm(),
	}
}

func start(c *committer) *File {
	f := &File{
		committer: c,
		span:      c.options.ReserveSpan, clock: c.options.Clock, queue: c.queue, shared: c.shared, status: c.status, count: c.count,
		stop: make(chan struct{}), done: make(chan struct{}),
	}
	c.stop = f.stop
	c.publish()
	go func() {
		defer close(f.done)
		f.ended = c.run()
		if err := c.lock.Close(); f.ended == nil {
			f.ended = err
		}
	}()
	return f
}

// boot reads what there is and makes a new file of it.
func (c *committer) boot() (*Boot, error) {
	begun := time.Now()
	found, err := c.load()
	if err != nil {
		return nil, err
	}
	now := c.options.Clock()
	boot, short := c.wake(now)
	if err := c.begin(found, boot.Ended, short); err != nil {
		return nil, err
	}
	c.log.Info("the journal was read", "records", found.records, "bytes", found.size, "topics", len(boot.Topics),
		"leases", c.shared.fold.leases(), "ended", len(boot.Ended), "took", time.Since(begun))
	return boot, nil
}

// load folds the file, if there is one.
func (c *committer) load() (*survey, error) {
	file, err := c.fs.Open(disk.BootOpen, filepath.Join(c.dir, journalName))
	if errors.Is(err, fs.ErrNotExist) {
		return &survey{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", disk.BootOpen, err)
	}
	defer file.Close()
	into := replay{fold: c.shared.fold}
	found, err := examine(file, disk.BootRead, into.line)
	if err != nil {
		return nil, err
	}
	if len(found.damage) > 0 && !found.torn() {
		return nil, &DamagedError{Dir: c.dir, Damage: found.damage[0]}
	}
	if lost := found.lost(); lost > 0 {
		c.log.Warn("the journal ends in a record that was never finished, and so never acknowledged; it is dropped",
			"bytes", lost, "line", found.damage[0].Line)
	}
	return found, nil
}

// wake brings what was read to the present.
func (c *committer) wake(now Reading) (*Boot, []shortened) {
	f := c.shared.fold
	if step := f.anchor.step(now); step != 0 {
		c.log.Warn("the wall clock was set while no server ran; leases keep the time they had left", "by", step)
		f.shift(step)
	}
	f.anchor = anchorAt(now)
	ended, short := f.wake(instantOf(now.Now))
	c.room, c.content = f.room, f.content
	return &Boot{Floor: f.floor, Topics: f.names(), Ended: ended}, short
}

// begin makes the file that is appended to from now on: a new one, or where the disk is full the old one. Where even
// that has no room left the journal begins refusing, as if it had failed just now, and comes back by itself.
func (c *committer) begin(found *survey, ended []Ended, short []shortened) error {
	err := c.replace()
	if err == nil {
		c.makeRoom()
		return nil
	}
	if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
		return err
	}
	c.log.Warn("the disk is full: the journal goes on in the old file", "error", err)
	if err := c.carryOn(found, ended, short); err != nil {
		c.closeFile()
		c.fail(err)
		c.recover()
	}
	return nil
}

// carryOn goes on in the old file, in the room that is still set aside there, right behind the last record that counts. What
// ended while no server ran, and what was shortened since the clock was set back, is written there as well, as a new file
// would have it: the next start must not find the first again, nor lengthen the second.
func (c *committer) carryOn(found *survey, ended []Ended, short []shortened) (err error) {
	if c.file, err = c.fs.Open(disk.BootOpen, filepath.Join(c.dir, journalName)); err != nil {
		return fmt.Errorf("%s: %w", disk.BootOpen, err)
	}
	c.size, c.filled = found.good, found.size
	if err := c.blankOut(found); err != nil {
		return err
	}
	lines := record.AppendSynced(nil, c.shared.fold.anchor.record(nil))
	for i := range ended {
		lines = record.AppendEvent(lines, ended[i].Topic, &ended[i].Event)
	}
	for i := range short {
		lines = record.AppendEvent(lines, short[i].topic, &short[i].event)
	}
	if err := c.bootWrite(lines); err != nil {
		return err
	}
	c.size += int64(len(lines))
	c.filled = max(c.filled, c.size)
	c.safe, c.reserved = true, c.size
	c.learn()
	c.makeRoom()
	return nil
}

// blankOut makes blank lines of a torn batch: to cut it off would give its room away. That is safe before a record is
// written over them, since what a power cut leaves of the two together might look like damage. A last record that lacks
// its newline gets it.
func (c *committer) blankOut(found *survey) error {
	if torn := found.text - found.good; torn > 0 {
		return c.bootWrite(bytes.Repeat([]byte{'\n'}, int(torn)))
	}
	if !found.open {
		return nil
	}
	err := c.bootWrite([]byte{'\n'})
	c.size++
	return err
}

func (c *committer) bootWrite(b []byte) error {
	if err := c.file.WriteAt(disk.BootWrite, b, c.size); err != nil {
		return fmt.Errorf("%s: %w", disk.BootWrite, err)
	}
	if err := c.file.Sync(disk.BootSync); err != nil {
		return fmt.Errorf("%s: %w", disk.BootSync, err)
	}
	return nil
}
