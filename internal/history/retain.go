package history

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// topicsAtOnce is how many topics one step of retention looks at: several times as many as a block can bring.
const topicsAtOnce = 4 * blockSize

// bytes is how much of the database is in use. Freed pages are used again, so the file grows no further than that.
func bytes(ctx context.Context, q querier) (n int64, err error) {
	err = q.QueryRowContext(ctx, `SELECT (c.page_count - f.freelist_count) * s.page_size
		FROM pragma_page_count() c, pragma_freelist_count() f, pragma_page_size() s`).Scan(&n)
	return n, err
}

// retain takes one step towards what may be kept: it forgets at most one block, in a transaction of its own.
// more tells that a further step has something to do.
//
// Past the age a whole block goes. Past the size, renewals go first, until only the newer half of the blocks has any:
// they are the bulk, and say least. The block being filled always stays, and with it the highest id.
func (w *writer) retain(ctx context.Context, o *Options) (more bool, err error) {
	size, err := bytes(ctx, w.db)
	if err != nil {
		return false, err
	}
	oldest, latest, newest, err := w.extent(ctx, o.Now())
	if err != nil || oldest == newest {
		return false, err
	}
	switch {
	case latest < cutoff(o.MaxAge, o.Now).UnixMilli():
		return true, w.forget(ctx, oldest)
	case size <= o.MaxBytes:
		return false, nil
	}
	middle := oldest + (newest-oldest)/2
	thinned, err := w.thin(ctx, middle)
	if err != nil || thinned {
		return thinned, err
	}
	return true, w.forget(ctx, oldest)
}

// extent gives the oldest block and the time of its last event, and the newest block. Without any, both are 0. A block
// with a time that is yet to come, from when the clock was wrong, is as old as the next without: it would hold back all
// that follows until that time.
func (w *writer) extent(ctx context.Context, now time.Time) (oldest, latest, newest int64, err error) {
	err = w.db.QueryRowContext(ctx, `SELECT id,
		ifnull((SELECT latest FROM blocks WHERE latest <= ? ORDER BY id LIMIT 1), latest), (SELECT max(id) FROM blocks)
		FROM blocks ORDER BY id LIMIT 1`, now.UnixMilli()).Scan(&oldest, &latest, &newest)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, 0, 0, nil
	}
	return oldest, latest, newest, err
}

// forget drops a block, all before it, and names that nothing refers to any more.
func (w *writer) forget(ctx context.Context, block int64) error {
	unused := block + 1 - useGrace // names noted before this block
	return w.inTx(ctx, func(tx *sql.Tx) error {
		sweepTo, err := w.sweepEnd(ctx, tx)
		if err != nil {
			return err
		}
		for _, step := range []struct {
			sql  string
			args []any
		}{
			{"DELETE FROM events WHERE id <= ?", []any{lastOf(block)}},
			{"DELETE FROM notes WHERE event <= ?", []any{lastOf(block)}},
			{"DELETE FROM blocks WHERE id <= ?", []any{block}},
			{`DELETE FROM holders WHERE id < (SELECT id FROM holders WHERE block >= ? ORDER BY id LIMIT 1)`, []any{unused}},
			{"DELETE FROM topics WHERE id > ? AND id <= ? AND block < ?", []any{w.sweep, sweepTo, unused}},
		} {
			if _, err := tx.ExecContext(ctx, step.sql, step.args...); err != nil {
				return err
			}
		}
		w.sweep = sweepTo
		return nil
	})
}

// sweepEnd is how far the next look at the topics goes. After the last of them the sweep begins again.
func (w *writer) sweepEnd(ctx context.Context, tx *sql.Tx) (to int64, err error) {
	err = tx.QueryRowContext(ctx, `SELECT ifnull(max(id), 0) FROM
		(SELECT id FROM topics WHERE id > ? ORDER BY id LIMIT ?)`, w.sweep, topicsAtOnce).Scan(&to)
	if err == nil && to == 0 {
		w.sweep = 0
	}
	return to, err
}

// thin drops the renewals of the oldest block before limit that has any.
func (w *writer) thin(ctx context.Context, limit int64) (thinned bool, err error) {
	var id int64
	err = w.db.QueryRowContext(ctx, `SELECT id FROM blocks WHERE id < ? AND renewals IS NOT NULL ORDER BY id LIMIT 1`,
		limit).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, w.inTx(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM events WHERE id BETWEEN ? AND ? AND kind = ?",
			firstOf(id), lastOf(id), int64(Renewed))
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "UPDATE blocks SET renewals = NULL WHERE id = ?", id)
		return err
	})
}

func (w *writer) inTx(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := w.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		return errors.Join(err, ignoreDone(tx.Rollback()))
	}
	return tx.Commit()
}
