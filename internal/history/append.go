package history

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"
)

// appendBusy is how long [Append] waits for other processes at most, unless Options.Busy says otherwise.
const appendBusy = 250 * time.Millisecond

// retainEvery: every so many events, whoever appends does a little of what retention needs.
const retainEvery = 64

// Append writes events at once, for a process that has no time for a [Store]: it opens the database, writes and closes
// it again. Several processes may do so at the same time. Retention goes along in small steps.
//
// It waits no longer than Options.Busy (250 ms) for a lock; an error means that the events are not on record, and
// nothing else. A damaged file is set aside and a new one begun. Nothing is synced: after a power failure the last
// events, or the file, may be gone.
func Append(ctx context.Context, o Options, events ...Event) error {
	if o.Busy == 0 {
		o.Busy = appendBusy
	}
	o = o.withDefaults()
	err := appendOnce(ctx, &o, events)
	if damaged(err) {
		if err = setAside(o.Path); err == nil {
			err = appendOnce(ctx, &o, events)
		}
	}
	return unavailable(err)
}

func appendOnce(ctx context.Context, o *Options, events []Event) (err error) {
	db, err := openWriter(ctx, o, "journal_mode(TRUNCATE)", "synchronous(OFF)")
	if err != nil {
		return err
	}
	w := newWriter(db)
	defer func() { err = errors.Join(err, w.close(ctx)) }()
	batch := make([]observed, len(events))
	for i := range events {
		batch[i].Event = events[i]
	}
	if err := w.write(ctx, batch); err != nil {
		return err
	}
	if w.next/retainEvery == (w.next-int64(len(events)))/retainEvery {
		return nil
	}
	// The events are on record. If this fails, the next one to append tries again.
	_, _ = w.retain(ctx, o)
	return nil
}

// Read answers a query from a database that other processes append to. Where there is no file yet, nothing has
// happened. The error is [ErrBadQuery] or [ErrUnavailable].
func Read(ctx context.Context, o Options, q Query) (_ []Event, err error) {
	q, err = q.check()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(o.Path); errors.Is(err, fs.ErrNotExist) {
		return []Event{}, nil
	}
	o = o.withDefaults()
	db, err := openReader(&o)
	if err != nil {
		return nil, unavailable(err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if ours, err := identify(ctx, db); err != nil || !ours {
		return []Event{}, unavailable(err)
	}
	events, err := page(ctx, db, q)
	return events, unavailable(err)
}
