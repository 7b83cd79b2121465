package journal

import (
	"context"
	"fmt"
	"sync"
	"time"

	"legible.sh/mutex/internal/journal/record"
	"legible.sh/mutex/internal/lease"
)

// File is a journal in a directory. All its methods may be called from any goroutine.
type File struct {
	span      time.Duration
	clock     func() Reading
	queue     *queue
	committer *committer
	shared    *sharedFold
	status    *status
	count     *counters
	stop      chan struct{} // closed by Close
	done      chan struct{} // closed when the journal's goroutine has ended
	closing   sync.Once
	ended     error // of the committer; read after done
}

// Append makes the durable ones among a topic's events safe, in order, and returns then. On an error nothing of
// them may be shown: the state they came from is to be dropped and built again from [File.Recall]. It is an [ErrStorage],
// or [lease.ErrSuspended] where there is no room for a grant among them, and then none of them was written. The slice is not
// kept. One topic must not call it twice at once.
func (f *File) Append(topic lease.Topic, events []lease.Event) error {
	r := f.queue.request()
	defer f.queue.free(r)
	r.encode(topic, events, f.span)
	if r.records == 0 {
		return nil
	}
	if !f.queue.push(r) {
		return errClosed
	}
	f.committer.lead()
	return <-r.done
}

// Floor retires a topic: it is forgotten but for its fence, which the floor rises to. It returns at once; what is
// appended later stands behind it in the file, and [File.Recall] knows nothing of the topic from here on.
func (f *File) Floor(topic lease.Topic, fence lease.Fence) {
	f.queue.push(&request{topic: topic, fence: fence, lines: record.AppendFloor(nil, topic, fence), records: 1})
	f.queue.wake()
}

// Recall gives the events that rebuild a topic as it was last acknowledged, their times on the clock of now: what is
// known of it, its leases by fence, the places of tickets (nobody is there yet; each is kept for the keep window), its
// spent keys. Nil for a topic that nobody has used.
func (f *File) Recall(topic lease.Topic, now time.Time) (events []lease.Event) {
	if f.queue.retires(topic) {
		return nil // a name that is used again starts as a new one, and says all there is to say of it
	}
	reading := f.clock()
	f.shared.with(func(fold *fold) { events = fold.recall(topic, now, fold.anchor.step(reading)) })
	return events
}

// Suspended tells that grants must not be made now: there is no room left for what they would need later, or the
// journal cannot be written at all.
func (f *File) Suspended() bool { return f.status.suspended.Load() }

// Healthy is nil, or says why the journal cannot do all it should.
func (f *File) Healthy() error { return f.status.err() }

// Changed gives a value after Suspended and Healthy have changed; several changes may give one. It has one reader. It is
// never closed.
func (f *File) Changed() <-chan struct{} { return f.status.changed }

// Stats gives the figures of the moment.
func (f *File) Stats() Stats { return f.count.stats() }

// Close makes safe what was appended, and ends the journal: from then on Append fails. It waits for that.
func (f *File) Close() error { return f.CloseWithin(context.Background()) }

// CloseWithin is [File.Close] for no longer than the context. A disk that hangs may hold up the journal for ever; who stops
// waiting for it can end the process without a loss, as if it had been killed.
func (f *File) CloseWithin(ctx context.Context) error {
	f.closing.Do(func() {
		f.queue.close()
		close(f.stop)
	})
	select {
	case <-f.done:
		return f.ended
	case <-ctx.Done():
		return fmt.Errorf("the disk does not let go: %w", ctx.Err())
	}
}
