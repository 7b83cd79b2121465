// Command sqlite brings a SQLite database up to date, as the only one who does.
//
//	go build -o bin/ ./examples/sqlite
//	mutex run migrate:app -- bin/sqlite app.db migrations/*.sql
//
// It applies, in the order given, the files whose names the database has not seen yet: all of them or none, in the
// transaction that raises the fence. A migration that slept through the end of its lease finds a higher fence, changes nothing, and
// exits 76.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	_ "modernc.org/sqlite"
)

var errStale = errors.New("stale fence: somebody else migrates this database now")

func main() {
	err := run(context.Background(), os.Args[1:])
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "sqlite:", err)
	if errors.Is(err, errStale) {
		os.Exit(76)
	}
	os.Exit(1)
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New("MUTEX_FENCE is not set: put mutex run TOPIC -- before this command")
	}
	fence, err := strconv.ParseInt(os.Getenv("MUTEX_FENCE"), 10, 64)
	if err != nil {
		return errors.New("no fence: run this behind `mutex run TOPIC --`")
	}
	// immediate: a transaction locks the database when it begins, so that nobody writes between its reads and writes.
	db, err := sql.Open("sqlite", args[0]+"?_txlock=immediate&_pragma=busy_timeout(30000)")
	if err != nil {
		return err
	}
	defer db.Close()
	return migrate(ctx, db, fence, args[1:])
}

// migrate applies what is new among files, unless the database has seen a higher fence.
func migrate(ctx context.Context, db *sql.DB, fence int64, files []string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // does nothing after a commit
	if err := raise(ctx, tx, fence); err != nil {
		return err
	}
	for _, file := range files {
		if err := apply(ctx, tx, file); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return tx.Commit()
}

// apply runs a file's statements, unless it has run before.
func apply(ctx context.Context, tx *sql.Tx, file string) error {
	r, err := tx.ExecContext(ctx, "INSERT OR IGNORE INTO migration VALUES (?)", filepath.Base(file))
	if err != nil {
		return err
	}
	if fresh, err := r.RowsAffected(); err != nil || fresh == 0 {
		return err
	}
	statements, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, string(statements))
	return err
}

// raise keeps the highest fence in a table of one row. No row changed: ours is lower.
func raise(ctx context.Context, tx *sql.Tx, fence int64) error {
	const tables = `
		CREATE TABLE IF NOT EXISTS migration (file TEXT PRIMARY KEY);
		CREATE TABLE IF NOT EXISTS fence (one INTEGER PRIMARY KEY CHECK (one = 1), highest INTEGER NOT NULL);
		INSERT OR IGNORE INTO fence VALUES (1, 0);`
	if _, err := tx.ExecContext(ctx, tables); err != nil {
		return err
	}
	r, err := tx.ExecContext(ctx, "UPDATE fence SET highest = ? WHERE highest <= ?", fence, fence)
	if err != nil {
		return err
	}
	if n, err := r.RowsAffected(); err != nil || n == 0 {
		return errors.Join(errStale, err)
	}
	return nil
}
