package journal

import (
	"bytes"
	"fmt"

	"legible.sh/mutex/internal/journal/disk"
)

// blankStep is how many blank lines are written at a time.
const blankStep = 64 << 10

// blankLines is what they are written from.
var blankLines = bytes.Repeat([]byte{'\n'}, blankStep)

// layBlanks makes the file longer before it needs to be. A sync after a write that makes a file longer, or is the first
// to a block, has the file system commit a transaction of its own beside the data; one after a write over bytes that
// were there has not. So records are written over blank lines, which every reader of lines skips. They are newlines, for
// the file must stay text, and lie within the room that was set aside: their blocks are the same ones.
//
// It comes after the answers, which need not wait for it, and where no sync is waited for there is nothing to gain. The
// last byte before a multiple of the chunk stays out, so that what a program of the first generation appends to the file
// does not begin where only a lost sector lets a line begin; see [newLoss].
func (c *committer) layBlanks() {
	chunk := c.options.Blanks
	if c.fault != nil || c.options.Fsync != Always || c.unpromised || c.filled-c.size >= chunk/2 {
		return
	}
	half := c.size + chunk/2
	end := min(half-half%chunk+chunk, c.reserved-c.reserved%sector) - 1
	for c.filled < end {
		n := min(end-c.filled, blankStep)
		if err := c.file.WriteAt(disk.AppendBlanks, blankLines[:n], c.filled); err != nil {
			c.fail(fmt.Errorf("%s: %w", disk.AppendBlanks, err))
			c.recoverSoon()
			return
		}
		c.filled += n
	}
}
