package journal

import (
	"fmt"
	"time"

	"legible.sh/mutex/internal/journal/disk"
	"legible.sh/mutex/internal/journal/record"
	"legible.sh/mutex/internal/lease"
)

// commitWaiting makes all that is queued safe, and lets its appenders go on.
func (c *committer) commitWaiting() {
	if c.over || c.queue.empty() {
		return
	}
	c.lookAround()
	if c.fault != nil {
		c.queue.wake() // it waits for the new file, or to be refused
		return
	}
	batch := c.queue.take(c.spare[:0])
	admitted, refused := c.admit(batch)
	if len(admitted) > 0 {
		c.store(admitted)
	}
	for _, r := range refused {
		c.refused = true
		r.answer(fmt.Errorf("%w: %w", lease.ErrSuspended, errNoRoom)) // nothing of it was written: no ErrStorage
	}
	clear(batch)
	c.spare = batch
}

// refuseWaiting tells all that is queued that it cannot be made safe, if that is so.
func (c *committer) refuseWaiting() {
	if c.fault != nil {
		c.reject(c.queue.take(nil))
	}
}

// store is the life of a batch: one write, one sync, then the fold, then the answers. The order is the whole point:
// what is answered is in the fold, and what is in the fold is safe.
func (c *committer) store(batch []*request) {
	c.noticeClock(batch)
	records := c.lines(batch)
	commit := Commit{Records: records, Bytes: len(c.buf)}
	if err := c.append(&commit); err != nil {
		c.fail(err)
		c.reject(batch)
		c.recoverSoon()
		return
	}
	c.take(batch)
	for _, r := range batch {
		r.answer(nil)
	}
	c.count.records.Add(uint64(records))
	c.count.commits.Add(1)
	c.committed++
	c.unproven, c.backoff = false, 0
	if c.options.OnCommit != nil {
		c.options.OnCommit(commit)
	}
	c.makeRoom()
	c.layBlanks()
	c.compactIfLarge()
}

// lines puts a batch together.
func (c *committer) lines(batch []*request) (records int) {
	for _, r := range batch {
		c.put(r.lines)
		records += r.records
	}
	return records
}

// put adds lines to the batch. Its first line says that all before it is safe, where it is.
func (c *committer) put(lines []byte) {
	if len(c.buf) == 0 && c.safe {
		c.buf = record.AppendSynced(c.buf, lines)
	} else {
		c.buf = append(c.buf, lines...)
	}
}

// append writes what is in the buffer, and makes it safe where the mode wants that.
func (c *committer) append(commit *Commit) error {
	defer func() {
		clear(c.buf)
		c.buf = c.buf[:0]
		if cap(c.buf) > 16*maxKept {
			c.buf = nil
		}
	}()
	start := time.Now()
	if err := c.file.WriteAt(disk.AppendWrite, c.buf, c.size); err != nil {
		return fmt.Errorf("%s: %w", disk.AppendWrite, err)
	}
	written := time.Now()
	commit.Write = written.Sub(start)
	c.size += int64(len(c.buf))
	c.filled = max(c.filled, c.size)
	if c.options.Fsync != Always {
		c.safe = false
		c.syncLater()
		return nil
	}
	if err := c.sync(); err != nil {
		return err
	}
	commit.Sync = time.Since(written)
	return nil
}

func (c *committer) sync() error {
	if err := c.file.Sync(disk.AppendSync); err != nil {
		return fmt.Errorf("%s: %w", disk.AppendSync, err)
	}
	c.safe = true
	return nil
}

func (c *committer) syncLater() {
	if c.options.Fsync == Interval {
		c.syncing.in(c.options.Interval)
	}
}

// syncInterval is the sync of mode Interval. If it fails, what was acknowledged since the last one is still in the
// fold, and so in the new file.
func (c *committer) syncInterval() {
	if c.fault != nil || c.safe {
		return
	}
	if err := c.sync(); err != nil {
		c.fail(err)
		c.recoverSoon()
	}
}

// take puts what is safe now into the fold, and so into what a draft must follow.
func (c *committer) take(batch []*request) {
	c.shared.with(func(f *fold) {
		for _, r := range batch {
			c.retire(f, r)
			for i := range r.events {
				f.apply(r.topic, &r.events[i])
			}
			f.follow(r.topic, r.lines)
		}
		if f.spent > 0 {
			c.forget.in(c.options.Keep + time.Second)
		}
		c.room, c.content = f.room, f.content
	})
}

// forgetSpent drops the spent keys that are over, of topics too that nobody uses any more.
func (c *committer) forgetSpent() {
	now := c.options.Clock()
	c.shared.with(func(f *fold) {
		f.forgetAll(f.anchor.present(now))
		if f.spent > 0 {
			c.forget.in(c.options.Keep + time.Second)
		}
		c.room, c.content = f.room, f.content
	})
}

// reject tells a batch that nothing of it is safe. A retirement holds all the same: it is in the fold, and so in the
// file that comes next, before anything is acknowledged that rests on it.
func (c *committer) reject(batch []*request) {
	if len(batch) == 0 {
		return
	}
	c.count.failures.Add(1)
	c.shared.with(func(f *fold) {
		for _, r := range batch {
			c.retire(f, r)
		}
	})
	err := fmt.Errorf("%w: %w", ErrStorage, c.fault)
	for _, r := range batch {
		r.answer(err)
	}
}

// retire takes in a request, if it is a retirement.
func (c *committer) retire(f *fold, r *request) {
	if r.done == nil {
		f.retire(r.topic, r.fence)
		c.queue.retired(r.topic)
	}
}

// noticeClock looks whether the wall clock was set. If so, all that is stored moves with it, in the fold and, by the
// record that the next batch begins with, on every replay. What was decided before that, and waited for its turn, moves too:
// it comes to stand behind that record.
func (c *committer) noticeClock(batch []*request) {
	now := c.options.Clock()
	step := c.shared.fold.anchor.step(now) // nobody but who has the turn changes it
	if step == 0 {
		if c.step != 0 && now.Up-c.stepped < time.Second { // decided before that, and not in the queue yet when it was noticed
			moveEarlier(batch, now, c.step)
		}
		return
	}
	c.step, c.stepped = step, now.Up
	c.log.Warn("the wall clock was set; leases keep the time they had left", "by", step)
	next := anchorAt(now)
	line := next.record(nil)
	c.put(line)
	c.shared.with(func(f *fold) {
		f.shift(step)
		f.anchor = next
		f.followAll(line)
	})
	moveEarlier(batch, now, step)
}
