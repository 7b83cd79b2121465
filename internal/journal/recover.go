package journal

import "fmt"

// fail notes that the file cannot be trusted any more: what was written to it may be there or not, and reading it back
// proves nothing. Until there is a new one, everything is refused.
func (c *committer) fail(cause error) {
	c.cause, c.fault = cause, cause
	c.log.Error("the journal cannot be written; everything is refused until it can", "error", cause)
	c.abandonDraft()
	c.publish()
}

// recoverSoon makes a new file at once, unless the last one failed before anything was committed to it: then one file
// after the other would be made, as fast as the disk can.
func (c *committer) recoverSoon() {
	if c.unproven {
		c.recoverLater()
	} else {
		c.recover()
	}
}

func (c *committer) recoverLater() {
	c.backoff = min(max(2*c.backoff, firstRetry), lastRetry)
	c.retry.in(c.backoff)
}

// recover makes a new file from what was acknowledged. If that does not work out, it is tried again later.
func (c *committer) recover() {
	if err := c.replace(); err != nil {
		c.fault = fmt.Errorf("%w; a new file: %w", c.cause, err)
		c.recoverLater()
		return
	}
	c.cause, c.fault, c.unproven = nil, nil, true
	c.log.Info("the journal is written again, to a new file", "bytes", c.size)
	c.makeRoom()
}

// replace puts a new file, made from the fold, in the place of the present one.
func (c *committer) replace() error {
	d, err := c.newDraft()
	if err != nil {
		return err
	}
	if err = d.walk(); err == nil {
		err = d.finish()
	}
	if err == nil {
		err = c.place(d)
	}
	if err != nil {
		c.discard(d)
		return err
	}
	c.swap(d)
	return nil
}

// swap goes on in the draft's file.
func (c *committer) swap(d *draft) {
	c.closeFile()
	c.file, c.size, c.filled, c.safe = d.file, d.size, d.size, true
	c.reserved, c.shortage, c.refused = d.size, false, false
	c.failedAt = 0
	c.learn()
	c.shared.with(func(f *fold) { c.room, c.content = f.room, f.content })
}
