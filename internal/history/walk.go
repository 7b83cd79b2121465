package history

import (
	"context"
	"database/sql"
	"errors"
)

// blocksAtOnce is how many block rows a walk reads at a time.
const blocksAtOnce = 64

// wantedTopics gives the ids of the topics a query is about, ascending; nil means all.
func wantedTopics(ctx context.Context, tx *sql.Tx, q Query) (_ []int64, err error) {
	if q.Topic == "" && q.Prefix == "" {
		return nil, nil
	}
	query, args := "SELECT id FROM topics WHERE name = ?", []any{q.Topic}
	if q.Prefix != "" {
		query, args = "SELECT id FROM topics WHERE name >= ?1 AND name < ?1 || char(0x10ffff) ORDER BY id", []any{q.Prefix}
	}
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	wanted := []int64{}
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		wanted = append(wanted, id)
	}
	return wanted, rows.Err()
}

// walkBlocks calls visit with every block that has something for the query, newest first, until it says that
// this is enough.
func walkBlocks(ctx context.Context, tx *sql.Tx, q Query, wanted []int64,
	visit func(block int64) (more bool, err error)) error {
	stmt, err := tx.PrepareContext(ctx, `SELECT id, changes, CASE WHEN ? THEN renewals END FROM blocks
		WHERE id <= ? AND latest >= ? ORDER BY id DESC LIMIT ?`)
	if err != nil {
		return err
	}
	defer func() { _ = stmt.Close() }()
	upTo := int64(1) << 52
	if q.Before > 0 {
		upTo = blockOf(q.Before - 1)
	}
	for {
		rows, err := stmt.QueryContext(ctx, q.Renewals, upTo, q.since(), blocksAtOnce)
		if err != nil {
			return err
		}
		read, matching, err := matchBlocks(rows, wanted)
		if err != nil {
			return err
		}
		for _, block := range matching {
			if more, err := visit(block); err != nil || !more {
				return err
			}
		}
		if len(read) < blocksAtOnce {
			return nil
		}
		upTo = read[len(read)-1] - 1
	}
}

// matchBlocks reads the rows to their end, closes them, and tells which of the blocks have something.
func matchBlocks(rows *sql.Rows, wanted []int64) (read, matching []int64, err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var (
			id                int64
			changes, renewals sql.RawBytes
		)
		if err := rows.Scan(&id, &changes, &renewals); err != nil {
			return nil, nil, err
		}
		read = append(read, id)
		if anyWanted(changes, wanted) || anyWanted(renewals, wanted) {
			matching = append(matching, id)
		}
	}
	return read, matching, rows.Err()
}

// anyWanted tells whether a set has one of the wanted topics, both in ascending order.
func anyWanted(set []byte, wanted []int64) bool {
	if wanted == nil {
		return len(set) > 0
	}
	for id := range topicsIn(set) {
		for len(wanted) > 0 && wanted[0] < id {
			wanted = wanted[1:]
		}
		if len(wanted) == 0 {
			return false
		}
		if wanted[0] == id {
			return true
		}
	}
	return false
}
