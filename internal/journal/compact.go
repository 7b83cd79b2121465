package journal

import "legible.sh/mutex/internal/journal/disk"

const (
	// compactRatio is how much larger than its content a file is before it is worth compacting.
	compactRatio = 4
	// quietSize is the smallest file that is worth compacting, and only while nothing else is to do.
	quietSize = 256 << 10
)

// compactIfLarge starts a compaction under load, or sets the alarm for a quiet moment.
func (c *committer) compactIfLarge() {
	switch {
	case !c.worthCompacting():
	case c.size >= c.options.CompactAt:
		c.compact()
	case !c.quiet.set:
		c.seen = c.committed
		c.quiet.in(quietTime)
	}
}

// worthCompacting tells whether much of the file is past. A compaction that failed is not tried again before the file
// is half as large again.
func (c *committer) worthCompacting() bool {
	return c.draft == nil && c.fault == nil && c.size >= min(quietSize, c.options.CompactAt) &&
		c.size >= compactRatio*c.content && c.size >= c.failedAt+c.failedAt/2
}

// compactIfQuiet starts a compaction if nothing was committed since the alarm was set.
func (c *committer) compactIfQuiet() {
	if c.seen == c.committed && c.worthCompacting() {
		c.compact()
	} else {
		c.compactIfLarge()
	}
}

// compact begins a copy on a goroutine of its own: it exists so that commits go on meanwhile, and ends when the copy is
// made, or soon after the draft was aborted. The committer waits for its outcome in every case.
func (c *committer) compact() {
	d, err := c.newDraft()
	if err != nil {
		c.compactionFailed(err)
		return
	}
	c.draft = d
	go func() {
		d.outcome <- d.copy()
		select {
		case c.copied <- struct{}{}:
		default: // told already, of one that was abandoned
		}
	}()
}

// adopt ends a compaction, if it has an outcome: nothing is committed for as long as the last records and the change of
// names take.
func (c *committer) adopt() {
	d := c.draft
	if d == nil || len(d.outcome) == 0 {
		return
	}
	c.draft = nil
	err := <-d.outcome
	if err == nil {
		err = d.finish()
	}
	room := c.need() + roomMargin + roomChunk
	if err == nil {
		err = c.allocate(d.file, disk.NewAllocate, d.size, room)
	}
	if err != nil {
		c.discard(d)
		c.compactionFailed(err)
		return
	}
	if err := c.place(d); err != nil { // which of the two files is there is not known: neither can be gone on with
		c.discard(d)
		c.fail(err)
		c.recoverSoon()
		return
	}
	c.log.Info("the journal was compacted", "from", c.size, "to", d.size)
	c.swap(d)
	c.reserved = c.size + room
	c.count.compactions.Add(1)
}

// compactionFailed goes on in the old file, which is as good as before.
func (c *committer) compactionFailed(err error) {
	c.failedAt = c.size
	c.log.Warn("the journal could not be compacted; it goes on as it is", "error", err)
}

// abandonDraft ends a compaction in progress and waits until it has ended.
func (c *committer) abandonDraft() {
	if c.draft == nil {
		return
	}
	c.draft.aborted.Store(true)
	<-c.draft.outcome
	c.discard(c.draft)
	c.draft = nil
}
