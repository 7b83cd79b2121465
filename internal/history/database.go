package history

import (
	"context"
	"database/sql"
	_ "embed" // the schema
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	applicationID = 0x6d757478 // "mutx", in the file's header: whose database it is
	schemaVersion = 1
)

//go:embed schema.sql
var schema string

// dsn names a database to the driver. The path travels as a URI, so that no byte in it is taken for a parameter.
func dsn(path string, busy time.Duration, params url.Values) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	params.Set("_busy_timeout", strconv.FormatInt(busy.Milliseconds(), 10))
	params.Set("_dqs", "0")
	params.Set("_error_rc", "1")
	params.Add("_pragma", "temp_store(MEMORY)")
	return (&url.URL{Scheme: "file", Path: path, RawQuery: params.Encode()}).String()
}

// openWriter opens the database to write, creating it if it is not there. One connection: SQLite has one writer.
func openWriter(ctx context.Context, o *Options, pragmas ...string) (*sql.DB, error) {
	path, err := filepath.Abs(o.Path)
	if err != nil {
		return nil, err
	}
	if err := create(path, o.Mode); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", dsn(path, o.Busy, url.Values{"_txlock": {"immediate"}}))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if err := prepare(ctx, db, pragmas); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// create makes the file with the right permissions, which SQLite then gives to the files beside it too. A file
// that is there is not opened: closing it again would drop the locks that this process has on it.
func create(path string, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(mode), f.Close())
}

// prepare makes sure of the schema, then sets what is not to touch a database of somebody else.
func prepare(ctx context.Context, db *sql.DB, pragmas []string) error {
	ours, err := identify(ctx, db)
	if err != nil {
		return err
	}
	for _, p := range pragmas {
		if _, err := db.ExecContext(ctx, "PRAGMA "+p); err != nil {
			return err
		}
	}
	if ours {
		return nil
	}
	return migrate(ctx, db)
}

// identify tells whether the database has our schema already. An empty one has not; any other is an error.
func identify(ctx context.Context, q querier) (ours bool, err error) {
	var id, version, tables int64
	err = q.QueryRowContext(ctx, `SELECT a.application_id, v.user_version, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_application_id a, pragma_user_version v`).Scan(&id, &version, &tables)
	switch {
	case err != nil:
		return false, err
	case id == applicationID && version == schemaVersion:
		return true, nil
	case id == 0 && tables == 0:
		return false, nil
	}
	return false, fmt.Errorf("%w: application id %#x, version %d", ErrForeign, id, version)
}

func migrate(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	// Another process may have been faster.
	if ours, err := identify(ctx, tx); err != nil || ours {
		return err
	}
	script := fmt.Sprintf("%s\nPRAGMA application_id = %d; PRAGMA user_version = %d;", schema, applicationID, schemaVersion)
	if _, err := tx.ExecContext(ctx, script); err != nil {
		return err
	}
	return tx.Commit()
}

// openReader gives connections that cannot write. Nothing is opened before the first query.
func openReader(o *Options) (*sql.DB, error) {
	path, err := filepath.Abs(o.Path)
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", dsn(path, min(o.Busy, readBusy), url.Values{"mode": {"rw"}, "_query_only": {"1"}}))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(maxReaders)
	db.SetConnMaxIdleTime(time.Minute)
	return db, nil
}

const (
	maxReaders = 4
	readBusy   = 250 * time.Millisecond
)

// querier is what a connection pool and a transaction have in common.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// setAside moves a damaged file and its log out of the way. An earlier one that lies there is replaced,
// so that a failing disk does not fill up with them.
func setAside(path string) error {
	to := path + ".corrupt"
	if err := os.Rename(path, to); err != nil {
		return err
	}
	err := os.Rename(path+"-wal", to+"-wal")
	if errors.Is(err, fs.ErrNotExist) {
		err = removeIfThere(to + "-wal")
	}
	return errors.Join(err, removeIfThere(path+"-shm"), removeIfThere(path+"-journal"))
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
