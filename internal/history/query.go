package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"legible.sh/mutex/internal/lease"
)

// Limits of a [Query].
const (
	DefaultLimit = 50
	MaxLimit     = 10_000
	maxPattern   = 256 // bytes of a topic or prefix; the longest directory key is 80
)

// readTimeout bounds a read that its caller does not bound.
const readTimeout = 5 * time.Second

// Query asks for events, newest first. Zero fields do not restrict.
type Query struct {
	Topic    string    // of this topic or key
	Prefix   string    // of topics whose name begins so; not together with Topic
	Since    time.Time // at or after
	Before   int64     // with an id below this one: the last id of the page before
	Limit    int       // at most so many: 1 to MaxLimit; 0 for DefaultLimit
	Renewals bool      // renewals too
}

func (q Query) check() (Query, error) {
	switch {
	case q.Topic != "" && q.Prefix != "":
		return q, fmt.Errorf("%w: give a topic or a prefix, not both", ErrBadQuery)
	case !fitsPattern(q.Topic):
		return q, fmt.Errorf("%w: the topic is not UTF-8 of at most %d bytes", ErrBadQuery, maxPattern)
	case !fitsPattern(q.Prefix):
		return q, fmt.Errorf("%w: the prefix is not UTF-8 of at most %d bytes", ErrBadQuery, maxPattern)
	case q.Before < 0:
		return q, fmt.Errorf("%w: before is %d; send an event's id, from 1", ErrBadQuery, q.Before)
	case q.Limit < 0 || q.Limit > MaxLimit:
		return q, fmt.Errorf("%w: limit is %d; send 1 to %d", ErrBadQuery, q.Limit, MaxLimit)
	}
	if q.Limit == 0 {
		q.Limit = DefaultLimit
	}
	return q, nil
}

func fitsPattern(s string) bool { return len(s) <= maxPattern && utf8.ValidString(s) }

// since is in the database's unit, rounded up: an event a fraction of a millisecond early is not at or after it.
func (q *Query) since() int64 {
	if q.Since.IsZero() {
		return 0
	}
	return q.Since.Add(time.Millisecond - time.Nanosecond).UnixMilli()
}

// Query reads events, newest first. What was observed just before is waited for, briefly.
// The error is [ErrBadQuery] or [ErrUnavailable].
func (s *Store) Query(ctx context.Context, q Query) ([]Event, error) {
	q, err := q.check()
	if err != nil {
		return nil, err
	}
	s.settle(ctx)
	db, err := s.db()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	events, err := page(ctx, db, q)
	return events, s.seen(db, err)
}

// page reads one page, all of it from one state of the database.
func page(ctx context.Context, db *sql.DB, q Query) (events []Event, err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, ignoreDone(tx.Rollback())) }()
	wanted, err := wantedTopics(ctx, tx, q)
	if err != nil || wanted != nil && len(wanted) == 0 {
		return []Event{}, err
	}
	stmt, err := tx.PrepareContext(ctx, q.sql())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stmt.Close()) }()

	events = make([]Event, 0, min(q.Limit, DefaultLimit))
	err = walkBlocks(ctx, tx, q, wanted, func(block int64) (bool, error) {
		rows, err := stmt.QueryContext(ctx, q.args(block, q.Limit-len(events))...)
		if err != nil {
			return false, err
		}
		events, err = appendEvents(events, rows)
		return len(events) < q.Limit, err
	})
	return events, err
}

// sql reads the events of one block.
func (q *Query) sql() string {
	var b strings.Builder
	b.WriteString(selectEvents)
	b.WriteString(" WHERE e.id BETWEEN ? AND ? AND e.at >= ?")
	if !q.Renewals {
		b.WriteString(" AND e.kind <> 2")
	}
	if q.Topic != "" {
		b.WriteString(" AND t.name = ?")
	}
	if q.Prefix != "" {
		b.WriteString(" AND substr(t.name, 1, ?) = ?")
	}
	b.WriteString(" ORDER BY e.id DESC LIMIT ?")
	return b.String()
}

func (q *Query) args(block int64, limit int) []any {
	last := lastOf(block)
	if q.Before > 0 {
		last = min(last, q.Before-1)
	}
	args := []any{firstOf(block), last, q.since()}
	if q.Topic != "" {
		args = append(args, q.Topic)
	}
	if q.Prefix != "" {
		args = append(args, utf8.RuneCountInString(q.Prefix), q.Prefix)
	}
	return append(args, limit)
}

// selectEvents keeps the joins outer, so that the events drive them, in order of their ids.
const selectEvents = `SELECT e.id, e.at, e.kind, ifnull(t.name, ''), e.lease, ifnull(h.name, ''), ifnull(h.reason, ''),
	ifnull(h.host, ''), ifnull(h.pid, 0), e.fence, e.slot, e.ttl, ifnull(e.lasted, 0),
	ifnull(n.by, ''), ifnull(n.detail, '')
	FROM events e CROSS JOIN topics t ON t.id = e.topic
	LEFT JOIN holders h ON h.id = e.holder LEFT JOIN notes n ON n.event = e.id`

// appendEvents reads the rows of selectEvents to their end and closes them.
func appendEvents(events []Event, rows *sql.Rows) (_ []Event, err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var (
			e                            Event
			at, lid, fence, ttl, lasting int64
		)
		err := rows.Scan(&e.ID, &at, &e.Kind, &e.Topic, &lid, &e.Name, &e.Reason, &e.Host, &e.PID, &fence, &e.Slot,
			&ttl, &lasting, &e.By, &e.Detail)
		if err != nil {
			return events, err
		}
		e.At = time.UnixMilli(at).UTC()
		e.LeaseID = unpackLeaseID(lid)
		e.Fence = lease.Fence(fence)
		e.TTL = ms(ttl)
		if e.ends() {
			e.Held = ms(lasting)
		} else {
			e.Waited = ms(lasting)
		}
		events = append(events, e)
	}
	return events, rows.Err()
}

func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
