package journal

import (
	"log/slog"
	"runtime"
	"sync"
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

// committer is what belongs to whoever has the turn. There is one, so that one sync can serve everybody who came
// meanwhile, and so that what is in the file has one order: an appender who finds the turn free, or else the journal's
// own goroutine.
type committer struct {
	turn    sync.Mutex
	over    bool // there are no more turns
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
	filled int64 // how long the file is: from size up to here it has blank lines
	safe   bool  // all that is in the file is synced
	probed bool  // it is known whether the file system tells if a file is still the one at its name
	blind  bool  // it does not
	buf    []byte
	spare  []*request // the queue's emptied slice

	reserved   int64 // up to here writing cannot fail for want of space
	unpromised bool  // it still can: the file system sets nothing aside, and that was a guess
	shortage   bool  // there was no more room to set aside
	refused    bool  // a grant, for want of room, since that was last looked for
	warned     bool  // that was said, and there has been no room since
	room       int64 // what all leases and kept places need set aside
	content    int64 // what a compact file would be

	cause     error // what went wrong first
	fault     error // why nothing can be appended, with what came of trying to; nil: all is well
	backoff   time.Duration
	unproven  bool          // nothing was committed yet to the file that took a failed one's place
	draft     *draft        // of the compaction that runs, or nil
	copied    chan struct{} // holds one: a draft has an outcome
	failedAt  int64         // how large the file was when a compaction failed; 0: the last one did not
	step      time.Duration // by which the wall clock was last seen to be set, since the start
	stepped   time.Duration // when, by the clock that nobody sets
	committed uint64        // counts commits, to tell whether it is quiet
	seen      uint64        // committed when quiet was set

	retry, refuse, syncing, quiet, forget, watch alarm
	stop                                         <-chan struct{}
}

// lead commits on the goroutine of an appender who has just queued something. Who is alone so need not wait for another
// goroutine to wake up, and then for its own: that halved what the journal takes beside the disk. Where somebody else has
// the turn, that one sees to it that what came meanwhile is committed next.
func (c *committer) lead() {
	if !c.turn.TryLock() {
		return
	}
	runtime.Gosched() // whoever is about to append does so first: fewer, larger commits where there is a crowd
	c.commitWaiting()
	c.yield()
}

// do is one turn of the journal's own goroutine.
func (c *committer) do(what func()) {
	c.turn.Lock()
	what()
	c.yield()
}

// ring is a turn that an alarm asked for.
func (c *committer) ring(a *alarm, what func()) {
	c.do(func() {
		a.set = false
		what()
	})
}

// yield ends a turn. Who came during it could not take the turn, and may be asleep by now.
func (c *committer) yield() {
	c.publish()
	c.turn.Unlock()
	if !c.queue.empty() {
		c.queue.wake()
	}
}

// run is the journal's goroutine: it exists to commit what nobody else does, and for all that takes time to come. It
// ends when it is told to stop, having committed what was left in the queue.
func (c *committer) run() error {
	defer c.retry.off()
	defer c.refuse.off()
	defer c.syncing.off()
	defer c.quiet.off()
	defer c.forget.off()
	defer c.watch.off()
	for {
		select {
		case <-c.ready():
			runtime.Gosched() // as in lead
			c.do(c.commitWaiting)
		case <-c.refuse.timer.C:
			c.ring(&c.refuse, c.refuseWaiting)
		case <-c.copied:
			c.do(c.adopt)
		case <-c.retry.timer.C:
			c.ring(&c.retry, c.tryAgain)
		case <-c.syncing.timer.C:
			c.ring(&c.syncing, c.syncInterval)
		case <-c.quiet.timer.C:
			c.ring(&c.quiet, c.compactIfQuiet)
		case <-c.forget.timer.C:
			c.ring(&c.forget, c.forgetSpent)
		case <-c.watch.timer.C:
			c.ring(&c.watch, c.lookAround)
		case <-c.stop:
			c.turn.Lock()
			defer c.turn.Unlock()
			return c.finish()
		}
	}
}

// ready says when there is something to commit. While the journal cannot be written, nothing is: appends wait a little,
// since it often comes back at once, and are refused then; so an actor that tries again and again does not spin.
func (c *committer) ready() (ready <-chan struct{}) {
	c.do(func() {
		c.watch.in(watchTime)
		if c.fault != nil {
			c.refuse.in(refuseTime)
		} else {
			ready = c.queue.ready
		}
	})
	return ready
}

// tryAgain looks whether what was wrong is over.
func (c *committer) tryAgain() {
	if c.fault != nil {
		c.recover()
		return
	}
	if c.shortage {
		c.shortage, c.refused = false, false
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
	defer func() { c.over = true }()
	c.lookAround()
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
