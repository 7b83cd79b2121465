package history

import (
	"context"
	"database/sql"
	"errors"
)

// writer writes events into an open database. It belongs to one goroutine. What it remembers of the database is
// checked at the start of each transaction, since another process may have written meanwhile.
type writer struct {
	db      *sql.DB
	events  *inserter
	holders *inserter

	known   bool  // the fields below agree with the database
	next    int64 // the next event's id
	filling block // the block that next falls into
	names   names
	sweep   int64 // the topic id up to which unused topics have been looked for
}

func newWriter(ctx context.Context, db *sql.DB) (*writer, error) {
	events, err := newInserter(ctx, db, "events", 14)
	if err != nil {
		return nil, err
	}
	holders, err := newInserter(ctx, db, "holders", 5)
	if err != nil {
		return nil, err
	}
	return &writer{db: db, events: events, holders: holders, names: newNames()}, nil
}

func (w *writer) close() error { return w.db.Close() }

// write puts the events into the database, all or none.
func (w *writer) write(ctx context.Context, events []observed) (err error) {
	tx, err := w.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			w.known = false
			w.events.reset()
			w.holders.reset()
			err = errors.Join(err, ignoreDone(tx.Rollback()))
		}
	}()
	if err := w.recall(ctx, tx); err != nil {
		return err
	}
	for i := range events {
		if err := w.writeOne(ctx, tx, &events[i]); err != nil {
			return err
		}
	}
	if err := w.flush(ctx, tx); err != nil {
		return err
	}
	return tx.Commit()
}

// ignoreDone: a transaction that its context has ended is rolled back already.
func ignoreDone(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}

// recall makes sure that next and all that hangs on it are what the database says.
func (w *writer) recall(ctx context.Context, tx *sql.Tx) error {
	var newest int64
	if err := tx.QueryRowContext(ctx, "SELECT ifnull(max(id), 0) FROM events").Scan(&newest); err != nil {
		return err
	}
	if w.known && newest == w.next-1 {
		return nil
	}
	w.next = newest + 1
	w.filling.begin(blockOf(w.next))
	if err := w.filling.load(ctx, tx); err != nil {
		return err
	}
	if err := w.names.recall(ctx, tx); err != nil {
		return err
	}
	w.known = true
	return nil
}

func (w *writer) writeOne(ctx context.Context, tx *sql.Tx, o *observed) error {
	e := &o.Event
	if e.LeaseID == "" && !o.token.IsZero() {
		e.LeaseID = o.token.ID()
	}
	topic, err := w.names.topic(ctx, tx, e.Topic, w.filling.id)
	if err != nil {
		return err
	}
	holder, err := w.holder(ctx, tx, e)
	if err != nil {
		return err
	}
	at := e.At.UnixMilli()
	w.filling.note(topic, e.Kind, at)
	err = w.events.add(ctx, tx,
		w.next, topic.id, at, int64(e.Kind), packLeaseID(e.LeaseID), holder, orNull(int64(e.PID)),
		int64(e.Fence), int64(e.Slot), e.TTL.Milliseconds(),
		orNull(e.Waited.Milliseconds()), heldOrNull(e), textOrNull(e.By), textOrNull(e.Detail))
	if err != nil {
		return err
	}
	if isLastOfBlock(w.next) {
		if err := w.filling.save(ctx, tx); err != nil {
			return err
		}
		w.filling.begin(w.filling.id + 1)
	}
	w.next++
	return nil
}

// holder gives the id of what the event's holder says about itself, on record already or put there now.
func (w *writer) holder(ctx context.Context, tx *sql.Tx, e *Event) (int64, error) {
	id, isNew := w.names.holder(who{e.Name, e.Reason, e.Host}, w.filling.id)
	if !isNew {
		return id, nil
	}
	return id, w.holders.add(ctx, tx, id, e.Name, e.Reason, e.Host, w.filling.id)
}

func (w *writer) flush(ctx context.Context, tx *sql.Tx) error {
	return errors.Join(w.events.flush(ctx, tx), w.holders.flush(ctx, tx), w.filling.save(ctx, tx))
}

func orNull(n int64) any {
	if n == 0 {
		return nil
	}
	return n
}

func textOrNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// heldOrNull keeps a hold of no length apart from none.
func heldOrNull(e *Event) any {
	if !e.ends() {
		return nil
	}
	return e.Held.Milliseconds()
}
