package history

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"runtime"
	"time"

	sqlite3 "modernc.org/sqlite/lib"
)

const (
	// eventsAtOnce bounds a transaction, so that the writer does not keep a processor for long.
	eventsAtOnce = 2048
	// stepsAtOnce is how many blocks retention may forget in a turn: more than a turn can fill.
	stepsAtOnce = 16
	// betweenSteps is the pause when retention has more to do.
	betweenSteps = 20 * time.Millisecond
	// idle is how often an idle writer looks for what has grown too old.
	idle = time.Minute
	// firstRetry is the pause after a first failure; it doubles up to Options.Retry.
	firstRetry = 100 * time.Millisecond
)

// errSuspect: a reader met damage.
var errSuspect = errors.New("a read found the file damaged")

// loop is the writer goroutine and all that it alone touches.
type loop struct {
	s     *Store
	ctx   context.Context // ends when Close has run out of time
	w     *writer         // nil while the database is not open
	file  fs.FileInfo     // of the file that was opened last; nil before
	wal   fs.FileInfo     // of the log beside it
	timer *time.Timer

	taken   []observed // what was taken from the queue last
	pending []observed // the part of it not yet written
	thinner thinner
	pause   time.Duration // until the next attempt; 0 when all is well
	lostAt  uint64        // events dropped before the failure began
	more    bool          // retention has more to do
}

func newLoop(ctx context.Context, s *Store) *loop {
	return &loop{s: s, ctx: ctx, timer: time.NewTimer(0), thinner: make(thinner)}
}

// run waits for something to write, lets a little more gather, and writes it. It opens the database first, so that
// reads work before anything has happened.
func (l *loop) run() {
	defer close(l.s.done)
	defer l.timer.Stop()
	for {
		select {
		case <-l.s.stop:
			l.finish()
			return
		case reply := <-l.s.flushes:
			l.turn()
			reply <- struct{}{}
		case <-l.s.queue.some:
			if l.pause == 0 {
				l.timer.Reset(l.s.opts.Linger)
			}
		case <-l.s.queue.many:
			if l.pause == 0 {
				l.turn()
			}
		case <-l.timer.C:
			l.turn()
		}
	}
}

// turn makes one attempt, and sets the timer for the next.
func (l *loop) turn() {
	err := l.work()
	switch {
	case err == nil:
		l.recovered()
	case l.ctx.Err() == nil:
		l.failed(err)
	}
	switch {
	case l.pause > 0:
		l.timer.Reset(l.pause)
	case l.more:
		l.timer.Reset(betweenSteps)
	default:
		l.timer.Reset(idle)
	}
}

// work opens the database if need be, writes everything that has gathered, and forgets what must go.
func (l *loop) work() error {
	if err := l.leaveLost(); err != nil {
		return err
	}
	if l.w == nil {
		if err := l.open(); err != nil {
			return err
		}
	}
	if l.s.isSuspect() {
		return errSuspect
	}
	if err := l.drain(); err != nil {
		return err
	}
	return l.retain()
}

func (l *loop) open() error {
	o := &l.s.opts
	db, err := openWriter(l.ctx, o,
		"journal_mode(WAL)", "synchronous(NORMAL)", "wal_autocheckpoint(4096)", "journal_size_limit(16777216)")
	if err != nil {
		return err
	}
	l.w = newWriter(db)
	if l.file, err = os.Stat(o.Path); err != nil {
		return err
	}
	l.wal, _ = os.Stat(o.Path + "-wal")
	if _, err := l.s.db(); err == nil {
		return nil // the readers' connections are still good
	}
	if db, err = openReader(o); err != nil {
		return err
	}
	return l.s.swapReader(db)
}

// leaveLost lets go of a file that was removed or replaced, or whose directory was: it would take all that is written
// to it, and no start would ever read that. SQLite sees that as well, and leaves its log: over another file it would be
// damage, so it goes.
func (l *loop) leaveLost() error {
	if l.file == nil {
		return nil
	}
	path := l.s.opts.Path
	if now, err := os.Stat(path); err == nil && os.SameFile(now, l.file) {
		return nil
	}
	l.file = nil
	l.log().Warn("history: the file was removed or replaced; what was in it is left behind")
	l.closeWriter()
	err := l.s.swapReader(nil)
	if now, statErr := os.Stat(path + "-wal"); statErr == nil && os.SameFile(now, l.wal) {
		err = errors.Join(err, removeIfThere(path+"-wal"), removeIfThere(path+"-shm"))
	}
	return err
}

// drain writes what was left by a failed attempt, then what the queue has.
func (l *loop) drain() error {
	if err := l.writePending(); err != nil {
		return err
	}
	l.taken = l.s.queue.take(l.taken)
	l.pending = l.thinner.thin(l.taken)
	return l.writePending()
}

func (l *loop) writePending() error {
	for len(l.pending) > 0 {
		chunk := l.pending[:min(len(l.pending), eventsAtOnce)]
		err := l.w.write(l.ctx, chunk)
		switch {
		case err == nil:
			l.s.written.Add(uint64(len(chunk)))
		case lasting(err):
			l.s.queue.drop(len(chunk))
			l.log().Error("history: events could not be written and are dropped", "events", len(chunk), "err", err)
		default:
			return err
		}
		l.pending = l.pending[len(chunk):]
		runtime.Gosched() // a lock may be waiting for this processor
	}
	clear(l.taken) // the tokens among it
	return nil
}

func (l *loop) retain() (err error) {
	o := &l.s.opts
	l.more = true
	for range stepsAtOnce {
		if l.more, err = l.w.retain(l.ctx, o); err != nil || !l.more {
			break
		}
	}
	if err != nil {
		return err
	}
	size, err := bytes(l.ctx, l.w.db)
	l.s.bytes.Store(size)
	return err
}

// failed notes a failure, once, and makes ready for the next attempt.
func (l *loop) failed(err error) {
	if l.pause == 0 {
		l.s.failing.Store(true)
		_, l.lostAt = l.s.queue.counts()
		l.log().Error("history: cannot write; trying again until it works", "err", err)
	}
	l.pause = min(max(2*l.pause, firstRetry), l.s.opts.Retry)
	l.closeWriter()
	switch {
	case damaged(err) || errors.Is(err, errSuspect):
		l.startOver()
	case primaryCode(err) == sqlite3.SQLITE_IOERR:
		// The readers share the log's index in memory with the next writer. If that is what is broken, as when the files
		// were cut, all must let go of it before it is made anew.
		if err := l.s.swapReader(nil); err != nil {
			l.log().Debug("history: closing", "err", err)
		}
	}
}

// startOver makes room for a new file.
func (l *loop) startOver() {
	l.file = nil
	err := errors.Join(l.s.swapReader(nil), setAside(l.s.opts.Path))
	if err != nil {
		l.log().Error("history: a damaged file could not be set aside", "err", err)
		return
	}
	l.log().Warn("history: a damaged file was set aside", "to", l.s.opts.Path+".corrupt")
}

func (l *loop) recovered() {
	if l.pause == 0 {
		return
	}
	l.pause = 0
	l.s.failing.Store(false)
	_, dropped := l.s.queue.counts()
	l.log().Info("history: writing again", "dropped", dropped-l.lostAt)
}

func (l *loop) closeWriter() {
	if l.w == nil {
		return
	}
	if err := l.w.close(l.ctx); err != nil {
		l.log().Debug("history: closing", "err", err)
	}
	l.w = nil
}

func (l *loop) log() *slog.Logger { return l.s.opts.Log.With("op", "history", "path", l.s.opts.Path) }

// finish makes a last attempt at what is left, until it is done or Close has run out of time.
func (l *loop) finish() {
	l.s.queue.close()
	err := l.work()
	for err != nil && l.ctx.Err() == nil && retryable(err) {
		l.failed(err)
		l.timer.Reset(l.pause)
		select {
		case <-l.timer.C:
			err = l.work()
		case <-l.ctx.Done():
		}
	}
	if lost := len(l.pending) + len(l.s.queue.take(nil)); lost > 0 {
		l.s.queue.drop(lost)
		l.s.lost = fmt.Errorf("history: %d events were not written: %w", lost, err)
	}
	l.s.lost = errors.Join(l.s.lost, l.s.swapReader(nil))
	l.closeWriter()
}

// retryable tells whether the short time before an end may be enough: a lock may go, a damaged file be replaced.
func retryable(err error) bool {
	switch primaryCode(err) {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return true
	}
	return damaged(err) || errors.Is(err, errSuspect)
}
