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
	notes   *inserter

	known   bool  // the fields below agree with the database
	next    int64 // the next event's id
	filling block // the block that next falls into
	names   names
	sweep   int64 // the topic id up to which unused topics have been looked for
}

func newWriter(db *sql.DB) *writer {
	return &writer{
		db: db, names: newNames(),
		events: newInserter("events", 10), holders: newInserter("holders", 6), notes: newInserter("notes", 3),
	}
}

// close waits for the connection no longer than ctx allows.
func (w *writer) close(ctx context.Context) error {
	conn, err := w.db.Conn(ctx)
	if err != nil {
		return errors.Join(err, w.db.Close())
	}
	err = conn.Raw(func(any) error {
		w.events.close()
		w.holders.close()
		w.notes.close()
		return nil
	})
	return errors.Join(err, conn.Close(), w.db.Close())
}

// write puts the events into the database, all or none.
func (w *writer) write(ctx context.Context, events []observed) (err error) {
	conn, err := w.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	b := batch{writer: w, conn: conn, tx: tx}
	if err := b.write(ctx, events); err != nil {
		w.known = false
		w.events.reset()
		w.holders.reset()
		w.notes.reset()
		return errors.Join(err, ignoreDone(tx.Rollback()))
	}
	if err := tx.Commit(); err != nil {
		w.known = false
		return err
	}
	return nil
}

// ignoreDone: a transaction that its context has ended is rolled back already.
func ignoreDone(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}

// batch is a writer in a transaction.
type batch struct {
	*writer
	conn *sql.Conn
	tx   *sql.Tx // on conn
}

func (b *batch) write(ctx context.Context, events []observed) error {
	if err := b.recall(ctx); err != nil {
		return err
	}
	for i := range events {
		if err := b.writeOne(ctx, &events[i]); err != nil {
			return err
		}
	}
	return errors.Join(b.events.flush(ctx, b.conn), b.holders.flush(ctx, b.conn), b.notes.flush(ctx, b.conn),
		b.filling.save(ctx, b.tx))
}

// recall makes sure that next and all that hangs on it are what the database says.
func (b *batch) recall(ctx context.Context) error {
	var newest int64
	if err := b.tx.QueryRowContext(ctx, "SELECT ifnull(max(id), 0) FROM events").Scan(&newest); err != nil {
		return err
	}
	if b.known && newest == b.next-1 {
		return nil
	}
	b.next = newest + 1
	b.filling.begin(blockOf(b.next))
	if err := b.filling.load(ctx, b.tx); err != nil {
		return err
	}
	if err := b.names.recall(ctx, b.tx); err != nil {
		return err
	}
	b.known = true
	return nil
}

func (b *batch) writeOne(ctx context.Context, o *observed) error {
	e := &o.Event
	topic, err := b.names.topic(ctx, b.tx, e.Topic, b.filling.id)
	if err != nil {
		return err
	}
	holder, err := b.holder(ctx, e)
	if err != nil {
		return err
	}
	at := e.At.UnixMilli()
	b.filling.note(topic, e.Kind, at)
	err = b.events.add(ctx, b.conn, b.next, topic.id, at, int64(e.Kind), o.leaseID(), holder,
		int64(e.Fence), int64(e.Slot), e.TTL.Milliseconds(), lastedOf(e))
	if err != nil {
		return err
	}
	if e.By != "" || e.Detail != "" {
		if err := b.notes.add(ctx, b.conn, b.next, e.By, e.Detail); err != nil {
			return err
		}
	}
	return b.advance(ctx)
}

// advance goes on to the next id, and with the last one of a block to the next block.
func (b *batch) advance(ctx context.Context) error {
	if isLastOfBlock(b.next) {
		if err := b.filling.save(ctx, b.tx); err != nil {
			return err
		}
		b.filling.begin(b.filling.id + 1)
	}
	b.next++
	return nil
}

// holder gives the id of what the event's holder says about itself, on record already or put there now.
func (b *batch) holder(ctx context.Context, e *Event) (int64, error) {
	id, isNew := b.names.holder(who{e.Name, e.Reason, e.Host, e.PID}, b.filling.id)
	if !isNew {
		return id, nil
	}
	return id, b.holders.add(ctx, b.conn, id, e.Name, e.Reason, e.Host, int64(e.PID), b.filling.id)
}

// leaseID is the id that an event came with, or its token's.
func (o *observed) leaseID() int64 {
	if o.LeaseID != "" || o.token.IsZero() {
		return packLeaseID(o.LeaseID)
	}
	return int64(o.token.IDNumber())
}

// lastedOf is NULL where nothing lasted.
func lastedOf(e *Event) any {
	if d, ok := e.lasted(); ok {
		return d.Milliseconds()
	}
	return nil
}
