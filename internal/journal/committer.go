package journal

import (
	"log/slog"
	"runtime"
	"time"

	"legible.sh/mutex/internal/journal/disk"
)

// Times that the committer waits.
const (
	quietTime  = time.Second            // without a commit, before a smaller file is worth compacting
	firstRetry = 100 * time.Millisecond // after a failure; doubled each time
	lastRetry  = 5 * time.Second
	refuseTime = 100 * time.Millisecond // that appends wait for the journal to come back, before they are refused
	roomRetry  = time.Second            // to look for room again on a full disk
	watchTime  = time.Second            // between two looks at the file's name, commits or not
)

// committer is what the journal's one goroutine owns. It exists so that one sync can serve everybody who came
// meanwhile, and so that what is in the file has one order.
type committer struct {
	options Options
	log     *slog.Logger
	fs      disk.FS
	dir     string
	lock    disk.Lock
	queue   *queue
	shared  *sharedFold
	status  *status
	count   *counters

	file   disk.File
	size   int64 // where the next record goes
	safe   bool  // all that is in the file is synced
	probed bool  // it is known whether the file system tells if a file is still the one at its name
	blind  bool  // it does not
	buf    []byte
	spare  []*request // the queue's emptied slice
	anchor anchor

	reserved int64 // up to here writing cannot fail for want of space
	shortage bool  // there was no more room to set aside
	warned   bool  // that was said, and there has been no room since
	room     int64 // what all leases need set aside
	content  int64 // what a compact file would be

	cause     error // what went wrong first
	fault     error // why nothing can be appended, with what came of trying to; nil: all is well
	backoff   time.Duration
	unproven  bool       // nothing was committed yet to the file that took a failed one's place
	draft     *draft     // of the compaction that runs, or nil
	copied    chan error // its outcome; holds one
	failedAt  int64      // how large the file was when a compaction failed; 0: the last one did not
	committed uint64     // counts commits, to tell whether it is quiet
	seen      uint64     // committed when quiet was set

	retry, refuse, syncing, quiet, forget, watch alarm
	stop                                         <-chan struct{}
}

// run commits until it is told to stop, and then what is left in the queue.
func (c *committer) run() error {
	defer c.retry.off()
	defer c.refuse.off()
	defer c.syncing.off()
	defer c.quiet.off()
	defer c.forget.off()
	defer c.watch.off()
	for {
		c.watch.in(watchTime)
		select {
		case <-c.ready():
			runtime.Gosched() // whoever is about to append does so first: fewer, larger commits where there is a crowd
			c.commitWaiting()
		case <-c.refuse.timer.C:
			c.refuse.set = false
			c.refuseWaiting()
		case err := <-c.copied:
			c.adopt(err)
		case <-c.retry.timer.C:
			c.retry.set = false
			c.tryAgain()
		case <-c.syncing.timer.C:
			c.syncing.set = false
			c.syncInterval()
		case <-c.quiet.timer.C:
			c.quiet.set = false
			c.compactIfQuiet()
		case <-c.forget.timer.C:
			c.forget.set = false
			c.forgetSpent()
		case <-c.watch.timer.C:
			c.watch.set = false
			c.lookAround()
		case <-c.stop:
			return c.finish()
		}
		c.publish()
	}
}

// ready says when there is something to commit. While the journal cannot be written, nothing is: appends wait a little,
// since it often comes back at once, and are refused then; so an actor that tries again and again does not spin.
func (c *committer) ready() <-chan struct{} {
	if c.fault != nil {
		c.refuse.in(refuseTime)
		return nil
	}
	return c.queue.ready
}

// tryAgain looks whether what was wrong is over.
func (c *committer) tryAgain() {
	if c.fault != nil {
		c.recover()
		return
	}
	if c.shortage {
		c.shortage = false
		c.makeRoom()
	}
}

// publish shows the condition to others.
func (c *committer) publish() {
	trouble := c.fault
	if trouble == nil && c.mustSuspend() {
		trouble = errNoRoom
	}
	c.status.set(trouble)
	c.count.size.Store(c.size)
	c.count.reserved.Store(max(c.reserved-c.size, 0))
	c.count.needed.Store(c.need())
}

// finish commits what is left and makes all of it safe. The room is given back, but not on a full disk, where nobody
// might get it again.
func (c *committer) finish() error {
	c.commitWaiting()
	c.refuseWaiting()
	c.abandonDraft()
	if c.fault != nil {
		c.recover() // once more: there is no later
	}
	if c.fault != nil {
		c.closeFile()
		return c.fault
	}
	if !c.shortage {
		if err := c.file.Truncate(disk.CloseTruncate, c.size); err != nil {
			c.log.Warn("the journal's room could not be given back", "error", err)
		}
	}
	err := c.file.Sync(disk.CloseSync)
	c.closeFile()
	return err
}

// closeFile lets go of the file. Whatever counted in it is synced, or in doubt already.
func (c *committer) closeFile() {
	if c.file != nil {
		_ = c.file.Close()
		c.file = nil
	}
}
