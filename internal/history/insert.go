package history

import (
	"context"
	"database/sql"
	"errors"
	"strings"
)

// rowsAtOnce is how many rows one statement inserts: most of the cost of a single insert is the statement.
const rowsAtOnce = 32

// inserter gathers rows of one table and inserts them many at a time.
type inserter struct {
	width     int // columns
	one, many *sql.Stmt
	values    []any
}

func newInserter(ctx context.Context, db *sql.DB, table string, width int) (*inserter, error) {
	row := "(" + strings.TrimSuffix(strings.Repeat("?,", width), ",") + ")"
	rows := strings.TrimSuffix(strings.Repeat(row+",", rowsAtOnce), ",")
	one, err := db.PrepareContext(ctx, "INSERT INTO "+table+" VALUES "+row)
	if err != nil {
		return nil, err
	}
	many, err := db.PrepareContext(ctx, "INSERT INTO "+table+" VALUES "+rows)
	if err != nil {
		return nil, errors.Join(err, one.Close())
	}
	return &inserter{width: width, one: one, many: many, values: make([]any, 0, width*rowsAtOnce)}, nil
}

// add takes a row, and inserts once enough have come together.
func (n *inserter) add(ctx context.Context, tx *sql.Tx, row ...any) error {
	n.values = append(n.values, row...)
	if len(n.values) < n.width*rowsAtOnce {
		return nil
	}
	_, err := tx.StmtContext(ctx, n.many).ExecContext(ctx, n.values...)
	n.reset()
	return err
}

// flush inserts what is left over.
func (n *inserter) flush(ctx context.Context, tx *sql.Tx) error {
	defer n.reset()
	if len(n.values) == 0 {
		return nil
	}
	stmt := tx.StmtContext(ctx, n.one)
	for at := 0; at < len(n.values); at += n.width {
		if _, err := stmt.ExecContext(ctx, n.values[at:at+n.width]...); err != nil {
			return err
		}
	}
	return nil
}

// reset forgets the rows, and what they point to.
func (n *inserter) reset() {
	clear(n.values)
	n.values = n.values[:0]
}
