package history

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
)

// rowsAtOnce is how many rows one statement inserts: most of the cost of a single insert is the statement.
const rowsAtOnce = 32

// inserter gathers rows of one table and inserts them many at a time. It talks to the driver itself: going through
// database/sql would copy and check each value twice more, which is a third of the whole cost of an event.
type inserter struct {
	table string
	width int                 // columns
	rows  []driver.NamedValue // room for rowsAtOnce of them
	used  int                 // values in rows
	on    any                 // the driver's connection that the statements belong to
	one   statement
	many  statement
}

type statement interface {
	driver.Stmt
	driver.StmtExecContext
}

func newInserter(table string, width int) *inserter {
	n := &inserter{table: table, width: width, rows: make([]driver.NamedValue, width*rowsAtOnce)}
	for i := range n.rows {
		n.rows[i].Ordinal = i + 1
	}
	return n
}

// add takes a row of int64, string and nil, and inserts once enough have come together.
func (n *inserter) add(ctx context.Context, conn *sql.Conn, row ...driver.Value) error {
	for _, v := range row {
		n.rows[n.used].Value = v
		n.used++
	}
	if n.used < len(n.rows) {
		return nil
	}
	return n.flush(ctx, conn)
}

// flush inserts what has come together.
func (n *inserter) flush(ctx context.Context, conn *sql.Conn) error {
	defer n.reset()
	if n.used == 0 {
		return nil
	}
	return conn.Raw(func(raw any) error {
		if err := n.prepare(ctx, raw); err != nil {
			return err
		}
		if n.used == len(n.rows) {
			_, err := n.many.ExecContext(ctx, n.rows)
			return err
		}
		for at := 0; at < n.used; at += n.width {
			row := n.rows[:n.width]
			if at > 0 {
				for i := range row {
					row[i].Value = n.rows[at+i].Value
				}
			}
			if _, err := n.one.ExecContext(ctx, row); err != nil {
				return err
			}
		}
		return nil
	})
}

// reset forgets the rows, and what they point to.
func (n *inserter) reset() {
	for i := range n.rows {
		n.rows[i].Value = nil
	}
	n.used = 0
}

// prepare makes the statements, once for each connection that the pool opens.
func (n *inserter) prepare(ctx context.Context, conn any) error {
	if n.on == conn {
		return nil
	}
	row := "(" + strings.TrimSuffix(strings.Repeat("?,", n.width), ",") + ")"
	rows := strings.TrimSuffix(strings.Repeat(row+",", rowsAtOnce), ",")
	one, err := prepareOn(ctx, conn, "INSERT INTO "+n.table+" VALUES "+row)
	if err != nil {
		return err
	}
	many, err := prepareOn(ctx, conn, "INSERT INTO "+n.table+" VALUES "+rows)
	if err != nil {
		return errors.Join(err, one.Close())
	}
	n.one, n.many, n.on = one, many, conn
	return nil
}

// close frees the statements. It must happen before the connection closes, which would otherwise stay half open, with
// its locks, for as long as they exist.
func (n *inserter) close() {
	if n.on == nil {
		return
	}
	_, _ = n.one.Close(), n.many.Close() // they report once more what their last execution did
	n.on = nil
}

func prepareOn(ctx context.Context, conn any, query string) (statement, error) {
	c, ok := conn.(driver.ConnPrepareContext)
	if !ok {
		return nil, fmt.Errorf("history: the driver's %T cannot prepare", conn)
	}
	stmt, err := c.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	exec, ok := stmt.(statement)
	if !ok {
		return nil, fmt.Errorf("history: the driver's %T cannot execute", stmt)
	}
	return exec, nil
}
