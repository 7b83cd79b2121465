package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"legible.sh/mutex/internal/lease"
)

// Store is the history of one server, in a file. Safe for concurrent use.
type Store struct {
	opts  Options
	queue *queue

	flushes  chan chan struct{} // each answered once what was observed before has been tried
	stop     chan struct{}      // closed by Close
	stopOnce sync.Once
	hurry    context.CancelFunc // ends what the writer is doing; by Close
	done     chan struct{}      // closed by the writer
	lost     error              // set by the writer before done

	overviews chan struct{} // holds one: the overview that runs

	written atomic.Uint64
	bytes   atomic.Int64
	failing atomic.Bool            // by the writer: the last attempt failed
	suspect atomic.Pointer[sql.DB] // by readers: the connections over which the file looked damaged

	mu     sync.RWMutex
	reader *sql.DB // guarded by mu; swapped by the writer when the file is; nil before the first success
}

// Stats are counts for metrics. In memory nothing waits, is lost or fails.
type Stats struct {
	Queued  int    // events waiting to be written
	Dropped uint64 // events lost since the start: the queue was full, or the database failed for good
	Written uint64 // events on record since the start
	Bytes   int64  // size of what the database holds, as of the last look
	Failing bool   // the last attempt to write failed
}

// closeGrace is how long Close waits, after its context's end, for the writer to notice.
const closeGrace = 500 * time.Millisecond

// Open starts a history. It does not fail: where the database cannot be opened, the writer says so in the log and
// goes on trying. End it with [Store.Close].
func Open(o Options) *Store {
	o = o.withDefaults()
	ctx, cancel := context.WithCancel(context.Background())
	s := &Store{
		opts: o, queue: newQueue(o.QueueLimit), hurry: cancel,
		flushes: make(chan chan struct{}), overviews: make(chan struct{}, 1),
		stop: make(chan struct{}), done: make(chan struct{}),
	}
	go newLoop(ctx, s).run()
	return s
}

// Observe records what happened to a topic. It never blocks and keeps nothing of the slice; what is no part of a
// history is passed over.
func (s *Store) Observe(topic lease.Topic, events []lease.Event) { s.queue.push(string(topic), events) }

// Flush waits until the writer has tried to write everything observed before the call, or ctx ends.
func (s *Store) Flush(ctx context.Context) error {
	reply := make(chan struct{}, 1)
	select {
	case s.flushes <- reply:
	case <-s.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-reply:
		return nil
	case <-s.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Stats counts.
func (s *Store) Stats() Stats {
	queued, dropped := s.queue.counts()
	return Stats{
		Queued: queued, Dropped: dropped, Written: s.written.Load(), Bytes: s.bytes.Load(), Failing: s.failing.Load(),
	}
}

// Close writes what is still queued and closes the database. When ctx ends first, the rest is given up; the error
// says how much. Events observed from now on are dropped. More calls wait for the same end.
func (s *Store) Close(ctx context.Context) error {
	s.stopOnce.Do(func() { close(s.stop) })
	defer s.hurry()
	select {
	case <-s.done:
		return s.lost
	case <-ctx.Done():
	}
	s.hurry()
	patience := time.NewTimer(closeGrace)
	defer patience.Stop()
	select {
	case <-s.done:
		return s.lost
	case <-patience.C:
		return fmt.Errorf("history: the database does not let go: %w", ctx.Err())
	}
}

// db gives the connections for reading.
func (s *Store) db() (*sql.DB, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.reader == nil {
		return nil, fmt.Errorf("%w: it could not be opened yet", ErrUnavailable)
	}
	return s.reader, nil
}

// swapReader puts db in place of the old connections, which are closed.
func (s *Store) swapReader(db *sql.DB) error {
	s.mu.Lock()
	old := s.reader
	s.reader = db
	s.mu.Unlock()
	if old == nil {
		return nil
	}
	return old.Close()
}

// isSuspect tells whether a reader met damage in the file that is there now. Others may have met the same damage as the
// one for which a file was set aside, and say so when there is a new one.
func (s *Store) isSuspect() bool {
	db := s.suspect.Swap(nil)
	s.mu.RLock()
	defer s.mu.RUnlock()
	return db != nil && db == s.reader
}

// settle gives what has been observed a moment to get where it can be read. It is no error if it does not.
func (s *Store) settle(ctx context.Context) {
	if s.failing.Load() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, readBusy)
	defer cancel()
	_ = s.Flush(ctx)
}

// seen passes on what a read over db has met: damage is the writer's to repair.
func (s *Store) seen(db *sql.DB, err error) error {
	if damaged(err) {
		s.suspect.Store(db)
	}
	if err == nil || errors.Is(err, ErrBadQuery) {
		return err
	}
	return unavailable(err)
}
